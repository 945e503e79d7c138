//! `cargo xtask ci`: everything that a change must pass, the fastest checks first.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use xtask::{
    compile,
    shell::{self, Progress},
    workspace::Workspace,
};

use crate::{
    build_times, console, deps, docs, layers, openapi, prerequisites::Installation, readme, rustdoc,
};

struct Step {
    name: &'static str,
    run: Box<Check>,
}

type Check = dyn FnOnce(&Workspace) -> Result<()>;

impl Step {
    fn new(name: &'static str, run: impl FnOnce(&Workspace) -> Result<()> + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Returns the steps. What the tests need is installed while the first ones run.
fn steps(installation: Installation) -> Vec<Step> {
    vec![
        Step::new("format", format),
        Step::new("layers", layers::run),
        Step::new("docs", docs::run),
        Step::new("deps", deps::run),
        Step::new("clippy", clippy),
        Step::new("rustdoc", |workspace| rustdoc::run(workspace, rustdoc::Crates::Shipped)),
        Step::new("build", build),
        Step::new("prerequisites", |_| installation.wait(&Progress::start())),
        Step::new("console", console::check),
        Step::new("openapi", |workspace| openapi::run(workspace, &openapi::Options::check())),
        Step::new("test", readme::run_test_command),
    ]
}

/// Runs every step until one fails, and prints the time that each took.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut left = steps(Installation::start(&Progress::start())?).into_iter();
    let mut finished = Vec::new();
    while let Some(step) = left.next() {
        println!("\n==> {}", step.name);
        let started_at = Instant::now();
        let result = (step.run)(workspace);
        finished.push((step.name, started_at.elapsed(), result.is_ok()));
        if let Err(error) = result {
            print_summary(&finished, left.map(|step| step.name));
            return Err(error).with_context(|| format!("step `{}` failed", step.name));
        }
    }
    print_summary(&finished, left.map(|step| step.name));
    Ok(())
}

fn print_summary(finished: &[(&str, Duration, bool)], not_run: impl Iterator<Item = &'static str>) {
    println!("\n{:<14} {:>8}  result", "step", "seconds");
    for (name, took, passed) in finished {
        println!("{name:<14} {:>8.1}  {}", took.as_secs_f64(), if *passed { "passed" } else { "FAILED" });
    }
    for name in not_run {
        println!("{name:<14} {:>8}  not run", "");
    }
    let total = finished.iter().map(|(_, took, _)| *took).sum::<Duration>();
    println!("{:<14} {:>8.1}", "total", total.as_secs_f64());
}

fn format(workspace: &Workspace) -> Result<()> {
    shell::run(shell::cargo(workspace).args(["fmt", "--all", "--check"]))
}

/// Builds what the tests need, and prints the seconds of our crates.
fn build(workspace: &Workspace) -> Result<()> {
    compile::everything_timed(workspace)?;
    build_times::print_newest(workspace)
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["clippy", "--workspace", "--all-targets", "--all-features", "--locked"]);
    shell::run(cargo.args(["--", "--deny", "warnings"]))
}
