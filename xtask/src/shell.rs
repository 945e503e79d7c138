//! Running other programs, and saying how long they took.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;

/// The cargo that started us, in the root of the repository.
#[must_use]
pub fn cargo(workspace: &Workspace) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&workspace.root);
    // What it told us of this package some build scripts read too: they would run again, with all that follows from
    // them, after each build that was not started from here.
    let of_this_package = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    env::vars_os().map(|(name, _)| name).filter(of_this_package).for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

/// Runs to the end on our own terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", describe(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", describe(command));
    }
    Ok(())
}

/// Runs to the end and returns standard output; standard error stays on the terminal.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", describe(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", describe(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} did not print text", describe(command)))
}

/// The program's path in the first directory of `PATH` that holds it.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| is_file(path))
}

/// True if there is a file at the path, perhaps through a link.
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

/// Prints what is being done, with the time since the command began.
#[derive(Debug)]
pub struct Progress {
    started_at: Instant,
}

impl Progress {
    /// Begins to count.
    #[must_use]
    pub fn start() -> Self {
        Self { started_at: Instant::now() }
    }

    /// Prints one line.
    pub fn report(&self, what: impl AsRef<str>) {
        println!("[{:>7.1}s] {}", self.started_at.elapsed().as_secs_f64(), what.as_ref());
    }
}
