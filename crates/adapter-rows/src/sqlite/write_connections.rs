//! A cache of connections for writing, to the files that were written last. Only the thread that has a project's permit
//! takes its connection, so a file has one writer.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use backend_data::{ProjectRef, StoreError};
use lru::LruCache;

use super::{
    SharedState,
    connection::{FileConnection, Role},
};

/// The idle connections, at most one per project.
pub(super) struct WriteConnectionCache(Mutex<LruCache<ProjectRef, FileConnection>>);

impl fmt::Debug for WriteConnectionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteConnectionCache").finish_non_exhaustive()
    }
}

impl WriteConnectionCache {
    pub(super) fn new(capacity: usize) -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN))))
    }

    /// Locks the cache. A poisoned lock is no problem: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, FileConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of the thread that has the project's permit. Dropping it puts the connection back.
pub(super) struct WriteLease<'s> {
    shared: &'s Arc<SharedState>,
    project: ProjectRef,
    open: Option<FileConnection>,
}

impl<'s> WriteLease<'s> {
    pub(super) fn new(shared: &'s Arc<SharedState>, project: &ProjectRef) -> Self {
        let open = shared.write_connections.lock().pop(project);
        Self { shared, project: project.clone(), open }
    }

    pub(super) fn project(&self) -> &ProjectRef {
        &self.project
    }

    /// Returns the connection, opened if need be; `None` if the project has no file.
    pub(super) fn find_connection(&mut self) -> Result<Option<&mut FileConnection>, StoreError> {
        if self.open.is_none() {
            if !self.shared.path(&self.project).exists() {
                return Ok(None);
            }
            self.open = Some(FileConnection::new(self.shared, &self.project, Role::Writer, false)?);
        }
        Ok(self.open.as_mut())
    }

    /// Creates the file if it does not exist.
    pub(super) fn create(&mut self) -> Result<(), StoreError> {
        if self.find_connection()?.is_none() {
            let path = self.shared.path(&self.project);
            if let Some(directory) = path.parent() {
                super::create_durable_directory(directory).map_err(super::unavailable_error)?;
            }
            self.open = Some(FileConnection::new(self.shared, &self.project, Role::Writer, true)?);
            if let Some(directory) = path.parent() {
                super::create_durable_directory(directory).map_err(super::unavailable_error)?;
            }
        }
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }
}

impl Drop for WriteLease<'_> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        // The evicted connection is closed outside the lock, since closing takes long.
        let oldest = self.shared.write_connections.lock().push(self.project.clone(), open);
        drop(oldest);
    }
}
