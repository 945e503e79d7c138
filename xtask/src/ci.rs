//! `cargo xtask ci`: everything that a change must pass, the fastest checks first.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use xtask::{
    compile,
    shell::{self, Progress},
    workspace::Workspace,
};

use crate::{build_times, console, deps, docs, layers, openapi, prerequisites, readme, rustdoc};

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

const STEPS: [Step; 11] = [
    Step { name: "prerequisites", run: |_| prerequisites::ensure_installed(&Progress::start()) },
    Step { name: "format", run: format },
    Step { name: "layers", run: layers::run },
    Step { name: "docs", run: docs::run },
    Step { name: "deps", run: deps::run },
    Step { name: "clippy", run: clippy },
    Step { name: "rustdoc", run: |workspace| rustdoc::run(workspace, rustdoc::Crates::Shipped) },
    Step { name: "build", run: build },
    Step { name: "console", run: console::check },
    Step { name: "openapi", run: |workspace| openapi::run(workspace, &openapi::Options::check()) },
    Step { name: "test", run: readme::run_test_command },
];

/// Runs every step until one fails, and prints the time that each took.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut finished = Vec::new();
    for step in STEPS {
        println!("\n==> {}", step.name);
        let started_at = Instant::now();
        let result = (step.run)(workspace);
        finished.push((step.name, started_at.elapsed(), result.is_ok()));
        if let Err(error) = result {
            print_summary(&finished);
            return Err(error).with_context(|| format!("step `{}` failed", step.name));
        }
    }
    print_summary(&finished);
    Ok(())
}

fn print_summary(finished: &[(&str, Duration, bool)]) {
    println!("\n{:<14} {:>8}  result", "step", "seconds");
    for (name, took, passed) in finished {
        println!("{name:<14} {:>8.1}  {}", took.as_secs_f64(), if *passed { "passed" } else { "FAILED" });
    }
    let not_run = STEPS.iter().skip(finished.len());
    for step in not_run {
        println!("{:<14} {:>8}  not run", step.name, "");
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
