//! `cargo xtask bench --beside-workerd`: compares a page of an app with the same page of npm's `workerd`, in alternating rounds.

use std::{net::TcpListener, path::Path, process::Stdio, sync::Arc};

use ::tests::{Client, Server, eventually};
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Request;
use tokio::process::{Child, Command};
use xtask::shell::Progress;

use super::{
    Options, api,
    load::RequestFactory,
    rounds::{self, TargetLoad, millis},
};

/// A running workerd. Dropping it kills the process.
struct Workerd {
    address: String,
    _process: Child,
    _directory: tempfile::TempDir,
}

impl Workerd {
    async fn start(program: &Path) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let address = format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        std::fs::write(directory.path().join("main.js"), api::PAGE_APP_SOURCE)?;
        let config = format!(
            r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main.js", esModule = embed "main.js")],
    compatibilityDate = "2025-01-01",
  ))],
  sockets = [(name = "http", address = "{address}", http = (), service = "main")],
);
"#
        );
        let path = directory.path().join("config.capnp");
        std::fs::write(&path, config)?;
        let process = Command::new(program)
            .arg("serve")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let client = Client::new(format!("http://{address}"));
        eventually("workerd responds", async || {
            let reply = client.get("/").await?;
            ensure!(reply.status.is_success(), "{reply}");
            Ok(())
        })
        .await?;
        Ok(Self { address, _process: process, _directory: directory })
    }
}

/// Measures both, and prints the medians.
pub(super) async fn run(
    server: &Server,
    program: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    let workspace = api::BenchWorkspace::create(server).await?;
    let ours = workspace.page().await?;
    let workerd = Workerd::start(program).await?;
    let theirs: RequestFactory = Arc::new(|_| Ok(Request::builder().uri("/").body(Bytes::new())?));
    let address = server.base_url().trim_start_matches("http://");
    let targets = [
        TargetLoad { address, requests: &ours },
        TargetLoad { address: &workerd.address, requests: &theirs },
    ];
    let [ours, theirs] =
        rounds::run_alternating("page of an app", targets, options.load_plan(), progress).await?;
    println!("{:<16} {:>12} {:>9} {:>12} {:>9} {:>6}", "figure", "Qala", "p99", "workerd", "p99", "ratio");
    println!(
        "{:<16} {:>10.0}/s {:>9} {:>10.0}/s {:>9} {:>6.2}",
        "page of an app",
        ours.per_second,
        millis(ours.p99),
        theirs.per_second,
        millis(theirs.p99),
        ours.per_second / theirs.per_second,
    );
    Ok(())
}
