//! oauth2-mock-server, an authorization server of others, with a service that takes its access tokens.
//!
//! `npm ci` installs it into a directory under `target`, at the versions in `tests/clients/oauth2/package-lock.json`. Without
//! Node.js the tests fail.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::OnceCell,
};

use crate::Client;

/// The secret of the OAuth app, which nothing may show.
pub const OAUTH_APP_SECRET: &str = "the-secret-of-the-oauth-app";

/// A running authorization server. It ends with this value.
#[derive(Debug)]
pub struct AuthorizationServer {
    _process: Child,
    ports: Ports,
}

#[derive(Debug, Deserialize)]
struct Ports {
    authorization: u16,
    service: u16,
}

async fn install(target: &str) -> Result<&'static Path> {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/oauth2");
        let directory = Path::new(target).join("clients-oauth2");
        std::fs::create_dir_all(&directory)?;
        for name in ["package.json", "package-lock.json", "server.mjs"] {
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

/// Writes the configuration of an OAuth app for `gmail`, with these further lines, to a folder; returns its path.
pub fn write_oauth_app(folder: &Path, endpoints: &str) -> Result<String> {
    let secret = folder.join("oauth-secret");
    std::fs::write(&secret, format!("{OAUTH_APP_SECRET}\n"))?;
    let path = folder.join("connectors.toml");
    let text =
        format!("[oauth.gmail]\nclient_id = \"qala-tests\"\nclient_secret_file = {secret:?}\n{endpoints}");
    std::fs::write(&path, text)?;
    Ok(path.to_string_lossy().into_owned())
}

impl AuthorizationServer {
    /// Installs the server once, into a folder of the build, and starts it on free ports.
    pub async fn start(target: &str) -> Result<Self> {
        let directory = install(target).await?;
        let mut process = Command::new("node")
            .arg("server.mjs")
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Node.js makes a pipe that it inherits non-blocking for everybody, and the output of the tests breaks off.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start node: these tests need Node.js")?;
        let stdout = process.stdout.take().context("no output")?;
        let line = BufReader::new(stdout).lines().next_line().await?.context("it ended")?;
        Ok(Self { _process: process, ports: serde_json::from_str(&line)? })
    }

    /// Returns the hosts that a server under test may reach, for `--allowed-hosts`.
    #[must_use]
    pub fn allowed_hosts(&self) -> String {
        format!("auth.example.com:{}=127.0.0.1", self.ports.authorization)
    }

    /// Returns the base URL of the service.
    #[must_use]
    pub fn service_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.service)
    }

    /// Writes the configuration of an OAuth app for `gmail` to a folder, and returns its path.
    pub fn write_config(&self, folder: &Path) -> Result<String> {
        let url = format!("http://auth.example.com:{}", self.ports.authorization);
        write_oauth_app(
            folder,
            &format!(
                "authorize_url = \"{url}/authorize\"\ntoken_url = \"{url}/token\"\nrevocation_url = \"{url}/revoke\"\n"
            ),
        )
    }

    /// Allows access as a person does in a browser, and returns the URL to which the authorization server redirects.
    pub async fn allow(&self, authorization_url: &str) -> Result<String> {
        let port = self.ports.authorization;
        let path = authorization_url
            .strip_prefix(&format!("http://auth.example.com:{port}"))
            .context("not a URL of the authorization server")?;
        let reply = Client::of_another_release(format!("http://127.0.0.1:{port}")).get(path).await?;
        Ok(reply.header("location").with_context(|| format!("no redirect: {reply}"))?.to_owned())
    }

    /// Returns what was asked of the server, as its source lists it.
    pub async fn state(&self) -> Result<Value> {
        self.service().get("/state").await?.ok()
    }

    /// Changes how the server behaves, as its source lists it.
    pub async fn change(&self, state: &Value) -> Result<()> {
        self.service().post("/state", state).await?.ok().map(drop)
    }

    fn service(&self) -> Client {
        Client::of_another_release(format!("http://127.0.0.1:{}", self.ports.service))
    }
}
