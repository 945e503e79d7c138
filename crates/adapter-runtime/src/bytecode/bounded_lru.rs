//! A map of recently used values with limits in bytes, for each workspace and in all.

use std::{
    collections::{BTreeSet, HashMap},
    hash::RandomState,
};

use kernel::id::WorkspaceId;
use lru::LruCache;
use runs::engine::BundleDigest;

use super::BytecodeKey;

/// Bytes that count for a value beside its own.
const ENTRY_OVERHEAD: usize = 512;

/// Limits in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteLimits {
    /// Of the values of one workspace.
    pub(super) workspace: usize,
    /// Of all values.
    pub(super) total: usize,
}

/// Values by workspace and digest. The least recently used ones give way: within a workspace that is over its limit, and
/// otherwise those of the workspace with the most bytes.
pub(super) struct BoundedLru<V> {
    limits: ByteLimits,
    workspaces: HashMap<WorkspaceId, WorkspaceValues<V>>,
    /// Workspaces by their bytes.
    by_bytes: BTreeSet<(usize, WorkspaceId)>,
    total: usize,
}

struct WorkspaceValues<V> {
    bytes: usize,
    /// Values with their bytes.
    values: LruCache<BundleDigest, (usize, V), RandomState>,
}

impl<V> BoundedLru<V> {
    pub(super) fn new(limits: ByteLimits) -> Self {
        Self { limits, workspaces: HashMap::new(), by_bytes: BTreeSet::new(), total: 0 }
    }

    /// Returns a value, and makes it the most recently used one.
    pub(super) fn get(&mut self, key: &BytecodeKey) -> Option<&V> {
        let own = self.workspaces.get_mut(&key.workspace)?;
        own.values.get(&key.digest).map(|(_, value)| value)
    }

    /// Adds or replaces a value, and returns the keys of those that gave way: of the new one if it is larger than a workspace's
    /// limit.
    pub(super) fn insert(&mut self, key: BytecodeKey, bytes: usize, value: V) -> Vec<BytecodeKey> {
        self.remove(&key);
        let bytes = bytes.saturating_add(ENTRY_OVERHEAD);
        if bytes > self.limits.workspace.min(self.limits.total) {
            return vec![key];
        }
        let empty =
            || WorkspaceValues { bytes: 0, values: LruCache::unbounded_with_hasher(RandomState::new()) };
        let own = self.workspaces.entry(key.workspace).or_insert_with(empty);
        own.values.put(key.digest, (bytes, value));
        self.resize(key.workspace, |own| own + bytes);
        let mut evicted = Vec::new();
        while self.bytes_of(key.workspace) > self.limits.workspace {
            evicted.extend(self.evict_oldest(key.workspace));
        }
        while self.total > self.limits.total
            && let Some((_, largest)) = self.by_bytes.last().copied()
        {
            evicted.extend(self.evict_oldest(largest));
        }
        evicted
    }

    /// Removes a value.
    pub(super) fn remove(&mut self, key: &BytecodeKey) -> Option<V> {
        let (bytes, value) = self.workspaces.get_mut(&key.workspace)?.values.pop(&key.digest)?;
        self.resize(key.workspace, |own| own - bytes);
        Some(value)
    }

    fn evict_oldest(&mut self, workspace: WorkspaceId) -> Option<BytecodeKey> {
        let (digest, (bytes, _)) = self.workspaces.get_mut(&workspace)?.values.pop_lru()?;
        self.resize(workspace, |own| own - bytes);
        Some(BytecodeKey { workspace, digest })
    }

    fn bytes_of(&self, workspace: WorkspaceId) -> usize {
        self.workspaces.get(&workspace).map_or(0, |own| own.bytes)
    }

    /// Sets the bytes of a workspace, and removes one that has no values.
    fn resize(&mut self, workspace: WorkspaceId, new_bytes: impl FnOnce(usize) -> usize) {
        let Some(own) = self.workspaces.get_mut(&workspace) else { return };
        self.by_bytes.remove(&(own.bytes, workspace));
        self.total -= own.bytes;
        own.bytes = new_bytes(own.bytes);
        self.total += own.bytes;
        if own.values.is_empty() {
            self.workspaces.remove(&workspace);
        } else {
            self.by_bytes.insert((own.bytes, workspace));
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    const LIMITS: ByteLimits =
        ByteLimits { workspace: 3 * (100 + ENTRY_OVERHEAD), total: 5 * (100 + ENTRY_OVERHEAD) };

    fn key(workspace: u128, digest: u8) -> BytecodeKey {
        BytecodeKey { workspace: Id::from_uuid(Uuid::from_u128(workspace)), digest: [digest; 32] }
    }

    fn add(lru: &mut BoundedLru<u8>, key: BytecodeKey) -> Vec<BytecodeKey> {
        lru.insert(key, 100, key.digest[0])
    }

    /// Asserts that the sums are those of the values.
    fn assert_consistent(lru: &BoundedLru<u8>) {
        let mut total = 0;
        for (workspace, own) in &lru.workspaces {
            assert_eq!(own.bytes, own.values.iter().map(|(_, (bytes, _))| bytes).sum::<usize>());
            assert!(own.bytes <= lru.limits.workspace && lru.by_bytes.contains(&(own.bytes, *workspace)));
            total += own.bytes;
        }
        assert_eq!((lru.total, lru.by_bytes.len()), (total, lru.workspaces.len()));
        assert!(total <= lru.limits.total);
    }

    #[test]
    fn a_workspace_over_its_limit_loses_what_it_used_longest_ago() {
        let mut lru = BoundedLru::new(LIMITS);
        for digest in 1..=3 {
            assert_eq!(add(&mut lru, key(1, digest)), []);
        }
        add(&mut lru, key(2, 9));
        assert_eq!(lru.get(&key(1, 1)), Some(&1));
        assert_eq!(add(&mut lru, key(1, 4)), [key(1, 2)]);
        assert_eq!(lru.get(&key(1, 2)), None);
        assert_eq!(lru.get(&key(2, 9)), Some(&9), "others lose nothing");
        assert_consistent(&lru);
    }

    #[test]
    fn a_full_map_takes_from_the_workspace_with_the_most() {
        let mut lru = BoundedLru::new(LIMITS);
        add(&mut lru, key(2, 1));
        for digest in 1..=3 {
            add(&mut lru, key(1, digest));
        }
        add(&mut lru, key(3, 1));
        assert_eq!(add(&mut lru, key(4, 1)), [key(1, 1)], "though workspace 2 was used longer ago");
        assert_consistent(&lru);
    }

    #[test]
    fn a_value_is_replaced_and_one_that_is_too_large_is_not_kept() {
        let mut lru = BoundedLru::new(LIMITS);
        add(&mut lru, key(1, 1));
        assert_eq!(lru.insert(key(1, 1), 50, 7), []);
        assert_eq!(lru.get(&key(1, 1)), Some(&7));
        assert_eq!(lru.insert(key(1, 1), LIMITS.workspace, 8), [key(1, 1)]);
        assert_eq!(lru.get(&key(1, 1)), None);
        assert_eq!(lru.remove(&key(1, 1)), None);
        assert_consistent(&lru);
        assert_eq!(lru.total, 0);
    }

    #[test]
    fn sums_are_right_after_any_sequence() {
        let mut lru = BoundedLru::new(LIMITS);
        // A linear congruential generator, so that each run is the same.
        let mut state = 1_u64;
        for _ in 0..5_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [kind, workspace, digest, size, ..] = (state >> 16).to_le_bytes();
            let key = key(u128::from(workspace % 7), digest % 9);
            match kind % 4 {
                0 => drop(lru.remove(&key)),
                1 => drop(lru.get(&key).copied()),
                _ => drop(lru.insert(key, usize::from(size) * 8, digest)),
            }
            assert_consistent(&lru);
        }
    }
}
