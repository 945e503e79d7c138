//! `cargo xtask test`: runs all tests of the workspace, or some, with a throwaway PostgreSQL cluster.

use std::{
    collections::BTreeSet,
    env,
    io::{self, BufRead, BufReader, Write},
    ops::AddAssign,
    path::PathBuf,
    process::Stdio,
    thread,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use xtask::{
    compile::{self, Profile},
    postgres::{Durability, Postgres},
    shell::{self, Progress},
    workspace::Workspace,
};

use crate::{
    changed::{self, Selection},
    prerequisites, python_environments,
};

/// Selection of tests.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Run the tests of the packages and black-box modules that changed since the branch left `main`, committed or not.
    #[arg(long, conflicts_with = "suite")]
    changed: bool,
    /// Run these modules of the black-box suites, such as `webhooks`.
    #[arg(long, value_name = "MODULE", value_delimiter = ',')]
    suite: Vec<String>,
    /// Passed to `cargo test`: a filter, `--package NAME`, `-- --nocapture`, …
    #[arg(last = true)]
    args: Vec<String>,
}

/// Black-box tests that run at once per processor. They spend most of their time waiting: for a server to start, for a
/// lease to expire, for a browser.
const BLACK_BOX_TESTS_PER_PROCESSOR: usize = 2;

/// Variable with the number of tests that a test program runs at once.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// One `cargo test` and the build before it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stage {
    build: Build,
    args: Vec<String>,
}

/// Targets that are built before `cargo test`, which builds the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Build {
    /// For the tests of a package, which do not start `qala`.
    Nothing,
    /// For packages that the caller names, one of which may be `tests`.
    Qala,
    /// For the black-box suites alone.
    BlackBox,
    Everything,
}

/// Results of all test programs.
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

/// Builds the tests, starts PostgreSQL, runs the tests, and prints `N passed, N failed`.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let progress = Progress::start();
    let stages = plan(workspace, options)?;
    if stages.is_empty() {
        println!("no tests are affected by the changes");
        return Ok(());
    }
    prerequisites::ensure_installed(&progress)?;
    // Some tests of the black box need them, which come last.
    let mut environments = match &stages[..] {
        [_, .., last] if last.build == Build::BlackBox => {
            Some(python_environments::Installation::start(workspace)?)
        }
        _ => None,
    };
    let postgres = Postgres::start(&progress, Durability::None)?;
    let mut totals = Totals::default();
    let mut is_passed = true;
    for stage in &stages {
        if stage.build == Build::BlackBox
            && let Some(environments) = environments.take()
        {
            environments.wait();
        }
        progress.report(format!("building and running: cargo test {}", stage.args.join(" ")));
        let qala = stage.build.run(workspace)?;
        is_passed &= run_cargo_test(workspace, stage, qala, postgres.url(), &mut totals)?;
    }
    progress.report("stopping PostgreSQL");
    drop(postgres);
    println!("{} passed, {} failed", totals.passed, totals.failed);
    if !is_passed {
        bail!("tests failed");
    }
    Ok(())
}

fn plan(workspace: &Workspace, options: &Options) -> Result<Vec<Stage>> {
    if options.changed {
        let selection = changed::select(workspace)?;
        return plan_selection(workspace, &selection, &options.args);
    }
    if !options.suite.is_empty() {
        let modules = changed::named_modules(workspace, &options.suite)?;
        return Ok(vec![black_box_stage(&modules, &options.args)]);
    }
    if selects_packages(&options.args) {
        return Ok(vec![Stage { build: Build::Qala, args: options.args.clone() }]);
    }
    plan_everything(workspace, &options.args)
}

/// Plans all tests. The black-box suites are a stage of their own, because they run with other settings. With arguments
/// there is one stage, since they are filters that cargo applies.
fn plan_everything(workspace: &Workspace, args: &[String]) -> Result<Vec<Stage>> {
    if !args.is_empty() {
        return Ok(vec![Stage { build: Build::Everything, args: [&owned(&["--workspace"]), args].concat() }]);
    }
    let members = workspace.members()?;
    let targets = members.packages.iter().flat_map(|package| &package.targets);
    let programs = targets.filter(|target| target.is_test() && target.name != compile::SUITE);
    let programs = programs.map(|target| target.name.clone()).collect::<BTreeSet<_>>();
    Ok(everything_stages(programs))
}

fn everything_stages(programs: BTreeSet<String>) -> Vec<Stage> {
    let mut args = owned(&["--workspace", "--lib", "--bins"]);
    args.extend(programs.into_iter().flat_map(|program| ["--test".to_owned(), program]));
    vec![
        Stage { build: Build::Everything, args },
        Stage { build: Build::Nothing, args: owned(&["--workspace", "--doc"]) },
        Stage { build: Build::BlackBox, args: owned(&["--workspace", "--test", compile::SUITE]) },
    ]
}

/// Plans the selected tests. Packages come first, because they finish sooner than the black-box suites, and one by one,
/// so that each is compiled with the same features whichever others have changed.
fn plan_selection(workspace: &Workspace, selection: &Selection, args: &[String]) -> Result<Vec<Stage>> {
    if selection.is_everything {
        return plan_everything(workspace, args);
    }
    Ok(selection_stages(selection, args))
}

fn selection_stages(selection: &Selection, args: &[String]) -> Vec<Stage> {
    let package_stages = selection.packages.iter().map(|package| {
        let mut args = args.to_vec();
        args.splice(0..0, ["--package".to_owned(), package.clone()]);
        if package == changed::SUITE_PACKAGE {
            args.insert(2, "--lib".to_owned());
        }
        Stage { build: Build::Nothing, args }
    });
    let mut stages: Vec<Stage> = package_stages.collect();
    if !selection.modules.is_empty() {
        stages.push(black_box_stage(&selection.modules, args));
    }
    stages
}

/// Plans the tests of some modules. The filters go to the test program, because cargo accepts only one.
fn black_box_stage(modules: &BTreeSet<String>, args: &[String]) -> Stage {
    let (cargo_args, program_args) =
        args.split_at(args.iter().position(|arg| arg == "--").unwrap_or(args.len()));
    let mut all = owned(&["--workspace", "--test", compile::SUITE]);
    all.extend(cargo_args.iter().cloned());
    all.push("--".to_owned());
    all.extend(modules.iter().map(|module| format!("{module}::")));
    all.extend(program_args.iter().skip(1).cloned());
    Stage { build: Build::BlackBox, args: all }
}

fn owned(args: &[&str]) -> Vec<String> {
    args.iter().map(ToString::to_string).collect()
}

impl Build {
    /// Builds the targets, and returns the path of `qala` if it is one of them.
    fn run(self, workspace: &Workspace) -> Result<Option<PathBuf>> {
        Ok(match self {
            Self::Nothing => None,
            Self::Qala => Some(compile::qala(workspace, Profile::Dev)?),
            Self::BlackBox => Some(compile::black_box(workspace)?),
            Self::Everything => Some(compile::everything(workspace)?),
        })
    }
}

/// Runs `cargo test`, and returns true if it succeeded.
fn run_cargo_test(
    workspace: &Workspace,
    stage: &Stage,
    qala: Option<PathBuf>,
    postgres_url: &str,
    totals: &mut Totals,
) -> Result<bool> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["test", "--locked", "--no-fail-fast"]).args(&stage.args);
    if stage.build == Build::BlackBox && env::var_os(THREADS_VARIABLE).is_none() {
        let threads = thread::available_parallelism()?.get() * BLACK_BOX_TESTS_PER_PROCESSOR;
        cargo.env(THREADS_VARIABLE, threads.to_string());
    }
    cargo.env("QALA_TEST_POSTGRES_URL", postgres_url).envs(qala.map(|qala| ("QALA_BIN", qala)));
    let mut tests = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let output = tests.stdout.take().context("cargo test has no standard output")?;
    *totals += forward_output(BufReader::new(output), &mut io::stdout().lock())?;
    Ok(tests.wait()?.success())
}

fn selects_packages(args: &[String]) -> bool {
    let cargo_args = args.iter().take_while(|arg| *arg != "--");
    cargo_args.into_iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"))
}

/// Copies cargo's output to the terminal line by line, and adds up the results in it.
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
        assert_eq!(terminal, output.as_bytes(), "the output is copied unchanged");
    }

    #[test]
    fn lines_that_only_resemble_results_are_ignored() {
        for line in
            ["test result: a_name ... ok", "test result: ok. many passed; 0 failed", "", "running 1 test"]
        {
            assert_eq!(parse_result(line), None, "{line}");
        }
    }

    fn args(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn names(text: &str) -> BTreeSet<String> {
        args(text).into_iter().collect()
    }

    #[test]
    fn a_package_option_replaces_the_whole_workspace() {
        assert!(selects_packages(&args("-p runs webhooks")));
        assert!(selects_packages(&args("--package=runs")));
        assert!(!selects_packages(&args("webhooks -- -p")));
    }

    #[test]
    fn packages_are_tested_one_by_one_and_before_the_black_box() {
        let packages = names("runs tests");
        let selection = Selection { packages, modules: names("mail webhooks"), is_everything: false };
        let stages = selection_stages(&selection, &args("--release -- --nocapture"));
        let expected = [
            (Build::Nothing, "--package runs --release -- --nocapture"),
            (Build::Nothing, "--package tests --lib --release -- --nocapture"),
            (Build::BlackBox, "--workspace --test suite --release -- mail:: webhooks:: --nocapture"),
        ];
        assert_eq!(stages, expected.map(|(build, text)| Stage { build, args: args(text) }));
    }

    #[test]
    fn every_test_is_in_one_stage() {
        let stages = everything_stages(names("contract engine"));
        let expected = [
            (Build::Everything, "--workspace --lib --bins --test contract --test engine"),
            (Build::Nothing, "--workspace --doc"),
            (Build::BlackBox, "--workspace --test suite"),
        ];
        assert_eq!(stages, expected.map(|(build, text)| Stage { build, args: args(text) }));
        assert_eq!(selection_stages(&Selection::default(), &[]), []);
    }
}
