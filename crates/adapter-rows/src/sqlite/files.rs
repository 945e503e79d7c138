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
    Shared,
    connection::{Open, Role},
};

/// The open files that nobody writes at the moment.
pub(super) struct Written(Mutex<LruCache<ProjectRef, Open>>);

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").finish_non_exhaustive()
    }
}

impl Written {
    pub(super) fn new(most: usize) -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN))))
    }

    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of the project whose turn it is.
pub(super) struct File<'s> {
    shared: &'s Arc<Shared>,
    project: ProjectRef,
    open: Option<Open>,
}

impl<'s> File<'s> {
    pub(super) fn new(shared: &'s Arc<Shared>, project: &ProjectRef) -> Self {
        let open = shared.written.lock().pop(project);
        Self { shared, project: project.clone(), open }
    }

    pub(super) fn project(&self) -> &ProjectRef {
        &self.project
    }

    /// The open file, if there is one.
    pub(super) fn get(&mut self) -> Result<Option<&mut Open>, StoreError> {
        if self.open.is_none() {
            if !self.shared.path(&self.project).exists() {
                return Ok(None);
            }
            self.open = Some(Open::new(self.shared, &self.project, Role::Writer, false)?);
        }
        Ok(self.open.as_mut())
    }

    /// Makes the file.
    pub(super) fn create(&mut self) -> Result<(), StoreError> {
        if self.get()?.is_none() {
            let path = self.shared.path(&self.project);
            if let Some(directory) = path.parent() {
                super::make_directory(directory).map_err(super::unavailable)?;
            }
            self.open = Some(Open::new(self.shared, &self.project, Role::Writer, true)?);
            if let Some(directory) = path.parent() {
                super::make_directory(directory).map_err(super::unavailable)?;
            }
        }
        Ok(())
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }
}

impl Drop for File<'_> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else { return };
        // What gives way is closed after the lock is gone: that takes longer than others should wait.
        let oldest = self.shared.written.lock().push(self.project.clone(), open);
        drop(oldest);
    }
}
