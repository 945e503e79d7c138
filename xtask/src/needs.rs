//! What the tests need beside cargo: looked for before anything is built, and installed in one step where that may be done.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    postgres,
    shell::{self, Progress},
};

/// Something that tests run.
struct Need {
    /// What it is, for people.
    what: &'static str,
    /// Debian's packages with it.
    packages: &'static [&'static str],
    found: fn() -> bool,
}

const NEEDS: [Need; 9] = [
    Need {
        what: "PostgreSQL's server programs (initdb, postgres)",
        packages: &["postgresql"],
        found: postgres::is_installed,
    },
    Need {
        what: "Chromium and its driver",
        packages: &["chromium", "chromium-driver"],
        found: || on_path("chromium") && on_path("chromedriver"),
    },
    Need {
        what: "the pooler pgbouncer",
        packages: &["pgbouncer"],
        found: || on_path_or("pgbouncer", "/usr/sbin"),
    },
    Need { what: "the mail server aiosmtpd", packages: &["python3-aiosmtpd"], found: aiosmtpd },
    Need { what: "Python with venv and pip", packages: &["python3", "python3-venv"], found: python },
    Need { what: "Node.js", packages: &["nodejs"], found: || on_path("node") },
    Need { what: "npm", packages: &["npm"], found: || on_path("npm") },
    Need { what: "bash", packages: &["bash"], found: || on_path("bash") },
    Need { what: "curl", packages: &["curl"], found: || on_path("curl") },
];

/// Makes sure of everything, or says what to do.
///
/// # Errors
/// Names what is missing and the one command that installs it.
pub(crate) fn provide(progress: &Progress) -> Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.found)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named = missing.iter().map(|need| need.what).collect::<Vec<_>>().join(", ");
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
    let command =
        format!("apt-get update && apt-get install --yes --no-install-recommends {}", packages.join(" "));
    if !shell::is_root() || shell::find_program("apt-get").is_none() {
        bail!(
            "the tests need {named}. On Debian and Ubuntu, install it with\n\n    sudo sh -c '{command}'\n"
        );
    }
    progress.say(format!("missing: {named}"));
    for arguments in
        [vec!["update"], [&["install", "--yes", "--no-install-recommends"][..], &packages].concat()]
    {
        progress.say(format!("installing: apt-get {}", arguments.join(" ")));
        shell::run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
            .with_context(|| format!("the tests need {named}"))?;
    }
    let left: Vec<&str> = missing.iter().filter(|need| !(need.found)()).map(|need| need.what).collect();
    ensure!(left.is_empty(), "apt-get installed its packages, but still not found: {}", left.join(", "));
    progress.say("everything that the tests need is there");
    Ok(())
}

fn on_path(program: &str) -> bool {
    shell::find_program(program).is_some()
}

/// Debian keeps some programs where only administrators look.
fn on_path_or(program: &str, folder: &str) -> bool {
    on_path(program) || shell::is_file(&Path::new(folder).join(program))
}

/// Debian's interpreter knows Debian's packages; the tests run that one.
fn aiosmtpd() -> bool {
    imports("/usr/bin/python3", "aiosmtpd")
}

/// The interpreter that makes environments for the registry's programs.
fn python() -> bool {
    imports("python3", "venv, ensurepip")
}

fn imports(interpreter: &str, modules: &str) -> bool {
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
        let packages: Vec<&str> = NEEDS.iter().flat_map(|need| need.packages).copied().collect();
        assert!(NEEDS.iter().all(|need| !need.packages.is_empty()));
        assert_eq!(packages.iter().collect::<BTreeSet<_>>().len(), packages.len());
    }

    #[test]
    fn programs_are_looked_for_where_administrators_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("qala-no-such-program"), "").unwrap();
        assert!(!on_path("qala-no-such-program"));
        assert!(on_path_or("qala-no-such-program", folder.path().to_str().unwrap()));
    }
}
