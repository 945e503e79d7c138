//! Typed caches: by key, and by the digest of a secret.

use std::{fmt, hash::Hash, sync::Arc, time::Duration};

use moka::sync::Cache;

/// The caches of one process, one for each kind of record.
///
/// They are read and filled through a [`CacheView`](crate::CacheView) only.
pub trait Caches: Send + Sync + 'static {
    /// A write that makes entries stale.
    type Change;

    /// Drops what a change makes stale.
    fn invalidate(&self, change: &Self::Change);

    /// Drops every entry of every kind.
    fn invalidate_all(&self);
}

/// Bounds of one cache.
#[derive(Debug, Clone, Copy)]
pub struct CacheBounds {
    /// Entries; at most.
    pub capacity: u64,
    /// Time after which an entry that nobody asked for is dropped.
    pub time_to_idle: Duration,
}

/// Records by key.
pub struct KeyCache<K, V>(Cache<K, V>);

impl<K, V> KeyCache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Returns an empty cache.
    #[must_use]
    pub fn new(bounds: CacheBounds) -> Self {
        Self(Cache::builder().max_capacity(bounds.capacity).time_to_idle(bounds.time_to_idle).build())
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.0.get(key)
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        self.0.insert(key, value);
    }

    /// Drops an entry.
    pub fn invalidate(&self, key: &K) {
        self.0.invalidate(key);
    }

    /// Drops every entry.
    pub fn invalidate_all(&self) {
        self.0.invalidate_all();
    }
}

/// A record that is found by its digest, with the digest it is stored under now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedRecord<D, T> {
    /// Digest of the record's secret.
    pub digest: D,
    /// The record.
    pub value: T,
}

/// Records by id, and ids by digest. What a digest leads to is compared with the record's own: a changed secret leaves an
/// old digest behind.
pub struct DigestCache<D, K, T> {
    ids: KeyCache<D, K>,
    records: KeyCache<K, Arc<CachedRecord<D, T>>>,
}

impl<D, K, T> DigestCache<D, K, T>
where
    D: Copy + Hash + Eq + Send + Sync + 'static,
    K: Copy + Hash + Eq + Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    /// Returns an empty cache.
    #[must_use]
    pub fn new(bounds: CacheBounds) -> Self {
        Self { ids: KeyCache::new(bounds), records: KeyCache::new(bounds) }
    }

    /// Returns the records by id.
    #[must_use]
    pub fn records(&self) -> &KeyCache<K, Arc<CachedRecord<D, T>>> {
        &self.records
    }

    pub(crate) fn get(&self, digest: &D) -> Option<Arc<CachedRecord<D, T>>> {
        let record = self.records.get(&self.ids.get(digest)?)?;
        (record.digest == *digest).then_some(record)
    }

    pub(crate) fn insert(&self, id: K, record: &Arc<CachedRecord<D, T>>) {
        self.ids.insert(record.digest, id);
        self.records.insert(id, Arc::clone(record));
    }

    /// Drops a record.
    pub fn invalidate(&self, id: &K) {
        self.records.invalidate(id);
    }

    /// Drops every record.
    pub fn invalidate_all(&self) {
        self.ids.invalidate_all();
        self.records.invalidate_all();
    }
}

// Entries are secrets' digests and people's data: neither is printed.
impl<K, V> fmt::Debug for KeyCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").finish_non_exhaustive()
    }
}

impl<D, K, T> fmt::Debug for DigestCache<D, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DigestCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: CacheBounds = CacheBounds { capacity: 100, time_to_idle: Duration::from_secs(600) };

    #[test]
    fn an_old_secret_leads_to_nothing_once_the_record_has_a_new_one() {
        let cache: DigestCache<[u8; 2], u8, &str> = DigestCache::new(BOUNDS);
        let record = |byte: u8| Arc::new(CachedRecord { digest: [byte; 2], value: "session" });
        cache.insert(1, &record(1));
        assert!(cache.get(&[9; 2]).is_none() && cache.get(&[1; 2]).is_some());
        cache.insert(1, &record(2));
        assert!(cache.get(&[1; 2]).is_none() && cache.get(&[2; 2]).is_some());
        cache.invalidate(&1);
        assert!(cache.get(&[2; 2]).is_none());
    }

    #[test]
    fn nothing_is_left_after_everything_was_invalidated() {
        let by_digest: DigestCache<u8, u8, ()> = DigestCache::new(BOUNDS);
        let by_key: KeyCache<u8, u8> = KeyCache::new(BOUNDS);
        by_digest.insert(1, &Arc::new(CachedRecord { digest: 1, value: () }));
        by_key.insert(1, 1);
        by_digest.invalidate_all();
        by_key.invalidate_all();
        assert_eq!((by_digest.get(&1), by_key.get(&1)), (None, None));
    }
}
