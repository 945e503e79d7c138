//! Programs that the tests need beside cargo. They are looked for before anything is built, and installed with apt-get
//! if this process runs as root.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
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

/// Installs what is missing, or fails with the command that does.
pub(crate) fn ensure_installed(progress: &Progress) -> Result<()> {
    let missing: Vec<&Prerequisite> =
        PREREQUISITES.iter().filter(|prerequisite| !(prerequisite.is_installed)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|prerequisite| prerequisite.description).collect::<Vec<_>>().join(", ");
    let packages: Vec<&str> =
        missing.iter().flat_map(|prerequisite| prerequisite.packages).copied().collect();
    let command =
        format!("apt-get update && apt-get install --yes --no-install-recommends {}", packages.join(" "));
    if !shell::is_root() || shell::find_program("apt-get").is_none() {
        bail!(
            "the tests need {names}. On Debian and Ubuntu, install it with\n\n    sudo sh -c '{command}'\n"
        );
    }
    progress.report(format!("missing: {names}"));
    for arguments in
        [vec!["update"], [&["install", "--yes", "--no-install-recommends"][..], &packages].concat()]
    {
        progress.report(format!("installing: apt-get {}", arguments.join(" ")));
        shell::run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
            .with_context(|| format!("the tests need {names}"))?;
    }
    let still_missing: Vec<&str> = missing
        .iter()
        .filter(|prerequisite| !(prerequisite.is_installed)())
        .map(|prerequisite| prerequisite.description)
        .collect();
    ensure!(
        still_missing.is_empty(),
        "apt-get succeeded, but these are still missing: {}",
        still_missing.join(", ")
    );
    progress.report("everything that the tests need is installed");
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
