//! The files a writer used last. No other thread writes them.

use std::{num::NonZeroUsize, sync::Arc};

use backend_data::{ProjectRef, StoreError};
use lru::LruCache;

use super::{
    Shared,
    connection::{Open, Role},
};

/// A writer's open files.
pub(super) struct Files {
    shared: Arc<Shared>,
    open: LruCache<ProjectRef, Open>,
}

impl Files {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let most = NonZeroUsize::new(shared.options.files_per_writer).unwrap_or(NonZeroUsize::MIN);
        Self { shared, open: LruCache::new(most) }
    }

    /// The open file of a project, if there is one.
    pub(super) fn get(&mut self, project: &ProjectRef) -> Result<Option<&mut Open>, StoreError> {
        if !self.open.contains(project) {
            if !self.shared.path(project).exists() {
                return Ok(None);
            }
            let open = Open::new(&self.shared, project, Role::Writer, false)?;
            self.open.put(project.clone(), open);
        }
        Ok(self.open.get_mut(project))
    }

    /// Makes the file of a project.
    pub(super) fn create(&mut self, project: &ProjectRef) -> Result<(), StoreError> {
        if self.get(project)?.is_none() {
            if let Some(directory) = self.shared.path(project).parent() {
                super::make_directory(directory).map_err(super::unavailable)?;
            }
            let open = Open::new(&self.shared, project, Role::Writer, true)?;
            if let Some(directory) = self.shared.path(project).parent() {
                super::make_directory(directory).map_err(super::unavailable)?;
            }
            self.open.put(project.clone(), open);
        }
        Ok(())
    }

    pub(super) fn close(&mut self, project: &ProjectRef) {
        self.open.pop(project);
    }
}
