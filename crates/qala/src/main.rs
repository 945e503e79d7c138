//! The `qala` program: reads its configuration, builds the adapters, and wires the API and the workers.

mod admin;
mod backup;
mod banner;
mod cli;
mod config;
mod connectors;
mod doctor;
mod environment;
mod healthcheck;
mod listener;
mod logging;
mod mail;
mod master_key;
mod oidc;
mod open_file_limit;
mod resolver;
mod rows;
mod serve;
mod serve_lock;
mod start_failures;
mod version;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    // A worker process uses standard output for its protocol, so nothing may come before this.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == "worker") {
        return adapter_runtime::worker_main();
    }
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            print_error(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let command = cli.command.unwrap_or_else(|| Command::Serve(Box::new(cli.serve)));
    if let Command::Version { json } = &command {
        return version::version(*json);
    }
    environment::check()?;
    match &command {
        Command::Openapi => return print_openapi(),
        Command::Healthcheck(arguments) => return healthcheck::healthcheck(arguments.listen),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Command::Serve(mut arguments) => {
                arguments.read_files()?;
                serve::serve(*arguments).await
            }
            Command::Migrate(mut arguments) => {
                arguments.read_files()?;
                admin::migrate(arguments).await
            }
            Command::Doctor(mut arguments) => {
                arguments.read_files()?;
                doctor::doctor(*arguments).await
            }
            Command::Admin(mut arguments) => {
                arguments.database.read_files()?;
                admin::admin(arguments).await
            }
            Command::Rows(mut arguments) => {
                arguments.database.read_files()?;
                arguments.rows.read_files()?;
                rows::rows(arguments).await
            }
            Command::Backup(mut arguments) => {
                arguments.database.read_files()?;
                arguments.rows.read_files()?;
                backup::backup(arguments).await
            }
            Command::Openapi | Command::Healthcheck(_) | Command::Version { .. } => Ok(ExitCode::SUCCESS),
        }
    })
}

fn print_openapi() -> anyhow::Result<ExitCode> {
    use std::io::Write as _;
    let text = serde_json::to_string_pretty(&api::document())?;
    match writeln!(std::io::stdout(), "{text}") {
        // The reader, such as `head`, has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => Ok(written.map(|()| ExitCode::SUCCESS)?),
    }
}

#[expect(clippy::print_stderr, reason = "errors of a command go to standard error")]
fn print_error(error: &anyhow::Error) {
    eprintln!("qala: {error:#}");
}
