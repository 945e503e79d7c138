//! A cache of connections for reading, which all readers share, so that a file is seldom opened twice.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use backend_data::{ProjectRef, StoreError};
use lru::LruCache;

use super::{
    SharedState,
    connection::{FileConnection, Role},
};

/// The idle connections of each project, the least recently used project being evicted first.
pub(super) struct ConnectionCache {
    capacity: usize,
    state: Mutex<State>,
}

struct State {
    idle: LruCache<ProjectRef, Vec<FileConnection>>,
    count: usize,
    /// Rises with each deletion of a file, so that a connection to it that is in use is not put back.
    deletions: u64,
}

/// A connection that is in use.
pub(super) struct Lease {
    pub(super) open: FileConnection,
    deletions: u64,
}

impl fmt::Debug for ConnectionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionCache").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

impl ConnectionCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::new(State { idle: LruCache::unbounded(), count: 0, deletions: 0 }) }
    }

    /// Locks the cache. A poisoned lock is no problem: at worst, the count is one too high.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an idle connection of a project or opens one; `None` if the project has no file.
    pub(super) fn acquire(
        &self,
        shared: &SharedState,
        project: &ProjectRef,
    ) -> Result<Option<Lease>, StoreError> {
        let deletions = {
            let mut state = self.lock();
            let deletions = state.deletions;
            if let Some(open) = state.idle.get_mut(project).and_then(Vec::pop) {
                state.count -= 1;
                return Ok(Some(Lease { open, deletions }));
            }
            deletions
        };
        if !shared.path(project).exists() {
            return Ok(None);
        }
        let open = FileConnection::new(shared, project, Role::Reader, false)?;
        Ok(Some(Lease { open, deletions }))
    }

    /// Puts a connection back. If there are too many, closes those of the projects that were not read for the longest
    /// time.
    pub(super) fn release(&self, project: &ProjectRef, Lease { open, deletions }: Lease) {
        let mut closing = Vec::new();
        {
            let mut state = self.lock();
            if state.deletions != deletions {
                closing.push(open);
            } else {
                match state.idle.get_mut(project) {
                    Some(idle) => idle.push(open),
                    None => drop(state.idle.put(project.clone(), vec![open])),
                }
                state.count += 1;
                while state.count > self.capacity
                    && let Some((_, mut oldest)) = state.idle.pop_lru()
                {
                    state.count -= oldest.len();
                    closing.append(&mut oldest);
                }
            }
        }
        // Connections are closed outside the lock, since closing takes long.
        drop(closing);
    }

    /// Closes the connections of a project that was deleted.
    pub(super) fn evict(&self, project: &ProjectRef) {
        let evicted = {
            let mut state = self.lock();
            state.deletions += 1;
            let evicted = state.idle.pop(project).unwrap_or_default();
            state.count -= evicted.len();
            evicted
        };
        drop(evicted);
    }
}
