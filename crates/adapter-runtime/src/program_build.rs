//! The build of the program of the workers. Bytecode is for the engine that compiled it.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
};

use kernel::{Randomness as _, SystemRandomness};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes from the start of the program that are part of its identity. They have the places and sizes of everything in it, and the
/// id that the linker computes from its content, if it does.
const HEADER_BYTES: u64 = 4096;

/// Identifies a build: programs with equal ids have the same engine. A program that was copied, or installed again, may count as
/// another build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramBuild([u8; 32]);

impl ProgramBuild {
    /// Length of the id, in bytes.
    pub(crate) const LENGTH: usize = 32;

    /// Identifies the program of this process. One that cannot be read counts as a build of its own.
    pub(crate) fn current() -> Self {
        Self::read().unwrap_or_else(|_| {
            let mut id = [0; Self::LENGTH];
            SystemRandomness.fill(&mut id);
            Self(id)
        })
    }

    /// Identifies a program by its file. Reading all of it would take longer than compiling most apps.
    fn read() -> io::Result<Self> {
        // The file that is running, also if another one has its path by now.
        let file = File::open("/proc/self/exe")?;
        let metadata = file.metadata()?;
        let mut header = Vec::new();
        file.take(HEADER_BYTES).read_to_end(&mut header)?;
        let id = Sha256::new_with_prefix(concat!("qala ", env!("CARGO_PKG_VERSION"), "\0"))
            .chain_update(metadata.size().to_le_bytes())
            .chain_update(metadata.mtime().to_le_bytes())
            .chain_update(metadata.mtime_nsec().to_le_bytes())
            .chain_update(&header)
            .finalize();
        Ok(Self(id.into()))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) const ZERO: Self = Self::numbered(0);

    #[cfg(test)]
    pub(crate) const fn numbered(number: u8) -> Self {
        Self([number; Self::LENGTH])
    }
}

#[cfg(test)]
mod tests {
    use super::ProgramBuild;

    #[test]
    fn a_program_has_the_same_id_each_time() {
        assert_eq!(ProgramBuild::read().unwrap(), ProgramBuild::current());
    }
}
