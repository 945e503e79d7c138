//! Running other programs and reporting progress.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;

/// Returns a command for the cargo that started this program, in the root of the repository.
#[must_use]
pub fn cargo(workspace: &Workspace) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&workspace.root);
    // Some build scripts read the variables that cargo set for this package. They would run again, and everything that
    // depends on them would be rebuilt, after each build that was not started from here.
    let is_of_this_package = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    env::vars_os().map(|(name, _)| name).filter(is_of_this_package).for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

/// Runs a command to its end with this terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", describe(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", describe(command));
    }
    Ok(())
}

/// Runs a command to its end and returns its standard output. Its standard error goes to this terminal.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", describe(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", describe(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} did not print UTF-8", describe(command)))
}

/// Finds a program in the directories of `PATH`.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| is_file(path))
}

/// True if the path leads to a file, possibly through a link.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// True if this process runs as root.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    format!("`{}`", words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" "))
}

/// Prints progress with the time since the start.
#[derive(Debug)]
pub struct Progress {
    started_at: Instant,
}

impl Progress {
    /// Starts the clock.
    #[must_use]
    pub fn start() -> Self {
        Self { started_at: Instant::now() }
    }

    /// Prints one line.
    pub fn report(&self, what: impl AsRef<str>) {
        println!("[{:>7.1}s] {}", self.started_at.elapsed().as_secs_f64(), what.as_ref());
    }
}
