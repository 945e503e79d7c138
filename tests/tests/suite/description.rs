//! The API description in third-party tools: linters accept it, and clients that are generated from it make calls.
//!
//! `npm ci` and `pip` install the tools into a directory under `target`, at the versions in
//! `tests/clients/description`.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use flate2::read::GzDecoder;
use http::{Method, header};
use serde_json::json;
use tests::{BackendProject, Browser};
use tokio::{process::Command, sync::OnceCell};

mod schemathesis;

fn client_sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/description")
}

fn committed_description() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json")
}

pub(crate) async fn run_command(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let output = output
        .with_context(|| format!("cannot start {command:?}: these tests need Node.js, npm and Python"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{text}", output.status);
    }
    Ok(text)
}

/// Installs the tools from npm and generates the TypeScript client, once.
pub(crate) async fn install_node_tools() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/description");
        std::fs::create_dir_all(&directory)?;
        for file in std::fs::read_dir(client_sources())? {
            let file = file?;
            std::fs::copy(file.path(), directory.join(file.file_name()))?;
        }
        let npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run_command(Command::new("npm").args(npm).current_dir(&directory)).await?;
        run_command(
            Command::new("npx")
                .args(["--no-install", "openapi-typescript"])
                .arg(committed_description())
                .args(["--default-non-nullable=false", "--output", "api.d.ts"])
                .current_dir(&directory),
        )
        .await?;
        run_command(
            Command::new("npx")
                .args(["--no-install", "tsc", "--project", "tsconfig.json"])
                .current_dir(&directory),
        )
        .await?;
        anyhow::Ok(directory)
    };
    Ok(INSTALLED.get_or_try_init(install).await?)
}

/// Creates a Python environment with the tools from PyPI, once.
async fn install_python_tools() -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/description-python");
        std::fs::create_dir_all(&directory)?;
        let requirements = std::fs::read_to_string(client_sources().join("requirements.txt"))?;
        let installed = directory.join("requirements.txt");
        if std::fs::read_to_string(&installed).is_ok_and(|installed| installed == requirements) {
            return Ok(directory);
        }
        run_command(Command::new("python3").args(["-m", "venv"]).arg(&directory)).await?;
        run_command(
            Command::new(directory.join("bin/pip"))
                .args(["install", "--quiet", "--requirement"])
                .arg(client_sources().join("requirements.txt")),
        )
        .await?;
        std::fs::write(&installed, requirements)?;
        anyhow::Ok(directory)
    };
    Ok(INSTALLED.get_or_try_init(install).await?)
}

/// Generates the Python client and returns its directory.
async fn generate_python_client() -> Result<&'static Path> {
    static GENERATED: OnceCell<PathBuf> = OnceCell::const_new();
    let generate = async || {
        let directory = install_python_tools().await?;
        run_command(
            Command::new(directory.join("bin/openapi-python-client"))
                .args(["generate", "--overwrite", "--meta", "none", "--path"])
                .arg(committed_description())
                .arg("--output-path")
                .arg(directory.join("generated/qala_client"))
                .current_dir(directory),
        )
        .await?;
        anyhow::Ok(directory.join("generated"))
    };
    Ok(GENERATED.get_or_try_init(generate).await?)
}

#[tokio::test]
async fn linters_find_no_error() -> Result<()> {
    let directory = install_node_tools().await?;
    let redocly = ["--no-install", "redocly", "lint", "--config", "redocly.yaml"];
    run_command(Command::new("npx").args(redocly).arg(committed_description()).current_dir(directory))
        .await?;
    let spectral =
        ["--no-install", "spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "error"];
    run_command(Command::new("npx").args(spectral).arg(committed_description()).current_dir(directory))
        .await?;
    let python = install_python_tools().await?;
    run_command(Command::new(python.join("bin/openapi-spec-validator")).arg(committed_description())).await?;
    Ok(())
}

tests::on_both! {
    async fn a_generated_typescript_client_makes_ten_calls(server: Server) -> Result<()> {
        let mut calls = Command::new("node");
        calls.arg("out/calls.js").current_dir(install_node_tools().await?).env("QALA_URL", server.base_url());
        assert!(run_command(&mut calls).await?.contains("ten calls succeeded"));
        Ok(())
    }

    async fn the_types_of_the_runtime_check_apps(server: Server) -> Result<()> {
        let tools = install_node_tools().await?;
        let folder = tools.join(format!("types-{}", server.base_url().rsplit(':').next().context("no port")?));
        std::fs::create_dir_all(&folder)?;
        let types = server.client().get("/types/qala.d.ts").await?;
        types.assert_status(200);
        assert_eq!(types.header("content-type"), Some("application/typescript; charset=utf-8"));
        std::fs::write(folder.join("qala.d.ts"), &types.body)?;
        for file in ["app.ts", "tsconfig.app.json"] {
            std::fs::copy(client_sources().join(file), folder.join(file))?;
        }
        let check = ["--no-install", "tsc", "--project"];
        let project = folder.join("tsconfig.app.json");
        run_command(Command::new("npx").args(check).arg(&project).current_dir(tools)).await?;
        // The mistakes are found by these types, and not by any others.
        std::fs::write(folder.join("qala.d.ts"), "declare namespace Qala { type App = any; type Env = any }")?;
        let without = run_command(Command::new("npx").args(check).arg(&project).current_dir(tools)).await;
        assert!(without.is_err(), "the check accepts apps without the types");
        Ok(std::fs::remove_dir_all(folder)?)
    }

    async fn a_generated_python_client_makes_ten_calls(server: Server) -> Result<()> {
        let python = install_python_tools().await?;
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let projects = owner.get(&format!("/v1/workspaces/{}/backend/projects", workspace.id)).await?;
        let project = BackendProject::from_id(&owner, &projects.string_at("/items/0/id")?);
        let mut calls = Command::new(python.join("bin/python"));
        calls.arg(client_sources().join("calls.py")).env("GENERATED", generate_python_client().await?);
        calls.env("QALA_URL", server.base_url()).env("WORKSPACE", &workspace.id).env("PROJECT", &project.id);
        calls.env("TOKEN", owner.create_token(&workspace.id, &["read", "write"]).await?);
        calls.env("PROJECT_KEY", project.create_key("secret").await?);
        calls.env("COOKIE", owner.cookie().context("no session")?);
        assert!(run_command(&mut calls).await?.contains("ten calls succeeded"));
        Ok(())
    }
}

tests::on_both! {
    async fn the_description_and_its_page_are_cacheable_and_compressed(server: Server) -> Result<()> {
        let visitor = server.client();
        for path in ["/openapi.json", "/docs", "/docs/page.js", "/docs/page.css", "/types/qala.d.ts"] {
            let plain = visitor.get(path).await?;
            plain.assert_status(200);
            assert_eq!(plain.header("content-encoding"), None, "{path}");
            assert_eq!(plain.header("vary"), Some("Accept-Encoding"), "{path}");
            let tag = plain.header("etag").context("no ETag")?;

            let request = visitor.request(Method::GET, path).header(header::ACCEPT_ENCODING, "br, gzip")?;
            let packed = request.send().await?;
            assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
            assert_eq!(packed.header("etag"), Some(tag), "{path}");
            let mut unpacked = Vec::new();
            GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked)?;
            assert!(unpacked == plain.body, "the compressed {path} differs");

            let known = visitor.request(Method::GET, path).header(header::IF_NONE_MATCH, tag)?.send().await?;
            known.assert_status(304);
            assert!(known.body.is_empty() && known.header("etag") == Some(tag), "{path}");
            let other = visitor.request(Method::GET, path).header(header::IF_NONE_MATCH, "W/\"other\"")?;
            other.send().await?.assert_status(200);
        }
        let page = visitor.get("/docs").await?;
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        Ok(())
    }

    async fn the_page_can_be_searched_by_path_and_linked_to(server: Server) -> Result<()> {
        let browser = Browser::start().await?;
        browser.navigate_to(&format!("{}/docs#create_automation", server.base_url())).await?;
        let top = "return Math.abs(document.getElementById('create_automation').getBoundingClientRect().top) < 100";
        assert_eq!(browser.execute_script(top).await?, true, "the link leads to the operation");

        // The search matches a URL with ids in place of parameters.
        browser.type_into("#find", "/v1/apps/app_01/versions?limit=1").await?;
        let shown = "return [...document.querySelectorAll('article:not([hidden])')].map((article) => article.id)";
        assert_eq!(browser.execute_script(shown).await?, json!(["list_versions", "create_version", "compare_versions", "read_version", "roll_back_version"]));
        assert_eq!(browser.element_text("#found").await?, "5 operations");
        browser.execute_script("location.hash = 'list_runs'").await?;
        let ended = "return new Promise((done) => setTimeout(() => done(document.getElementById('find').value)))";
        assert_eq!(browser.execute_script(ended).await?, "", "following a link to a hidden operation clears the search");
        assert_eq!(browser.console_errors().await?, Vec::<String>::new());
        browser.close().await
    }
}
