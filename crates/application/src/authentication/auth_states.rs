//! OpenID Connect sign-ins that are used up.

use std::time::Duration;

use moka::sync::Cache;

/// Maximum number of entries.
const CAPACITY: u64 = 100_000;

/// States of sign-ins that a provider's response has decided. The browser deletes their cookie; the cache ensures that
/// a copy of the cookie cannot sign in again. Like rate limits, it belongs to the process.
pub struct AuthStateCache(Cache<String, ()>);

impl AuthStateCache {
    /// Time after which the cookie of a state has expired.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// Uses up a state; returns `false` if it was used up before.
    #[must_use]
    pub fn consume(&self, state: &str) -> bool {
        // `or_insert` looks the entry up before it inserts it, so two concurrent callers would both get a fresh one.
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
    fn only_one_of_many_concurrent_callers_uses_up_a_state() {
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
