//! The files that are open for reading. Whoever reads takes one, and puts it back: all readers share what is open, so
//! that a file is seldom opened twice.

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

/// Files that nobody reads at the moment, the last used ones first.
pub(super) struct ConnectionCache {
    capacity: usize,
    state: Mutex<State>,
}

struct State {
    idle: LruCache<ProjectRef, Vec<FileConnection>>,
    count: usize,
    /// Rises when a file is deleted, so that who has it open does not put it back.
    deletions: u64,
}

/// A file somebody reads.
pub(super) struct Lease {
    pub(super) open: FileConnection,
    deletions: u64,
}

impl fmt::Debug for ConnectionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").field("most", &self.capacity).finish_non_exhaustive()
    }
}

impl ConnectionCache {
    pub(super) fn new(most: usize) -> Self {
        Self {
            capacity: most,
            state: Mutex::new(State { idle: LruCache::unbounded(), count: 0, deletions: 0 }),
        }
    }

    /// A panic elsewhere leaves a shelf that is still whole: at worst it counts one file too many.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open file of a project, if it has one at all.
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

    /// Puts a file back for the next reader, and closes the one that was not read for the longest time where there are
    /// too many.
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
        // Closing takes longer than others should wait.
        drop(closing);
    }

    /// Closes the files of a project that was deleted.
    pub(super) fn evict(&self, project: &ProjectRef) {
        let forgotten = {
            let mut state = self.lock();
            state.deletions += 1;
            let forgotten = state.idle.pop(project).unwrap_or_default();
            state.count -= forgotten.len();
            forgotten
        };
        drop(forgotten);
    }
}
