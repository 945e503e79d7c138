//! `cargo xtask test`: every test of the workspace, with a PostgreSQL cluster of its own.

use std::{
    io::{self, BufRead, BufReader, Write},
    ops::AddAssign,
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use xtask::{
    compile::{self, Profile},
    postgres::{Durability, Postgres},
    shell::{self, Progress},
    workspace::Workspace,
};

use crate::prerequisites;

/// Which tests to run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Passed to `cargo test`: a filter, `--package NAME`, `-- --nocapture`, …
    #[arg(last = true)]
    args: Vec<String>,
}

/// How many tests did what, over all test programs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Builds, starts PostgreSQL, runs, and ends with `N passed, N failed`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let progress = Progress::start();
    prerequisites::ensure_installed(&progress)?;
    progress.report("building");
    let is_everything = !selects_packages(&options.args);
    let qala =
        if is_everything { compile::everything(workspace)? } else { compile::qala(workspace, Profile::Dev)? };
    let postgres = Postgres::start(&progress, Durability::None)?;

    progress.report("running the tests");
    let mut cargo = shell::cargo(workspace);
    cargo.args(["test", "--locked", "--no-fail-fast"]);
    if is_everything {
        cargo.arg("--workspace");
    }
    cargo.args(&options.args).env("QALA_BIN", qala).env("QALA_TEST_POSTGRES_URL", postgres.url());
    let mut tests = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let output = tests.stdout.take().context("cargo test has a standard output")?;
    let totals = forward_output(BufReader::new(output), &mut io::stdout().lock())?;
    let status = tests.wait()?;

    progress.report("stopping PostgreSQL");
    drop(postgres);
    println!("{} passed, {} failed", totals.passed, totals.failed);
    if !status.success() {
        bail!("cargo test ended with {status}");
    }
    Ok(())
}

fn selects_packages(args: &[String]) -> bool {
    let cargo_args = args.iter().take_while(|arg| *arg != "--");
    cargo_args.into_iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

/// Prints what cargo prints, as it comes, and adds up the results it tells of.
fn forward_output(mut output: impl BufRead, terminal: &mut impl Write) -> Result<Totals> {
    let mut totals = Totals::default();
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line)? > 0 {
        terminal.write_all(&line)?;
        if let Some(result) = std::str::from_utf8(&line).ok().and_then(parse_result) {
            totals += result;
        }
        line.clear();
    }
    Ok(totals)
}

/// Reads `test result: ok. 3 passed; 1 failed; 0 ignored; …`.
fn parse_result(line: &str) -> Option<Totals> {
    let (_, counts) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
    let count = |what: &str| counts.split("; ").find_map(|part| part.strip_suffix(what)?.trim().parse().ok());
    Some(Totals { passed: count("passed")?, failed: count("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_programs_are_added_up() {
        let output = "\
running 2 tests
test a ... ok
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test result: FAILED. 10 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s
all doctests ran in 0.10s; merged doctests compilation took 0.05s
";
        let mut terminal = Vec::new();
        let totals = forward_output(output.as_bytes(), &mut terminal).unwrap();
        assert_eq!(totals, Totals { passed: 12, failed: 3 });
        assert_eq!(terminal, output.as_bytes(), "everything is shown as it came");
    }

    #[test]
    fn lines_that_only_look_alike_are_no_results() {
        for line in
            ["test result: a_name ... ok", "test result: ok. many passed; 0 failed", "", "running 1 test"]
        {
            assert_eq!(parse_result(line), None, "{line}");
        }
    }

    #[test]
    fn a_package_option_replaces_the_whole_workspace() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(selects_packages(&args("-p runs webhooks")));
        assert!(selects_packages(&args("--package=runs")));
        assert!(!selects_packages(&args("webhooks -- -p")));
    }
}
