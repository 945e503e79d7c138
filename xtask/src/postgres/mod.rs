//! A throwaway PostgreSQL cluster for tests.
//!
//! The cluster belongs to a *guard*: a second process of this program, in its own process group, that runs PostgreSQL
//! until its standard input closes. The input is a pipe that only this process holds, so the cluster ends whenever this
//! process ends: after the tests, on Ctrl-C, on a panic, on SIGKILL. If the guard itself is killed, the kernel ends
//! PostgreSQL with it (`setpriv --pdeathsig`).

pub mod guard;
mod programs;

use std::{
    env,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::shell::Progress;

/// Prefix of the line in which the guard prints the URL.
const READY_PREFIX: &str = "ready ";

/// Durability of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Durability {
    /// Nothing is synced: a crash of the machine may lose everything.
    None,
    /// PostgreSQL's default: what is committed survives a crash.
    Full,
}

/// Finds `pgbench`, which some distributions install outside the folder of the server programs.
pub fn pgbench() -> Result<PathBuf> {
    programs::find_program("pgbench")
        .context("pgbench is not installed: install PostgreSQL with its programs")
}

/// True if the server programs are installed.
#[must_use]
pub fn is_installed() -> bool {
    programs::find_server_dir().is_some()
}

/// A running cluster. Dropping it stops the cluster and removes its files.
#[derive(Debug)]
pub struct Postgres {
    guard: Child,
    url: String,
}

/// Returns the path of the running program, also after a build has replaced its file.
fn own_program() -> Result<PathBuf> {
    let path = env::current_exe()?;
    // This link of Linux leads to the program itself.
    let running = Path::new("/proc/self/exe");
    Ok(if path.exists() || !running.exists() { path } else { running.to_owned() })
}

impl Postgres {
    /// Starts a fresh cluster. The current program must implement the subcommand `postgres-guard` with [`guard::run`].
    pub fn start(progress: &Progress, durability: Durability) -> Result<Self> {
        let binaries = programs::find_server_dir()
            .context("the server programs of PostgreSQL (initdb, postgres) are not installed")?;
        progress.report(format!("starting PostgreSQL from {}", binaries.display()));
        let mut guard = Command::new(own_program()?)
            .arg("postgres-guard")
            .arg(binaries)
            .arg(match durability {
                Durability::None => "none",
                Durability::Full => "full",
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("cannot start the guard of the PostgreSQL cluster")?;
        let output = guard.stdout.take().context("the guard has no standard output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let Some(url) = line.trim_end().strip_prefix(READY_PREFIX) else {
            let _ = guard.wait();
            bail!("PostgreSQL did not start; the reason is above");
        };
        progress.report(format!("PostgreSQL listens at {url}"));
        Ok(Self { url: url.to_owned(), guard })
    }

    /// URL to connect to as a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            eprintln!("cannot wait for the guard of the PostgreSQL cluster: {error}");
        }
    }
}
