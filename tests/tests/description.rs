//! The API's description in the hands of others: linters and generators read it, and generated clients make calls.
//!
//! `npm ci` and `pip` install them, at the versions of `tests/clients/description`, into a directory under `target`.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use tests::Backend;
use tokio::{process::Command, sync::OnceCell};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/description")
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json")
}

async fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let output = output
        .with_context(|| format!("{command:?} does not start: these tests need Node, npm and Python"))?;
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{said}", output.status);
    }
    Ok(said)
}

/// The programs of the npm registry, installed once, and the client that is generated with them.
async fn node() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/description");
        std::fs::create_dir_all(&directory)?;
        for file in std::fs::read_dir(source())? {
            let file = file?;
            std::fs::copy(file.path(), directory.join(file.file_name()))?;
        }
        let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").args(npm).current_dir(&directory)).await?;
        run(Command::new("npx")
            .args(["--no-install", "openapi-typescript"])
            .arg(committed())
            .args(["--default-non-nullable=false", "--output", "api.d.ts"])
            .current_dir(&directory))
        .await?;
        run(Command::new("npx")
            .args(["--no-install", "tsc", "--project", "tsconfig.json"])
            .current_dir(&directory))
        .await?;
        anyhow::Ok(directory)
    };
    Ok(INSTALLED.get_or_try_init(install).await?)
}

/// A Python environment with the programs of its registry, made once, and the client that is generated with them.
async fn python() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/description-python");
        std::fs::create_dir_all(&directory)?;
        if !directory.join("bin/openapi-python-client").exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&directory)).await?;
            let requirements = source().join("requirements.txt");
            run(Command::new(directory.join("bin/pip"))
                .args(["install", "--quiet", "--requirement"])
                .arg(requirements))
            .await?;
        }
        run(Command::new(directory.join("bin/openapi-python-client"))
            .args(["generate", "--overwrite", "--meta", "none", "--path"])
            .arg(committed())
            .arg("--output-path")
            .arg(directory.join("generated/qala_client"))
            .current_dir(&directory))
        .await?;
        anyhow::Ok(directory)
    };
    Ok(INSTALLED.get_or_try_init(install).await?)
}

#[tokio::test]
async fn linters_find_no_error() -> Result<()> {
    let directory = node().await?;
    let redocly = ["--no-install", "redocly", "lint", "--config", "redocly.yaml"];
    run(Command::new("npx").args(redocly).arg(committed()).current_dir(directory)).await?;
    let spectral =
        ["--no-install", "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "error"];
    run(Command::new("npx").args(spectral).arg(committed()).current_dir(directory)).await?;
    let python = python().await?;
    run(Command::new(python.join("bin/openapi-spec-validator")).arg(committed())).await?;
    Ok(())
}

tests::on_both! {
    async fn a_generated_typescript_client_makes_ten_calls(server: Server) -> Result<()> {
        let mut calls = Command::new("node");
        calls.arg("out/calls.js").current_dir(node().await?).env("QALA_URL", server.base_url());
        assert!(run(&mut calls).await?.contains("ten calls were answered"));
        Ok(())
    }

    async fn a_generated_python_client_makes_ten_calls(server: Server) -> Result<()> {
        let python = python().await?;
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.make_workspace("Tulpar").await?;
        let projects = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let project = Backend::of(&owner, &projects.string("/items/0/id")?);
        let mut calls = Command::new(python.join("bin/python"));
        calls.arg(source().join("calls.py")).env("GENERATED", python.join("generated"));
        calls.env("QALA_URL", server.base_url()).env("WORKSPACE", &workspace.id).env("PROJECT", &project.id);
        calls.env("TOKEN", owner.make_token(&workspace.id, &["read", "write"]).await?);
        calls.env("PROJECT_KEY", project.make_key("secret").await?);
        calls.env("COOKIE", owner.cookie().context("a session")?);
        assert!(run(&mut calls).await?.contains("ten calls were answered"));
        Ok(())
    }
}
