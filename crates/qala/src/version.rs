//! `qala version`: what this program is, for people and for programs.

use std::process::ExitCode;

use serde::Serialize;

/// The version of this program.
#[derive(Debug, Serialize)]
struct Version {
    version: &'static str,
    /// The commit it was built from, if `BUILD_COMMIT` named one.
    commit: Option<&'static str>,
    /// The newest migration that it knows: what `qala migrate` brings a database to.
    schema: String,
    target: &'static str,
}

/// Prints it.
#[expect(clippy::print_stdout, reason = "this is what was asked for")]
pub(crate) fn version(json: bool) -> anyhow::Result<ExitCode> {
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("BUILD_COMMIT").filter(|commit| !commit.is_empty()),
        schema: adapter_store::schema_version(),
        target: env!("BUILD_TARGET"),
    };
    if json {
        println!("{}", serde_json::to_string(&version)?);
        return Ok(ExitCode::SUCCESS);
    }
    let Version { version, commit, schema, target } = version;
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("qala {version}{commit}, database schema {schema}, {target}");
    Ok(ExitCode::SUCCESS)
}
