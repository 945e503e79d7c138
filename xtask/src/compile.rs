//! Building the workspace with one set of features, so that it is compiled only once.
//!
//! Cargo enables the features that the selected packages need. The crates of the program have the same ones in a build of the
//! program and of the tests (`deps/features.rs`), those of the tests alone do not. Every development build therefore selects
//! the whole workspace and then some of its targets. One of the targets must be a test or an example, because cargo leaves out
//! the features of dev-dependencies otherwise.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use cargo_metadata::{Artifact, Message};

use crate::{shell, workspace::Workspace};

/// The binary that is shipped.
const QALA: &str = "qala";

/// The smallest example of the workspace, which `adapter-rows` has.
const EXAMPLE: &str = "embed";

/// The black-box suites (`tests/tests/suite`).
pub const SUITE: &str = "suite";

/// Build settings of `qala`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The settings of the tests.
    Dev,
    /// The settings of releases.
    Release,
}

/// Builds `qala` and returns its path.
pub fn qala(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    match profile {
        Profile::Dev => build(workspace, &["--workspace", "--bin", QALA, "--example", EXAMPLE]),
        Profile::Release => build(workspace, &["--release", "--package", QALA]),
    }
}

/// Builds `qala` and the black-box suites, and returns the path of `qala`.
pub fn black_box(workspace: &Workspace) -> Result<PathBuf> {
    build(workspace, &["--workspace", "--bin", QALA, "--test", SUITE])
}

/// Builds everything, including tests and examples, and returns the path of `qala`.
pub fn everything(workspace: &Workspace) -> Result<PathBuf> {
    build(workspace, &["--workspace", "--all-targets"])
}

/// Builds everything, and makes cargo write a report of the seconds of each crate to `target/cargo-timings`.
pub fn everything_timed(workspace: &Workspace) -> Result<PathBuf> {
    build(workspace, &["--workspace", "--all-targets", "--timings"])
}

fn build(workspace: &Workspace, targets: &[&str]) -> Result<PathBuf> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["build", "--locked", "--message-format=json-render-diagnostics"]).args(targets);
    let messages = shell::output(&mut cargo)?;
    find_qala(messages.as_bytes()).context("cargo built no `qala` executable")
}

/// Returns the executable that cargo reports; the unit tests of `qala` have the same name.
fn find_qala(messages: &[u8]) -> Option<PathBuf> {
    let is_qala = |artifact: &Artifact| artifact.target.name == QALA && !artifact.profile.test;
    Message::parse_stream(messages)
        .filter_map(Result::ok)
        .filter_map(|message| match message {
            Message::CompilerArtifact(artifact) if is_qala(&artifact) => artifact.executable,
            _ => None,
        })
        .last()
        .map(|path| Path::new(&path).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(name: &str, is_test: bool, executable: &str) -> String {
        let target = format!(
            r#"{{"name":"{name}","kind":["bin"],"crate_types":["bin"],"src_path":"/src/main.rs","edition":"2024"}}"#
        );
        let profile = format!(
            r#"{{"opt_level":"0","debuginfo":1,"debug_assertions":true,"overflow_checks":true,"test":{is_test}}}"#
        );
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{name}","manifest_path":"/Cargo.toml","target":{target},"profile":{profile},"features":[],"filenames":[],"executable":{executable},"fresh":true}}"#
        )
    }

    #[test]
    fn the_binary_is_distinguished_from_its_unit_tests() {
        let messages = [
            artifact("qala", false, "\"/target/debug/qala\""),
            artifact("qala", true, "\"/target/debug/deps/qala-0123\""),
            artifact("suite", true, "\"/target/debug/deps/suite-0123\""),
        ]
        .join("\n");
        assert_eq!(find_qala(messages.as_bytes()), Some(PathBuf::from("/target/debug/qala")));
    }

    #[test]
    fn a_build_without_the_binary_is_noticed() {
        assert_eq!(find_qala(artifact("qala", false, "null").as_bytes()), None);
    }
}
