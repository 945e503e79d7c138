//! `cargo xtask doc`: the crates' documentation, without a warning.

use anyhow::Result;
use xtask::{shell, workspace::Workspace};

/// Packages that are tools of the developers.
const TOOLS: [&str; 3] = ["bench", "tests", "xtask"];

/// The crates to document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crates {
    All,
    /// Those of `qala`. Left alone, they are compiled with the features that are shipped: tests turn on more, and would
    /// hide that one is missing.
    Shipped,
}

/// Documents crates, and fails on the first warning.
pub(crate) fn run(workspace: &Workspace, crates: Crates) -> Result<()> {
    let mut cargo = shell::cargo(workspace);
    cargo.args(["doc", "--workspace", "--no-deps", "--all-features", "--locked"]);
    if crates == Crates::Shipped {
        cargo.args(TOOLS.iter().flat_map(|tool| ["--exclude", tool]));
    }
    shell::run(cargo.env("RUSTDOCFLAGS", "--deny warnings"))
}
