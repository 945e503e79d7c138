//! supabase-js, unmodified, against a project, and the schema that a project describes to tools.
//!
//! `npm ci` installs it into a directory under `target`, at the versions in `tests/clients/supabase/package-lock.json`.
//! Without Node.js the tests fail.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use http::{Method, header};
use serde_json::json;
use tests::{BackendProject, Client, Server};
use tokio::{process::Command, sync::OnceCell};

/// Installs the checks with their dependencies, once for all tests of this file.
async fn install_checks() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/supabase");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients-supabase");
        std::fs::create_dir_all(&directory)?;
        for name in ["package.json", "package-lock.json", "check.js", "typed.ts"] {
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

/// Creates a project with a table of which visitors see two columns. Returns the owner, the project, a secret key and a
/// publishable key.
async fn create_tasks_project(server: &Server) -> Result<(Client, BackendProject, String, String)> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?;
    let project = BackendProject::create(&owner, &workspace.id).await?;
    let columns = [("title", "text"), ("qty", "integer"), ("meta", "json")];
    project.create_table("tasks", &columns).await?;
    let people = json!({"name": "people", "columns": [{"name": "email", "type": "text"}, {"name": "name", "type": "text"},
        {"name": "level", "type": "integer", "default": 1}]});
    owner.post(&project.console_path("/tables"), &people).await?.ok()?;
    let unique = json!({"columns": ["email"], "unique": true});
    owner.post(&project.console_path("/tables/people/indexes"), &unique).await?.ok()?;
    let together = json!({"columns": ["name", "level"], "unique": true});
    owner.post(&project.console_path("/tables/people/indexes"), &together).await?.ok()?;
    let policy = json!({"sentences": ["Anyone may read id, title of every row."]});
    project.set_policy("tasks", &policy).await?.assert_status(200);
    let (secret, publishable) =
        (project.create_key("secret").await?, project.create_key("publishable").await?);
    Ok((owner, project, secret, publishable))
}

fn assert_printed(output: &std::process::Output, expected: &str) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(expected), "{out}{err}");
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn supabase_js_works_unmodified(server: Server) -> Result<()> {
        let directory = install_checks().await?;
        let (_, project, secret, publishable) = create_tasks_project(&server).await?;
        let output = Command::new("node")
            .arg("check.js")
            .current_dir(directory)
            .env("PROJECT_URL", format!("{}/v1/projects/{}", server.base_url(), project.id))
            .env("PUBLISHABLE_KEY", publishable)
            .env("SECRET_KEY", secret)
            .output()
            .await
            .context("cannot start node: these tests need Node.js and npm")?;
        assert_printed(&output, "every check passed");
        Ok(())
    }

    async fn generated_types_work_with_the_typed_client(server: Server) -> Result<()> {
        let directory = install_checks().await?;
        let (_, project, secret, publishable) = create_tasks_project(&server).await?;
        // Each test has its own directory, because they run concurrently.
        let own = tempfile::tempdir_in(directory)?;
        std::fs::copy(directory.join("typed.ts"), own.path().join("typed.ts"))?;
        for (name, key) in [("secret.ts", &secret), ("publishable.ts", &publishable)] {
            let types = project.rest_request(&server.client(), (key, None), Method::GET, "_types.ts")?.send().await?;
            types.assert_status(200);
            std::fs::write(own.path().join(name), &types.body)?;
        }
        let output = Command::new("npx")
            .args(["--no-install", "tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"])
            .args(["--module", "nodenext", "--moduleResolution", "nodenext", "typed.ts"])
            .current_dir(own.path())
            .output()
            .await
            .context("cannot start npx: these tests need Node.js and npm")?;
        assert_printed(&output, "");
        Ok(())
    }

    async fn the_description_of_a_project_follows_its_schema(server: Server) -> Result<()> {
        let (owner, project, secret, publishable) = create_tasks_project(&server).await?;
        let client = server.client();
        let read = async |key: &str, name: &str| {
            let reply = project.rest_request(&client, (key, None), Method::GET, name)?.send().await?;
            reply.assert_status(200);
            anyhow::Ok((reply.header("etag").context("no tag")?.to_owned(), String::from_utf8(reply.body.to_vec())?))
        };
        for name in ["_openapi.json", "_types.ts"] {
            let column = format!("due_{}", name.len());
            let (before, description) = read(&secret, name).await?;
            assert!(!description.contains(&column) && description.contains("tasks"), "{description}");
            let new = json!({"name": column, "type": "timestamp"});
            owner.post(&project.console_path("/tables/tasks/columns"), &new).await?.ok()?;
            let (after, description) = read(&secret, name).await?;
            assert!(before != after && description.contains(&column), "the next request must show the column");
            let (_, description) = read(&publishable, name).await?;
            assert!(!description.contains("due_") && !description.contains("meta") && description.contains("title"), "{description}");
            let again = project.rest_request(&client, (&secret, None), Method::GET, name)?;
            let again = again.header(header::IF_NONE_MATCH, &after)?.send().await?;
            again.assert_status(304);
            assert!(again.body.is_empty());
            client.get(&project.rest_path(name)).await?.assert_error(401, "unauthorized");
        }
        Ok(())
    }
}
