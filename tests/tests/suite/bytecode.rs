//! Compiled code of apps in the data directory: over restarts and crashes, after it was changed, and where it cannot be written.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{Client, Server, eventually};

/// An app whose functions take longer to compile than a process may compute before it is replaced.
fn large_source(number: u32) -> String {
    let functions = (0..4_000).map(|at| {
        format!("all.f{at} = function f{at}(a, b) {{ return [a, b, {at}].map((c) => c + {at}); }};\n")
    });
    let functions: String = functions.collect();
    format!(
        "const all = {{}};\n{functions}\nexport default {{ async scheduled() {{ return [{number}, all.f7(1, 2).length]; }} }};"
    )
}

struct Fixture {
    owner: Client,
    workspace: String,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, &large_source(1)).await?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        Ok(Self { owner, workspace, app, automation })
    }

    /// Runs the app, and checks what it returns.
    async fn run(&self, number: u32) -> Result<()> {
        let run = self.owner.start_run(&self.automation, Value::Null).await?;
        let run = self.owner.wait_for_success(&run).await?;
        ensure!(run["result"] == json!([number, 3]), "{run}");
        Ok(())
    }

    async fn publish(&self, number: u32) -> Result<()> {
        let body = json!({"files": {"main.js": large_source(number)}});
        self.owner.post(&format!("/v1/apps/{}/versions", self.app), &body).await?.ok()?;
        Ok(())
    }
}

/// Returns the complete files with their contents.
fn files(server: &Server) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for workspace in fs::read_dir(server.data_dir().join("bytecode")).into_iter().flatten() {
        for file in fs::read_dir(workspace?.path())? {
            let path = file?.path();
            let name = path.file_name().context("no name")?.to_string_lossy();
            if !name.starts_with("incomplete")
                && let Ok(content) = fs::read(&path)
            {
                files.insert(path, content);
            }
        }
    }
    Ok(files)
}

/// Waits until there are so many files, and returns the one that `before` does not have, or has with another content.
async fn wait_for_file(server: &Server, before: &BTreeMap<PathBuf, Vec<u8>>) -> Result<(PathBuf, Vec<u8>)> {
    eventually("bytecode is written", async || {
        let found = files(server)?.into_iter().find(|(path, content)| before.get(path) != Some(content));
        found.context("there is nothing new")
    })
    .await
}

tests::on_both! {
    async fn bytecode_outlives_a_restart_and_a_crash(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        // It was compiled when it was published.
        let (path, content) = wait_for_file(&server, &BTreeMap::new()).await?;
        fixture.run(1).await?;
        server.restart().await?;
        fixture.run(1).await?;
        server.kill()?;
        server.restart().await?;
        fixture.run(1).await?;
        let after = files(&server)?;
        let of_workspace = after.keys().filter(|file| file.parent() == path.parent()).count();
        ensure!(of_workspace == 1 && after.get(&path) == Some(&content), "it was compiled again");
        ensure!(!server.log().contains("compiled again"), "{}", server.log());
        // What the next version compiles to is a file of its own, and a rollback finds the first one.
        fixture.publish(2).await?;
        wait_for_file(&server, &after).await?;
        fixture.run(2).await?;
        Ok(())
    }

    async fn bytecode_that_was_changed_is_compiled_again(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (path, content) = wait_for_file(&server, &BTreeMap::new()).await?;
        server.stop().await?;
        let mut changed = content.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, &changed)?;
        let before = files(&server)?;
        server.restart().await?;
        fixture.run(1).await?;
        let (again, _) = wait_for_file(&server, &before).await?;
        ensure!(again == path, "{again:?}");
        ensure!(server.log().contains("bytecode was changed or sealed with another key"), "{}", server.log());
        // Nothing of the code is legible in the file: it is sealed.
        ensure!(!content.windows(4).any(|part| part == b"main"), "a name of a module is in the clear");
        Ok(())
    }

    async fn an_app_runs_where_its_bytecode_cannot_be_written(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        server.stop().await?;
        let directory = server.data_dir().join("bytecode");
        fs::remove_dir_all(&directory)?;
        fs::write(&directory, "in the way")?;
        server.restart().await?;
        fixture.run(1).await?;
        fixture.publish(2).await?;
        fixture.run(2).await?;
        ensure!(server.log().contains("cannot store bytecode"), "{}", server.log());
        Ok(())
    }

    async fn drafts_and_other_workspaces_share_what_they_may(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        wait_for_file(&server, &BTreeMap::new()).await?;
        let before = files(&server)?;
        let draft = format!("/v1/apps/{}/draft", fixture.app);
        let call = json!({"handler": "scheduled", "event": {"data": null}});
        // A draft of the same code is no other code, however often it is called.
        for number in [1, 3, 3, 3] {
            let files = json!({"files": {"main.js": large_source(number)}});
            fixture.owner.put(&draft, &files).await?.ok()?;
            let called = fixture.owner.post(&format!("{draft}/invoke"), &call).await?.ok()?;
            ensure!(called["body"] == format!("[{number},3]"), "{called}");
        }
        wait_for_file(&server, &before).await?;
        ensure!(files(&server)?.len() == before.len() + 1, "{:?}", files(&server)?.keys());
        // The same code in another workspace is compiled for it.
        let stranger = server.sign_in("stranger@example.test").await?;
        let other = stranger.create_workspace("Other").await?.id;
        let before = files(&server)?;
        stranger.create_app(&other, &large_source(1)).await?;
        let (path, _) = wait_for_file(&server, &before).await?;
        ensure!(before.keys().all(|file| file.parent() != path.parent()), "{path:?}");
        ensure!(fixture.workspace != other);
        Ok(())
    }
}
