//! The workspace: its root, its files and what cargo reports about its packages.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};

/// The platforms that Qala is shipped for. Checks of third-party crates are limited to these, so that they have the
/// same result on every machine and need no crates of other platforms.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// The root of the repository. Files and metadata are read on demand.
#[derive(Debug)]
pub struct Workspace {
    /// The directory with the workspace's manifest.
    pub root: PathBuf,
}

impl Workspace {
    /// Finds the workspace of this program.
    pub fn open() -> Result<Self> {
        // The variable that cargo sets at run time takes precedence, since a checkout may have been moved after the
        // build.
        let manifest_dir =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest_dir).parent().context("the package has no parent directory")?;
        Ok(Self { root: root.to_owned() })
    }

    /// Returns our own crates with their declared dependencies.
    pub fn members(&self) -> Result<Metadata> {
        Ok(self.command().no_deps().exec()?)
    }

    /// Returns every crate that a build for x86-64 or AArch64 Linux compiles with all features.
    pub fn resolved(&self) -> Result<Metadata> {
        let platforms = PLATFORMS.iter().flat_map(|platform| ["--filter-platform", platform]);
        let options = platforms.chain(["--all-features", "--locked"]).map(str::to_owned).collect::<Vec<_>>();
        Ok(self.command().other_options(options).exec()?)
    }

    /// Reads a text file of the repository.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<String> {
        let path = self.root.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    fn command(&self) -> MetadataCommand {
        let mut command = MetadataCommand::new();
        command.manifest_path(self.root.join("Cargo.toml"));
        command
    }
}
