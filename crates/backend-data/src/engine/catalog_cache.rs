//! Catalogs kept in memory, the most recently used ones.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lru::LruCache;

use crate::{catalog::Catalog, ident::ProjectId};

pub(super) struct CatalogCache {
    inner: Mutex<Inner>,
}

struct Inner {
    cached: LruCache<ProjectId, Arc<Catalog>>,
    /// Rises with every change, so that what was read before a change is not remembered after it.
    generation: u64,
}

/// When a catalog began to be read.
#[derive(Clone, Copy)]
pub(super) struct Generation(u64);

impl CatalogCache {
    pub(super) fn new(most: usize) -> Self {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        Self { inner: Mutex::new(Inner { cached: LruCache::new(most), generation: 0 }) }
    }

    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, project: &ProjectId) -> Option<Arc<Catalog>> {
        self.lock().cached.get(project).cloned()
    }

    pub(super) fn generation(&self) -> Generation {
        Generation(self.lock().generation)
    }

    pub(super) fn insert_if_current(
        &self,
        project: ProjectId,
        catalog: Catalog,
        ticket: Generation,
    ) -> Arc<Catalog> {
        let catalog = Arc::new(catalog);
        let mut inner = self.lock();
        if inner.generation == ticket.0 {
            inner.cached.put(project, catalog.clone());
        }
        catalog
    }

    pub(super) fn invalidate(&self, project: &ProjectId) {
        let mut inner = self.lock();
        inner.generation += 1;
        inner.cached.pop(project);
    }
}
