//! A reading of the caches.

use std::{fmt, hash::Hash, sync::Arc};

use crate::caches::{CachedRecord, Caches, DigestCache, KeyCache};
use crate::invalidations::Invalidations;

/// A reading of the caches. What is read from the database meanwhile is kept, unless something was invalidated since.
pub struct CacheView<'a, C> {
    pub(crate) caches: &'a C,
    pub(crate) invalidations: &'a Invalidations,
    /// Count when the view began.
    pub(crate) count_before: u64,
    /// True if the caches may be read and written.
    pub(crate) is_fresh: bool,
}

impl<C: Caches> CacheView<'_, C> {
    /// Returns a record by its key.
    pub fn get<K, V>(&self, kind: impl Fn(&C) -> &KeyCache<K, V>, key: &K) -> Option<V>
    where
        K: Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.is_fresh.then(|| kind(self.caches).get(key)).flatten()
    }

    /// Keeps a record that was read since the view began.
    pub fn insert<K, V>(&self, kind: impl Fn(&C) -> &KeyCache<K, V>, key: K, value: V)
    where
        K: Copy + Hash + Eq + Send + Sync + 'static,
        V: Clone + Send + Sync + 'static,
    {
        self.insert_unless_invalidated(
            |caches| kind(caches).insert(key, value),
            |caches| kind(caches).invalidate(&key),
        );
    }

    /// Returns the record that one of these digests leads to.
    pub fn get_by_digest<D, K, T>(
        &self,
        kind: impl Fn(&C) -> &DigestCache<D, K, T>,
        digests: impl IntoIterator<Item = D>,
    ) -> Option<Arc<CachedRecord<D, T>>>
    where
        D: Copy + Hash + Eq + Send + Sync + 'static,
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        if !self.is_fresh {
            return None;
        }
        let cache = kind(self.caches);
        digests.into_iter().find_map(|digest| cache.get(&digest))
    }

    /// Keeps a record that was read by its digest since the view began.
    pub fn insert_record<D, K, T>(
        &self,
        kind: impl Fn(&C) -> &DigestCache<D, K, T>,
        id: K,
        record: &Arc<CachedRecord<D, T>>,
    ) where
        D: Copy + Hash + Eq + Send + Sync + 'static,
        K: Copy + Hash + Eq + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        self.insert_unless_invalidated(
            |caches| kind(caches).insert(id, record),
            |caches| kind(caches).invalidate(&id),
        );
    }

    fn insert_unless_invalidated(&self, insert: impl FnOnce(&C), undo: impl FnOnce(&C)) {
        if !self.is_fresh {
            return;
        }
        insert(self.caches);
        if self.invalidations.count() != self.count_before {
            undo(self.caches);
        }
    }
}

impl<C> fmt::Debug for CacheView<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheView").field("is_fresh", &self.is_fresh).finish_non_exhaustive()
    }
}
