//! `qala version`: identifies the program to people and to programs.

use std::process::ExitCode;

use serde::Serialize;

#[derive(Debug, Serialize)]
struct Version {
    version: &'static str,
    /// Commit of the build, if `BUILD_COMMIT` was set.
    commit: Option<&'static str>,
    /// Newest migration that the program knows; `qala migrate` brings a database to it.
    schema: &'static str,
    target: &'static str,
    /// True if the web console is in this build.
    console: bool,
}

#[expect(clippy::print_stdout, reason = "output of the command")]
pub(crate) fn version(json: bool) -> anyhow::Result<ExitCode> {
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("BUILD_COMMIT").filter(|commit| !commit.is_empty()),
        schema: adapter_store::schema_version(),
        target: env!("BUILD_TARGET"),
        console: console::MISSING.is_none(),
    };
    if json {
        println!("{}", serde_json::to_string(&version)?);
        return Ok(ExitCode::SUCCESS);
    }
    let Version { version, commit, schema, target, console } = version;
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    let console = if console { "" } else { ", without the web console" };
    println!("qala {version}{commit}, database schema {schema}, {target}{console}");
    Ok(ExitCode::SUCCESS)
}
