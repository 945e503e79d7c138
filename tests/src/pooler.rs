//! A transaction pooler in front of a PostgreSQL database.

use std::{
    env, fs,
    net::{SocketAddr, TcpListener},
    process::Stdio,
};

use anyhow::{Context as _, Result};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};
use url::Url;

use crate::eventually;

/// A running PgBouncer that gives each transaction a session of its choice. Dropping it ends it.
#[derive(Debug)]
pub struct Pooler {
    url: String,
    _process: Child,
    _folder: tempfile::TempDir,
}

impl Pooler {
    /// Starts one in front of a database.
    pub async fn start(database_url: &str) -> Result<Self> {
        let behind: Url = database_url.parse()?;
        let (host, port) = (behind.host_str().context("no host")?, behind.port().context("no port")?);
        let (user, name) = (behind.username(), behind.path().trim_start_matches('/'));
        let address: SocketAddr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let folder = tempfile::tempdir()?;
        let settings = folder.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\n{name} = host={host} port={port} dbname={name} user={user}\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             ignore_startup_parameters = extra_float_digits\n",
            address.port()
        );
        fs::write(&settings, text)?;
        let mut command = Command::new("pgbouncer");
        // Debian installs it in a directory that is not in the PATH of users.
        let path = env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
        // PgBouncer refuses to run as root. It reads its configuration before it changes its user.
        if rustix::process::geteuid().is_root() {
            command.args(["-u", "nobody"]);
        }
        let process = command
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start pgbouncer (Debian: the package pgbouncer)")?;
        eventually("the pooler listens", async || Ok(TcpStream::connect(address).await.map(drop)?)).await?;
        Ok(Self { url: format!("postgres://{user}@{address}/{name}"), _process: process, _folder: folder })
    }

    /// Returns the URL of the database through the pooler.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
