//! Third-party MCP clients against a running server: 401, metadata, registration, PKCE, a tool, refresh and revocation.
//! They are in `tests/clients` and need Node.js and Python.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use tests::{Database, Server};
use tokio::{process::Command, sync::OnceCell};

/// Installs the Node.js clients with their dependencies, once and outside the source tree.
async fn install_node_clients() -> Result<&'static Path> {
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
        run_command(
            Command::new("npm")
                .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
                .current_dir(&folder),
        )
        .await?;
        anyhow::Ok(folder)
    });
    Ok(installed.await?)
}

/// Creates a Python environment with the official client, once.
async fn install_python_client() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let installed = INSTALLED.get_or_try_init(async || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/python");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/requirements.txt");
        let (wanted, installed) = (std::fs::read_to_string(&source)?, folder.join("requirements.txt"));
        if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
            return Ok(folder);
        }
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&folder)).await?;
        let pip = ["install", "--quiet", "--requirement"];
        run_command(Command::new(folder.join("bin/pip")).args(pip).arg(&source)).await?;
        std::fs::write(&installed, wanted)?;
        anyhow::Ok(folder)
    });
    Ok(installed.await?)
}

async fn run_command(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let output = output.with_context(|| {
        format!("cannot start {command:?}: these tests need Node.js with npm, and Python with venv")
    })?;
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{printed}", output.status);
    }
    Ok(printed)
}

async fn check_client_script(script: &str) -> Result<()> {
    let clients = install_node_clients().await?;
    tests::on_database(Database::Sqlite, async |server: Server| {
        let printed = run_command(
            Command::new("node").arg(script).current_dir(clients).env("QALA_URL", server.base_url()),
        )
        .await?;
        assert!(printed.lines().filter(|line| line.starts_with("ok: ")).count() > 8, "{printed}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_official_client() -> Result<()> {
    check_client_script("sdk.mjs").await
}

#[tokio::test]
async fn the_official_client_without_a_handshake() -> Result<()> {
    check_client_script("client2.mjs").await
}

#[tokio::test]
async fn a_client_that_is_strict_about_the_standards() -> Result<()> {
    check_client_script("oauth4webapi.mjs").await
}

/// The client prefers the scope that the server names to its configured one, and may write with it.
#[tokio::test]
async fn the_official_python_client_writes() -> Result<()> {
    let python = install_python_client().await?.join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/mcp_client.py");
    tests::on_database(Database::Sqlite, async |server: Server| {
        // Without and with a handshake.
        for mode in ["auto", "legacy"] {
            let mut client = Command::new(&python);
            client.arg(&script).arg(mode).env("QALA_URL", server.base_url());
            let printed = run_command(&mut client).await?;
            for what in ["a tool that writes is called", "it refreshed, and may still write"] {
                assert!(printed.contains(&format!("ok: {what}")), "{mode}: {printed}");
            }
        }
        Ok(())
    })
    .await
}
