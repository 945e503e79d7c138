//! Programs that the tests need beside cargo. They are looked for before anything is built, and installed with apt-get
//! if this process runs as root.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread::{self, JoinHandle},
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use xtask::{
    postgres,
    shell::{self, Progress},
};

/// A program, or several, that tests run.
struct Prerequisite {
    /// Name for messages.
    description: &'static str,
    /// Debian packages that contain it.
    packages: &'static [&'static str],
    is_installed: fn() -> bool,
}

const PREREQUISITES: [Prerequisite; 10] = [
    Prerequisite {
        description: "the server programs of PostgreSQL (initdb, postgres)",
        packages: &["postgresql"],
        is_installed: postgres::is_installed,
    },
    Prerequisite {
        description: "Chromium and its driver",
        packages: &["chromium", "chromium-driver"],
        is_installed: || is_on_path("chromium") && is_on_path("chromedriver"),
    },
    Prerequisite {
        description: "Chromium without windows, for the console's journeys",
        packages: &["chromium-headless-shell"],
        is_installed: || is_on_path("chromium-headless-shell"),
    },
    Prerequisite {
        description: "the pooler pgbouncer",
        packages: &["pgbouncer"],
        is_installed: || is_on_path_or_in("pgbouncer", "/usr/sbin"),
    },
    Prerequisite {
        description: "the mail server aiosmtpd",
        packages: &["python3-aiosmtpd"],
        is_installed: has_aiosmtpd,
    },
    Prerequisite {
        description: "Python with venv and pip",
        packages: &["python3", "python3-venv"],
        is_installed: has_python,
    },
    Prerequisite { description: "Node.js", packages: &["nodejs"], is_installed: || is_on_path("node") },
    Prerequisite { description: "npm", packages: &["npm"], is_installed: || is_on_path("npm") },
    Prerequisite { description: "bash", packages: &["bash"], is_installed: || is_on_path("bash") },
    Prerequisite { description: "curl", packages: &["curl"], is_installed: || is_on_path("curl") },
];

/// An installation of what is missing, which goes on while something else is done.
pub(crate) struct Installation(Option<JoinHandle<Result<()>>>);

impl Installation {
    /// Begins to install what is missing, or fails at once with the command that does.
    pub(crate) fn start(progress: &Progress) -> Result<Self> {
        let missing = find_missing();
        if missing.is_empty() {
            return Ok(Self(None));
        }
        let (names, packages) = (names_of(&missing), packages_of(&missing));
        if !shell::is_root() || shell::find_program("apt-get").is_none() {
            let command = format!(
                "apt-get update && apt-get install --yes --no-install-recommends {}",
                packages.join(" ")
            );
            bail!(
                "the tests need {names}. On Debian and Ubuntu, install it with\n\n    sudo sh -c '{command}'\n"
            );
        }
        progress.report(format!("missing: {names}; installing {}", packages.join(" ")));
        Ok(Self(Some(thread::spawn(move || install(&packages)))))
    }

    /// Waits until everything is installed.
    pub(crate) fn wait(self, progress: &Progress) -> Result<()> {
        let Some(installing) = self.0 else { return Ok(()) };
        installing.join().map_err(|_| anyhow!("the installation panicked"))??;
        progress.report("everything that the tests need is installed");
        Ok(())
    }
}

/// Installs what is missing, or fails with the command that does.
pub(crate) fn ensure_installed(progress: &Progress) -> Result<()> {
    Installation::start(progress)?.wait(progress)
}

fn find_missing() -> Vec<&'static Prerequisite> {
    PREREQUISITES.iter().filter(|prerequisite| !(prerequisite.is_installed)()).collect()
}

fn names_of(missing: &[&Prerequisite]) -> String {
    missing.iter().map(|prerequisite| prerequisite.description).collect::<Vec<_>>().join(", ")
}

fn packages_of(missing: &[&Prerequisite]) -> Vec<&'static str> {
    missing.iter().flat_map(|prerequisite| prerequisite.packages).copied().collect()
}

/// Installs Debian packages. What apt-get prints is shown only if it fails.
fn install(packages: &[&'static str]) -> Result<()> {
    let install = [&["install", "--yes", "--no-install-recommends"][..], packages].concat();
    for arguments in [&["update"][..], &install] {
        let output = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .output()
            .context("cannot start apt-get")?;
        ensure!(
            output.status.success(),
            "`apt-get {}` ended with {}:\n{}{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let still_missing = find_missing();
    ensure!(
        still_missing.is_empty(),
        "apt-get succeeded, but these are still missing: {}",
        names_of(&still_missing)
    );
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    shell::find_program(program).is_some()
}

/// True if the program is on `PATH` or in a folder that only administrators have on theirs.
fn is_on_path_or_in(program: &str, folder: &str) -> bool {
    is_on_path(program) || shell::is_file(&Path::new(folder).join(program))
}

/// Checks Debian's interpreter, which finds Debian's packages and which the tests run.
fn has_aiosmtpd() -> bool {
    can_import("/usr/bin/python3", "aiosmtpd")
}

/// Checks the interpreter that creates virtual environments for programs from the registry.
fn has_python() -> bool {
    can_import("python3", "venv, ensurepip")
}

fn can_import(interpreter: &str, modules: &str) -> bool {
    let mut python = Command::new(interpreter);
    let status = python
        .args(["-c", &format!("import {modules}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_prerequisites_share_a_package() {
        let packages: Vec<&str> =
            PREREQUISITES.iter().flat_map(|prerequisite| prerequisite.packages).copied().collect();
        assert!(PREREQUISITES.iter().all(|prerequisite| !prerequisite.packages.is_empty()));
        assert_eq!(packages.iter().collect::<BTreeSet<_>>().len(), packages.len());
    }

    #[test]
    fn programs_are_found_in_folders_of_administrators() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("qala-no-such-program"), "").unwrap();
        assert!(!is_on_path("qala-no-such-program"));
        assert!(is_on_path_or_in("qala-no-such-program", folder.path().to_str().unwrap()));
    }
}
