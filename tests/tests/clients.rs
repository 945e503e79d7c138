//! Programs of others go the whole way against a running server: 401, metadata, registration, PKCE, a tool, refreshing,
//! revoking. They are in `tests/clients`, and need Node.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use tests::{Database, Server};
use tokio::{process::Command, sync::OnceCell};

/// The clients with what they depend on, fetched once, apart from the source.
async fn clients() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let installed = INSTALLED.get_or_try_init(async || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        std::fs::create_dir_all(&folder)?;
        for file in std::fs::read_dir(&source)? {
            let file = file?;
            if file.file_type()?.is_file() {
                std::fs::copy(file.path(), folder.join(file.file_name()))?;
            }
        }
        run(Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
            .current_dir(&folder))
        .await?;
        anyhow::Ok(folder)
    });
    Ok(installed.await?)
}

async fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let output = output.with_context(|| format!("{command:?} needs Node and npm; install them"))?;
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{said}", output.status);
    }
    Ok(said)
}

async fn goes_the_whole_way(script: &str) -> Result<()> {
    let clients = clients().await?;
    tests::on(Database::Sqlite, async |server: Server| {
        let said =
            run(Command::new("node").arg(script).current_dir(clients).env("QALA_URL", server.base_url()))
                .await?;
        assert!(said.lines().filter(|line| line.starts_with("ok: ")).count() > 8, "{said}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_official_client() -> Result<()> {
    goes_the_whole_way("sdk.mjs").await
}

#[tokio::test]
async fn the_official_client_without_a_handshake() -> Result<()> {
    goes_the_whole_way("client2.mjs").await
}

#[tokio::test]
async fn a_client_that_is_strict_about_the_standards() -> Result<()> {
    goes_the_whole_way("oauth4webapi.mjs").await
}
