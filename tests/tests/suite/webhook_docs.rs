//! The examples of `docs/webhooks.md`, run unchanged.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

const DOCS: &str = include_str!("../../../docs/webhooks.md");

/// Returns the only block in a language.
fn documented_block(language: &str) -> Result<&'static str> {
    let opening = format!("```{language}\n");
    let mut blocks = DOCS.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next());
    let first = blocks.next().with_context(|| format!("no block of {language}"))?;
    ensure!(blocks.next().is_none(), "several blocks of {language}");
    Ok(first)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn every_example_is_accepted(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, "export default { async scheduled(event) { console.log(event.data.title) } }").await?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let examples = [
            ("bash", "bash", "sh", String::new()),
            ("js", "node", "mjs", "const { SECRET: secret, ADDRESS: address } = process.env;\n".to_owned()),
            ("python", "python3", "py", "import os\nsecret, address = os.environ['SECRET'], os.environ['ADDRESS']\n".to_owned()),
        ];
        for (language, program, extension, preamble) in examples {
            let automation = owner.create_automation(&workspace.id, &app, "webhook", 0).await?;
            let webhook = owner.configure_webhook(&automation, "signed").await?;
            let file = folder.join(format!("example-{automation}.{extension}"));
            std::fs::write(&file, format!("{preamble}{}\n", documented_block(language)?))?;
            let done = Command::new(program)
                .arg(&file)
                .env("SECRET", &webhook.secret)
                .env("ADDRESS", format!("{}{}", server.base_url(), webhook.path))
                .output()
                .await
                .with_context(|| format!("{program} does not start"))?;
            std::fs::remove_file(&file)?;
            ensure!(done.status.success(), "{language}: {}", String::from_utf8_lossy(&done.stderr));
            let runs = owner.get(&format!("/v1/workspaces/{}/runs?automationId={automation}", workspace.id)).await?.ok()?;
            let runs = runs["items"].as_array().context("no items")?;
            ensure!(runs.len() == 1, "the example in {language} started {} runs", runs.len());
            let run = runs[0]["id"].as_str().context("no id")?;
            owner.wait_for_success(run).await?;
            assert_eq!(owner.app_log(&app, Some(run)).await?[0].message, "Hello");
        }
        Ok(())
    }
}
