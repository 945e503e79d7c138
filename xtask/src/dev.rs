//! `cargo xtask dev`: builds and runs a development server.

use std::{fs, path::PathBuf};

use anyhow::Result;
use clap::Args;
use xtask::{shell, workspace::Workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// The data directory.
    #[arg(long, default_value = "qala-data", conflicts_with = "throwaway")]
    data_dir: PathBuf,
    /// Start with an empty data directory, under target/.
    #[arg(long)]
    throwaway: bool,
    /// Passed to `qala serve`.
    #[arg(last = true)]
    args: Vec<String>,
}

/// Builds the server and runs it until Ctrl-C.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let data_dir = if options.throwaway {
        let folder = workspace.root.join("target/qala-dev");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        folder
    } else {
        options.data_dir.clone()
    };
    let mut cargo = shell::cargo(workspace);
    cargo.args(["run", "--locked", "--package", "qala", "--", "serve", "--dev-login", "--data-dir"]);
    shell::run(cargo.arg(data_dir).args(&options.args))
}
