//! The files that were written last. Whoever has a project's turn takes its file, and puts it back: no other thread writes
//! it meanwhile.

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

/// The open files that nobody writes at the moment.
pub(super) struct WriteConnectionCache(Mutex<LruCache<ProjectRef, FileConnection>>);

impl fmt::Debug for WriteConnectionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

impl WriteConnectionCache {
    pub(super) fn new(most: usize) -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN))))
    }

    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, FileConnection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of the project whose turn it is.
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

    /// The open file, if there is one.
    pub(super) fn find_connection(&mut self) -> Result<Option<&mut FileConnection>, StoreError> {
        if self.open.is_none() {
            if !self.shared.path(&self.project).exists() {
                return Ok(None);
            }
            self.open = Some(FileConnection::new(self.shared, &self.project, Role::Writer, false)?);
        }
        Ok(self.open.as_mut())
    }

    /// Makes the file.
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
        // What gives way is closed after the lock is gone: that takes longer than others should wait.
        let oldest = self.shared.write_connections.lock().push(self.project.clone(), open);
        drop(oldest);
    }
}
