//! `cargo xtask doc`: builds the documentation of the crates and denies warnings.

use anyhow::Result;
use xtask::{shell, workspace::Workspace};

/// Packages that only developers use.
const TOOLS: [&str; 3] = ["bench", "tests", "xtask"];

/// The crates to document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crates {
    All,
    /// The crates of `qala`. Without the other packages they are compiled with the features that are shipped; tests
    /// enable more, which would hide a missing one.
    Shipped,
}

/// Documents the crates, and fails on warnings.
pub(crate) fn run(workspace: &Workspace, crates: Crates) -> Result<()> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["doc", "--workspace", "--no-deps", "--all-features", "--locked"]);
    if crates == Crates::Shipped {
        cargo.args(TOOLS.iter().flat_map(|tool| ["--exclude", tool]));
    }
    shell::run(cargo.env("RUSTDOCFLAGS", "--deny warnings"))
}
