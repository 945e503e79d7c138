//! Sign-ins with other issuers that were used up.

use std::time::Duration;

use moka::sync::Cache;

/// Entries at most.
const CAPACITY: u64 = 100_000;

/// States of sign-ins that an issuer's response has decided. The browser drops their cookie; a copy of it signs in no
/// second time. The cache is of this process, as rate limits are.
pub struct AuthStateCache(Cache<String, ()>);

impl AuthStateCache {
    /// Time after which a state's cookie has expired.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// Uses up a state; `false` when it was used up before.
    #[must_use]
    pub fn consume(&self, state: &str) -> bool {
        // `or_insert` looks and then inserts, and two callers at once would both be told that theirs is fresh.
        self.0.entry_by_ref(state).or_insert_with(|| ()).is_fresh()
    }

    /// Makes a state usable again, after a sign-in that decided nothing.
    pub fn restore(&self, state: &str) {
        self.0.invalidate(state);
    }
}

impl Default for AuthStateCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(CAPACITY).time_to_live(Self::LIFETIME).build())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::AuthStateCache;

    #[test]
    fn of_many_simultaneous_callers_one_uses_a_state_up() {
        const CALLERS: usize = 8;
        let cache = AuthStateCache::default();
        for round in 0..500 {
            let state = format!("state {round}");
            let start = Barrier::new(CALLERS);
            let consumed = std::thread::scope(|scope| {
                let callers = [(); CALLERS].map(|()| {
                    scope.spawn(|| {
                        start.wait();
                        cache.consume(&state)
                    })
                });
                callers.into_iter().map(|caller| caller.join().unwrap()).filter(|consumed| *consumed).count()
            });
            assert_eq!(consumed, 1, "{state}");
        }
    }
}
