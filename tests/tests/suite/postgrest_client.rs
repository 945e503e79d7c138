//! Supabase's client for PostgREST, unmodified, against the data API.
//!
//! `npm ci` installs it into a directory under `target`, at the versions in
//! `tests/clients/postgrest/package-lock.json`. Without Node.js the tests fail.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tests::{BackendProject, identity_settings, person_token};
use tokio::{process::Command, sync::OnceCell};

/// Installs the checks with their dependencies, once for all tests of this file.
async fn install_checks() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/postgrest");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/postgrest");
        std::fs::create_dir_all(&directory)?;
        for name in ["package.json", "package-lock.json", "check.js"] {
            std::fs::copy(source.join(name), directory.join(name)).context(name)?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&directory);
        let output = npm.output().await.context("cannot start npm: these tests need Node.js and npm")?;
        ensure!(output.status.success(), "npm ci failed: {}", String::from_utf8_lossy(&output.stderr));
        anyhow::Ok(directory)
    };
    Ok(INSTALLED.get_or_try_init(install).await?)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn the_published_client_works_unmodified(server: Server) -> Result<()> {
        let directory = install_checks().await?;
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let project = BackendProject::create(&owner, &workspace.id).await?;
        let columns = [("title", "text"), ("qty", "integer"), ("owner", "text"), ("meta", "json")];
        project.create_table("tasks", &columns).await?;
        let policy = json!({"sentences": [
            "Anyone may read id, title of every row.",
            "Signed-in people may read, insert, update and delete rows where owner is the signed-in person.",
        ]});
        project.set_policy("tasks", &policy).await?.assert_status(200);
        owner.patch(&project.console_path("/settings"), &json!({"identity": identity_settings()})).await?.assert_status(200);

        let output = Command::new("node")
            .arg("check.js")
            .current_dir(directory)
            .env("REST_URL", format!("{}{}", server.base_url(), project.rest_path("").trim_end_matches('/')))
            .env("PUBLISHABLE_KEY", project.create_key("publishable").await?)
            .env("SECRET_KEY", project.create_key("secret").await?)
            .env("PERSON_TOKEN", person_token("ann", json!({}))?)
            .output()
            .await
            .context("cannot start node: these tests need Node.js and npm")?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains("every check passed"), "{out}{err}");
        Ok(())
    }
}
