//! What the tests need beside cargo: looked for before anything is built, and installed in one step where that may be done.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};
use xtask::{
    postgres,
    shell::{self, Progress},
};

/// Something that tests run.
struct Prerequisite {
    /// What it is, for people.
    description: &'static str,
    /// Debian's packages with it.
    packages: &'static [&'static str],
    is_installed: fn() -> bool,
}

const PREREQUISITES: [Prerequisite; 9] = [
    Prerequisite {
        description: "PostgreSQL's server programs (initdb, postgres)",
        packages: &["postgresql"],
        is_installed: postgres::is_installed,
    },
    Prerequisite {
        description: "Chromium and its driver",
        packages: &["chromium", "chromium-driver"],
        is_installed: || is_on_path("chromium") && is_on_path("chromedriver"),
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

/// Makes sure of everything, or says what to do.
pub(crate) fn ensure_installed(progress: &Progress) -> Result<()> {
    let missing: Vec<&Prerequisite> = PREREQUISITES.iter().filter(|need| !(need.is_installed)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named = missing.iter().map(|need| need.description).collect::<Vec<_>>().join(", ");
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
    let command =
        format!("apt-get update && apt-get install --yes --no-install-recommends {}", packages.join(" "));
    if !shell::is_root() || shell::find_program("apt-get").is_none() {
        bail!(
            "the tests need {named}. On Debian and Ubuntu, install it with\n\n    sudo sh -c '{command}'\n"
        );
    }
    progress.report(format!("missing: {named}"));
    for arguments in
        [vec!["update"], [&["install", "--yes", "--no-install-recommends"][..], &packages].concat()]
    {
        progress.report(format!("installing: apt-get {}", arguments.join(" ")));
        shell::run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
            .with_context(|| format!("the tests need {named}"))?;
    }
    let left: Vec<&str> =
        missing.iter().filter(|need| !(need.is_installed)()).map(|need| need.description).collect();
    ensure!(left.is_empty(), "apt-get installed its packages, but still not found: {}", left.join(", "));
    progress.report("everything that the tests need is there");
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    shell::find_program(program).is_some()
}

/// Debian keeps some programs where only administrators look.
fn is_on_path_or_in(program: &str, folder: &str) -> bool {
    is_on_path(program) || shell::is_file(&Path::new(folder).join(program))
}

/// Debian's interpreter knows Debian's packages; the tests run that one.
fn has_aiosmtpd() -> bool {
    can_import("/usr/bin/python3", "aiosmtpd")
}

/// The interpreter that makes environments for the registry's programs.
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
    fn each_need_has_packages_of_its_own() {
        let packages: Vec<&str> = PREREQUISITES.iter().flat_map(|need| need.packages).copied().collect();
        assert!(PREREQUISITES.iter().all(|need| !need.packages.is_empty()));
        assert_eq!(packages.iter().collect::<BTreeSet<_>>().len(), packages.len());
    }

    #[test]
    fn programs_are_looked_for_where_administrators_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("qala-no-such-program"), "").unwrap();
        assert!(!is_on_path("qala-no-such-program"));
        assert!(is_on_path_or_in("qala-no-such-program", folder.path().to_str().unwrap()));
    }
}
