//! Every payload that Octokit publishes, signed by its own code, is accepted and runs once.
//!
//! `npm ci` installs both into a directory under `target`, at the versions in `tests/clients/github/package-lock.json`.
//! Without Node.js the test fails.

use std::{collections::BTreeSet, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::eventually_within;
use tokio::process::Command;

/// Generous, because hundreds of runs take long on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(120);

const SOURCE: &str = "export default { async scheduled(event) { \
    console.log(`${Object.keys(event.data).length} ${JSON.stringify(event.data).length}`) } }";

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn every_published_payload_runs_once(server: Server) -> Result<()> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/github");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("github-{}", server.base_url().rsplit(':').next().unwrap_or_default()));
        std::fs::create_dir_all(&directory)?;
        for name in ["package.json", "package-lock.json", "send.js"] {
            std::fs::copy(source.join(name), directory.join(name)).context(name)?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&directory);
        let output = npm.output().await.context("cannot start npm: this test needs Node.js and npm")?;
        ensure!(output.status.success(), "npm ci failed: {}", String::from_utf8_lossy(&output.stderr));

        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, SOURCE).await?;
        let automation = owner.create_automation(&workspace.id, &app, "webhook", 0).await?;
        let webhook = owner.configure_webhook(&automation, "code_host").await?;
        let output = Command::new("node")
            .arg("send.js")
            .current_dir(&directory)
            .env("HOOK_URL", format!("{}{}", server.base_url(), webhook.path))
            .env("HOOK_SECRET", &webhook.secret)
            .output()
            .await
            .context("cannot start node: this test needs Node.js and npm")?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), "{out}{err}");

        let lines: Vec<Value> = out.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(lines.len() > 300, "only {} payloads", lines.len());
        let mut runs = BTreeSet::new();
        for line in &lines {
            assert_eq!((&line["status"], &line["repeated"]), (&Value::from(202), &Value::from(true)), "{line}");
            runs.insert(line["runId"].as_str().context("no run")?.to_owned());
        }
        assert_eq!(runs.len(), lines.len());
        eventually_within(DEADLINE, "every run succeeds", async || {
            let mut ended = BTreeSet::new();
            let mut cursor = String::new();
            loop {
                let path = format!(
                    "/v1/workspaces/{}/runs?automationId={automation}&status=succeeded&limit=200{cursor}", workspace.id
                );
                let page = owner.get(&path).await?.ok()?;
                for run in page["items"].as_array().context("no items")? {
                    ended.insert(run["id"].as_str().context("no id")?.to_owned());
                }
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            ensure!(ended == runs, "{} of {} have succeeded", ended.len(), runs.len());
            Ok(())
        })
        .await?;
        std::fs::remove_dir_all(&directory)?;
        Ok(())
    }
}
