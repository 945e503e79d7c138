//! Checks the environment: a variable that looks like one of Qala's options and is none stops the program.

use std::collections::BTreeSet;

use anyhow::bail;
use clap::{Command, CommandFactory as _};

use crate::cli::Cli;

/// Known variables that are not options of the command line.
const NON_OPTION_VARIABLES: [&str; 1] = ["QALA_LOG"];
/// Variables that the tests and scripts of this repository set.
const DEVELOPMENT_VARIABLES: [&str; 3] = ["QALA_BIN", "QALA_URL", "QALA_WRITE_SNAPSHOTS"];
const DEVELOPMENT_PREFIX: &str = "QALA_TEST_";
/// Prefixes of the variables that Kubernetes sets in every pod next to a Service named `qala`.
const KUBERNETES_PREFIXES: [&str; 2] = ["QALA_SERVICE_", "QALA_PORT_"];
const KUBERNETES_VARIABLE: &str = "QALA_PORT";

/// Checks that every environment variable that begins with `QALA_` is known.
///
/// # Errors
/// Names the unknown variable and the nearest known one.
pub(crate) fn check() -> anyhow::Result<()> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    check_names(names)
}

fn check_names(names: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let known = known_variables();
    for name in names.filter(|name| name.starts_with("QALA_")) {
        let foreign = KUBERNETES_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || name == KUBERNETES_VARIABLE
            || name.starts_with(DEVELOPMENT_PREFIX)
            || DEVELOPMENT_VARIABLES.contains(&name.as_str());
        if foreign || known.contains(&name) {
            continue;
        }
        match nearest_variable(&name, &known) {
            Some(nearest) => bail!("{name}: unknown variable; did you mean {nearest}?"),
            None => bail!("{name}: unknown variable; `qala serve --help` lists the known ones"),
        }
    }
    Ok(())
}

/// Returns every variable that a command reads.
fn known_variables() -> BTreeSet<String> {
    let mut known: BTreeSet<String> = NON_OPTION_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    let mut commands: Vec<Command> = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        let named = command.get_arguments().filter_map(|argument| argument.get_env());
        known.extend(named.map(|name| name.to_string_lossy().into_owned()));
        commands.extend(command.get_subcommands().cloned());
    }
    known
}

fn nearest_variable<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k String> {
    let alike = |known: &String| strsim::jaro_winkler(&known["QALA_".len()..], &name["QALA_".len()..]);
    known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b))).filter(|known| alike(known) > 0.75)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> Option<String> {
        check_names(std::iter::once(name.to_owned())).err().map(|error| error.to_string())
    }

    #[test]
    fn known_variables_pass() {
        for name in [
            "QALA_LISTEN",
            "QALA_MASTER_KEY",
            "QALA_MASTER_KEY_FILE",
            "QALA_LOG",
            "QALA_SERVICE_HOST",
            "QALA_SERVICE_PORT_HTTP",
            "QALA_PORT",
            "QALA_PORT_7420_TCP_ADDR",
            "QALA_TEST_POSTGRES_URL",
            "PATH",
            "qala_listen",
        ] {
            assert_eq!(refused(name), None, "{name}");
        }
    }

    #[test]
    fn a_mistyped_name_is_refused_with_the_nearest_known_one() {
        for (name, nearest) in [
            ("QALA_WORKER", "QALA_WORKERS"),
            ("QALA_MASTERKEY", "QALA_MASTER_KEY"),
            ("QALA_PUBLIC_URI", "QALA_PUBLIC_URL"),
            ("QALA_TRUSTED_PROXY", "QALA_TRUSTED_PROXIES"),
        ] {
            let refused = refused(name).unwrap();
            assert!(refused.starts_with(name) && refused.contains(nearest), "{refused}");
        }
        assert!(refused("QALA_").is_some());
        assert!(refused("QALA_ZZZZZ").is_some_and(|text| text.contains("--help")));
    }
}
