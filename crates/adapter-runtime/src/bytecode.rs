//! Bytecode of bundles. A bundle is compiled once for its workspace, by a process that runs no app code; the bytecode is kept in
//! memory and on disk, and worker processes get it from here ([decision 0179](../../../docs/decisions/0179-keep-bytecode-of-apps.md)).

mod bounded_lru;
mod compiler;
mod directory;

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use bytes::Bytes;
use kernel::id::WorkspaceId;
use runs::engine::{BundleDigest, Failure};
use tokio::{runtime::Handle, sync::Mutex as AsyncMutex, task::spawn_blocking, time::interval};

use crate::{config::BytecodeDirectory, program_build::ProgramBuild};
use bounded_lru::{BoundedLru, ByteLimits};
use directory::Directory;

pub(crate) use compiler::compile;

/// Time between two looks for files that nothing uses any more.
const SWEEP_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes of bytecode in memory.
const MEMORY_LIMITS: ByteLimits = ByteLimits { workspace: 16 << 20, total: 64 << 20 };

/// Code of a workspace. Workspaces share no bytecode, as they share no process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BytecodeKey {
    pub(crate) workspace: WorkspaceId,
    pub(crate) digest: BundleDigest,
}

/// The encoded modules of a bundle, and the build of the program that compiled them. Other builds must not load them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytecode {
    pub(crate) build: ProgramBuild,
    pub(crate) modules: Bytes,
}

/// Bytecode that was used lately.
pub(crate) struct BytecodeCache {
    memory: Mutex<BoundedLru<Bytecode>>,
    directory: Option<Arc<Directory>>,
    /// Locks of those who look for bytecode that is not in memory, so that each bundle is compiled once.
    lookups: Mutex<HashMap<BytecodeKey, Weak<AsyncMutex<()>>>>,
}

impl BytecodeCache {
    /// Makes a cache that keeps bytecode in `directory`, too, if there is one. Must be called inside a tokio runtime then.
    ///
    /// # Errors
    /// If there is no runtime.
    pub(crate) fn start(directory: Option<&BytecodeDirectory>) -> io::Result<Self> {
        let directory = directory.map(|directory| Arc::new(Directory::new(directory)));
        if let Some(directory) = &directory {
            let sweeps = sweep_daily(Arc::downgrade(directory));
            Handle::try_current().map_err(io::Error::other)?.spawn(sweeps);
        }
        let memory = Mutex::new(BoundedLru::new(MEMORY_LIMITS));
        Ok(Self { memory, directory, lookups: Mutex::default() })
    }

    /// Returns the bytecode of a bundle for a process of this build. What is neither in memory nor on disk is compiled; one caller
    /// compiles, and others who want the same wait for it.
    ///
    /// # Errors
    /// Those of `compile`.
    pub(crate) async fn get_or_compile(
        &self,
        key: BytecodeKey,
        build: ProgramBuild,
        compile: impl AsyncFnOnce() -> Result<Bytecode, Failure>,
    ) -> Result<Bytecode, Failure> {
        if let Some(found) = self.get(&key, build) {
            return Ok(found);
        }
        let lookup = self.lookup(key);
        let _turn = lookup.lock().await;
        if let Some(found) = self.get(&key, build) {
            return Ok(found);
        }
        if let Some(directory) = self.directory.clone()
            && let Ok(Some(modules)) = spawn_blocking(move || directory.read(key, build)).await
        {
            let bytecode = Bytecode { build, modules };
            self.keep(key, bytecode.clone());
            return Ok(bytecode);
        }
        let bytecode = compile().await?;
        self.keep(key, bytecode.clone());
        if let Some(directory) = self.directory.clone() {
            let bytecode = bytecode.clone();
            // The caller needs not wait for the disk.
            drop(spawn_blocking(move || directory.write(key, &bytecode)));
        }
        Ok(bytecode)
    }

    fn get(&self, key: &BytecodeKey, build: ProgramBuild) -> Option<Bytecode> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.get(key).filter(|bytecode| bytecode.build == build).cloned()
    }

    fn keep(&self, key: BytecodeKey, bytecode: Bytecode) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let evicted = memory.insert(key, bytecode.modules.len(), bytecode);
        drop(memory);
        drop(evicted);
    }

    fn lookup(&self, key: BytecodeKey) -> Arc<AsyncMutex<()>> {
        let mut lookups = self.lookups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lookup) = lookups.get(&key).and_then(Weak::upgrade) {
            return lookup;
        }
        lookups.retain(|_, lookup| lookup.strong_count() > 0);
        let lookup = Arc::default();
        lookups.insert(key, Arc::downgrade(&lookup));
        lookup
    }
}

/// Looks for files that nothing uses any more, at once and then once a day, until the cache is dropped.
async fn sweep_daily(directory: Weak<Directory>) {
    let mut ticks = interval(SWEEP_INTERVAL);
    loop {
        ticks.tick().await;
        let Some(directory) = directory.upgrade() else { return };
        // It fails only while the server ends.
        let _ = spawn_blocking(move || directory.sweep()).await;
    }
}

#[cfg(test)]
mod tests;
