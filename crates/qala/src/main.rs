//! The program: reads its configuration, builds the adapters, wires the API and the workers; nothing else.

mod admin;
mod banner;
mod cli;
mod config;
mod descriptors;
mod doctor;
mod listener;
mod logging;
mod mail;
mod master_key;
mod oidc;
mod rows;
mod serve;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    // A worker process speaks its own protocol on standard output: nothing else may happen before this.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "worker") {
        return adapter_runtime::worker_main();
    }
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let command = cli.command.unwrap_or_else(|| Command::Serve(Box::new(cli.serve)));
    if let Command::Openapi = command {
        return print_openapi();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Command::Serve(arguments) => serve::serve(*arguments).await,
            Command::Migrate(arguments) => admin::migrate(arguments).await,
            Command::Doctor(arguments) => doctor::doctor(*arguments).await,
            Command::Admin(arguments) => admin::admin(arguments).await,
            Command::Rows(arguments) => rows::rows(arguments).await,
            Command::Openapi => Ok(ExitCode::SUCCESS),
        }
    })
}

#[expect(clippy::print_stdout, reason = "what was asked for")]
fn print_openapi() -> anyhow::Result<ExitCode> {
    println!("{}", serde_json::to_string_pretty(&api::document())?);
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stderr, reason = "a person reads why the program ended")]
fn complain(error: &anyhow::Error) {
    eprintln!("qala: {error:#}");
}
