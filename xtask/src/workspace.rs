//! The workspace as cargo and its manifests describe it.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};

/// The platforms that Qala is shipped for. Checks of third-party crates look at these, so that they answer the same on
/// every machine and need none of the crates of other platforms.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Where the repository is; what it holds is read when a check asks.
#[derive(Debug)]
pub struct Workspace {
    /// The directory with the workspace's manifest.
    pub root: PathBuf,
}

impl Workspace {
    /// Finds the workspace that this program is of.
    pub fn open() -> Result<Self> {
        // What cargo says as it starts us goes first: a build directory may have been moved with its checkout.
        let own = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&own).parent().context("the package sits in the workspace")?;
        Ok(Self { root: root.to_owned() })
    }

    /// Our own crates with the dependencies they declare.
    pub fn members(&self) -> Result<Metadata> {
        Ok(self.command().no_deps().exec()?)
    }

    /// Every crate that a build for x86-64 or AArch64 Linux compiles, all features on.
    pub fn resolved(&self) -> Result<Metadata> {
        let platforms = PLATFORMS.iter().flat_map(|platform| ["--filter-platform", platform]);
        let options = platforms.chain(["--all-features", "--locked"]).map(str::to_owned).collect::<Vec<_>>();
        Ok(self.command().other_options(options).exec()?)
    }

    /// A text file of the repository.
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
