//! Cost of a lookup, which every request makes several times.
//!
//! `cargo bench -p caller-cache`. Prints medians; there are no thresholds, since they would measure the machine.

#![allow(
    clippy::allow_attributes,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints what it measured, and stops at any error"
)]

use std::{
    convert::Infallible,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use caller_cache::{
    CacheBounds, CachedRecord, Caches, CallerCache, ChangeSource, DigestCache, KeyCache, RecordedChange,
};

const ROUNDS: usize = 21;
const LOOKUPS: u64 = 20_000;
const ENTRIES: u64 = 10_000;
const BOUNDS: CacheBounds = CacheBounds { capacity: 20_000, time_to_idle: Duration::from_secs(600) };

struct Records {
    members: KeyCache<u64, u64>,
    tokens: DigestCache<[u8; 32], u64, u64>,
}

impl Caches for Records {
    type Change = u64;

    fn invalidate(&self, key: &u64) {
        self.members.invalidate(key);
    }

    fn invalidate_all(&self) {
        self.members.invalidate_all();
        self.tokens.invalidate_all();
    }
}

/// Nobody else changes anything.
struct NoChanges;

impl ChangeSource for NoChanges {
    type Change = u64;
    type Error = Infallible;

    const LOOKBACK: Duration = Duration::from_secs(60);

    async fn recent_changes(&self) -> Result<Vec<RecordedChange<u64>>, Infallible> {
        Ok(Vec::new())
    }
}

type Cache = Arc<CallerCache<Records, NoChanges>>;

fn digest(number: u64) -> [u8; 32] {
    let mut digest = [7; 32];
    digest[..8].copy_from_slice(&number.to_le_bytes());
    digest
}

async fn fill(cache: &Cache) {
    let view = cache.view().await;
    for number in 0..ENTRIES {
        view.insert(|all| &all.members, number, number);
        let record = Arc::new(CachedRecord { digest: digest(number), value: number });
        view.insert_record(|all| &all.tokens, number, &record);
    }
}

async fn measure(name: &str, cache: &Cache, operation: impl AsyncFn(&Cache, u64)) {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for number in 0..LOOKUPS {
            operation(cache, number % ENTRIES).await;
        }
        times.push(begin.elapsed() / LOOKUPS as u32);
    }
    times.sort_unstable();
    println!("{name}: {:?}", times[ROUNDS / 2]);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let records = Records { members: KeyCache::new(BOUNDS), tokens: DigestCache::new(BOUNDS) };
    let cache = Arc::new(CallerCache::new(records, NoChanges));
    runtime.block_on(async {
        fill(&cache).await;
        measure("a view", &cache, async |cache, _| {
            black_box(&cache.view().await);
        })
        .await;
        let by_key = async |cache: &Cache, number| {
            black_box(cache.view().await.get(|all| &all.members, &number));
        };
        measure("a view and a record by key", &cache, by_key).await;
        let by_digest = async |cache: &Cache, number| {
            black_box(cache.view().await.get_by_digest(|all| &all.tokens, [digest(number)]));
        };
        measure("a view and a record by digest", &cache, by_digest).await;
        let again = async |cache: &Cache, number| {
            cache.invalidate([number]);
            cache.view().await.insert(|all| &all.members, number, number);
        };
        measure("a change and a record that is read again", &cache, again).await;
    });
}
