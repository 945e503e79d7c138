//! A throwaway PostgreSQL cluster for tests.
//!
//! The cluster belongs to a *guard*: a second process of this program, in a process group of its own, that runs
//! PostgreSQL until its standard input closes. The input is a pipe that only we hold, so the cluster goes however we go:
//! at the end of the tests, on Ctrl-C, on a panic, on SIGKILL. Should the guard itself be killed, the kernel ends
//! PostgreSQL with it (`setpriv --pdeathsig`).

pub mod guard;
mod programs;

use std::{
    env,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::shell::Progress;

/// The word before the address in the guard's answer.
const READY_PREFIX: &str = "ready ";

/// What is lost when the machine dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Durability {
    /// Perhaps everything: nothing waits for the disk.
    None,
    /// Nothing that was committed, as PostgreSQL is by itself.
    Full,
}

/// `pgbench`, which some packages keep apart from the server programs.
pub fn pgbench() -> Result<std::path::PathBuf> {
    programs::find_program("pgbench").context("pgbench is not there: install PostgreSQL's programs")
}

/// True if the server programs are on this machine.
#[must_use]
pub fn is_installed() -> bool {
    programs::find_server_dir().is_some()
}

/// A running cluster; dropping it stops the cluster and removes its files.
#[derive(Debug)]
pub struct Postgres {
    guard: Child,
    url: String,
}

impl Postgres {
    /// Starts a fresh cluster. This program must answer to `postgres-guard` with [`guard::run`].
    pub fn start(progress: &Progress, durability: Durability) -> Result<Self> {
        let binaries = programs::find_server_dir()
            .context("PostgreSQL's server programs (initdb, postgres) are not installed")?;
        progress.report(format!("starting PostgreSQL from {}", binaries.display()));
        let mut guard = Command::new(env::current_exe()?)
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
        let answers = guard.stdout.take().context("the guard has a standard output")?;
        let mut answer = String::new();
        BufReader::new(answers).read_line(&mut answer)?;
        let Some(url) = answer.trim_end().strip_prefix(READY_PREFIX) else {
            let _ = guard.wait();
            bail!("PostgreSQL did not start; the reason is above");
        };
        progress.report(format!("PostgreSQL listens at {url}"));
        Ok(Self { url: url.to_owned(), guard })
    }

    /// Where to connect as a superuser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        if let Err(error) = self.guard.wait() {
            eprintln!("the guard of the PostgreSQL cluster is lost: {error}");
        }
    }
}
