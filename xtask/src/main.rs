//! Developer commands of Qala; `cargo xtask --help` lists them.
//!
//! They have few dependencies, so that they build in seconds: they are the first thing that a newcomer waits for. The
//! load generator `bench` is a package of its own.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

mod build_times;
mod changed;
mod ci;
mod console;
mod deps;
mod dev;
mod docs;
mod layers;
mod openapi;
mod prerequisites;
mod python_environments;
mod readme;
mod rustdoc;
mod sanitize;
mod test_suite;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::{
    postgres::{self, Durability},
    shell,
    workspace::Workspace,
};

/// Developer commands of Qala.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every test, on SQLite and on a throwaway PostgreSQL cluster.
    Test(test_suite::Options),
    /// Check everything that a change must pass: format, lints, layers, API description, dependencies, docs, tests.
    Ci,
    /// Check that crates depend only in the allowed direction and inherit the workspace's settings.
    Layers,
    /// Print the seconds that each of our crates took in the newest build with `--timings`, beside the committed ones.
    BuildTimes(build_times::Options),
    /// Write docs/openapi.json from the binary, or compare it with --check.
    Openapi(openapi::Options),
    /// Check licences, sources, banned and duplicate crates against xtask/deps.toml, and that tests enable no other features.
    Deps,
    /// Check that every repository path named in README.md and docs/ exists, and that every example in a doc comment is
    /// tested.
    Docs,
    /// Run the tests of `unsafe` code under AddressSanitizer and Miri; needs a nightly toolchain.
    Sanitize(sanitize::Options),
    /// Write the documentation of all crates to target/doc, and fail on warnings.
    Doc,
    /// Run a development server.
    Dev(dev::Options),
    /// Measure a release build on this machine, and compare it with baselines of the same machine.
    #[command(disable_help_flag = true)]
    Bench {
        /// Arguments of the load generator; `cargo xtask bench --help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Own a throwaway PostgreSQL cluster until standard input closes.
    #[command(hide = true)]
    PostgresGuard {
        /// The folder with PostgreSQL's server programs.
        binaries: PathBuf,
        #[arg(value_enum)]
        durability: Durability,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Test(options) => test_suite::run(&Workspace::open()?, &options),
        Command::Ci => ci::run(&Workspace::open()?),
        Command::Layers => layers::run(&Workspace::open()?),
        Command::BuildTimes(options) => build_times::run(&Workspace::open()?, &options),
        Command::Openapi(options) => openapi::run(&Workspace::open()?, &options),
        Command::Deps => deps::run(&Workspace::open()?),
        Command::Doc => rustdoc::run(&Workspace::open()?, rustdoc::Crates::All),
        Command::Docs => docs::run(&Workspace::open()?),
        Command::Sanitize(options) => sanitize::run(&Workspace::open()?, &options),
        Command::Dev(options) => dev::run(&Workspace::open()?, &options),
        Command::Bench { args } => {
            let mut cargo = shell::cargo(&Workspace::open()?);
            cargo.args(["run", "--quiet", "--release", "--locked", "--package", "bench", "--"]);
            shell::run(cargo.args(args))
        }
        Command::PostgresGuard { binaries, durability } => postgres::guard::run(&binaries, durability),
    }
}
