//! A cache of the most recently used catalogs.

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
    /// Rises with every change, so that a catalog that was read before a change is not cached after it.
    generation: u64,
}

/// The state of the cache at which a catalog began to be loaded.
#[derive(Clone, Copy)]
pub(super) struct Generation(u64);

impl CatalogCache {
    pub(super) fn new(most: usize) -> Self {
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        Self { inner: Mutex::new(Inner { cached: LruCache::new(most), generation: 0 }) }
    }

    /// Locks the cache. A poisoned lock is no problem: each change is one call, so the cache is consistent.
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
        loaded_at: Generation,
    ) -> Arc<Catalog> {
        let catalog = Arc::new(catalog);
        let mut inner = self.lock();
        if inner.generation == loaded_at.0 {
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
