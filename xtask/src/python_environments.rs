//! Python environments of black-box tests, installed while other tests run: several tests would wait for each. A test that finds
//! none installs it itself, and says why it cannot.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result, ensure};
use xtask::workspace::Workspace;

/// Requirements, and the folder under `target/tmp` where the tests look for them.
const ENVIRONMENTS: [(&str, &str); 2] = [
    ("tests/clients/description/requirements.txt", "clients/description-python"),
    ("tests/clients/python/requirements.txt", "clients/python"),
];

/// An installation that goes on while something else is done.
pub(crate) struct Installation(JoinHandle<()>);

impl Installation {
    /// Begins to install what is not installed yet.
    pub(crate) fn start(workspace: &Workspace) -> Result<Self> {
        let temporary = workspace.members()?.target_directory.into_std_path_buf().join("tmp");
        let environments =
            ENVIRONMENTS.map(|(source, folder)| (workspace.root.join(source), temporary.join(folder)));
        Ok(Self(thread::spawn(move || {
            for (source, folder) in environments {
                // The tests try again, and fail with the reason.
                let _ = install(&source, &folder);
            }
        })))
    }

    /// Waits until nothing is installed any more.
    pub(crate) fn wait(self) {
        // A panic leaves the installation to the tests.
        let _ = self.0.join();
    }
}

/// Installs an environment. A copy of the requirements in it says what is installed.
fn install(source: &Path, folder: &Path) -> Result<()> {
    let (wanted, stamp) = (fs::read_to_string(source)?, folder.join("requirements.txt"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let pip = ["install", "--quiet", "--requirement"];
    run(Command::new(folder.join("bin/pip")).args(pip).arg(source))?;
    fs::write(stamp, wanted).context("cannot write what is installed")
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("wanted.txt");
        fs::write(&source, "no-such-package==1\n").unwrap();
        fs::write(folder.path().join("requirements.txt"), "no-such-package==1\n").unwrap();
        install(&source, folder.path()).unwrap();
    }

    #[test]
    fn the_requirements_exist() {
        let workspace = Workspace::open().unwrap();
        for (source, _) in ENVIRONMENTS {
            assert!(workspace.root.join(source).exists(), "{source}");
        }
    }
}
