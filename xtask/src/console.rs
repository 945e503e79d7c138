//! The check of the web console: types, messages in all languages, the rules of its security policy, and its size.

use std::process::Command;

use anyhow::Result;
use xtask::{shell, workspace::Workspace};

/// Checks the console. Its packages are installed by the build of the crate `console`.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    shell::run(Command::new("node").arg("check.mjs").current_dir(workspace.root.join("crates/console/web")))
}
