//! Places of fetches, and how strangers share them.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{AcquireError, Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::sleep,
};

/// Maximum number of concurrent fetches, so that nobody can use this server to attack another.
const MAX_CONCURRENT_FETCHES: usize = 16;
/// Of these, for one network that asks and for one host that is asked, so that nobody keeps others waiting.
const MAX_FETCHES_OF_ONE: usize = 2;
/// Time after which a fetch gives up its place if another waits for one. Somebody with many networks could otherwise hold all
/// places with hosts that respond slowly.
pub(super) const UNDISTURBED: Duration = Duration::from_secs(1);
/// Entries of a share table above which those are dropped that nobody uses.
const MAX_IDLE_SHARES: usize = 256;

/// The places of fetches.
pub(super) struct Places {
    permits: Semaphore,
    queue: Mutex<Queue>,
    changed: Notify,
    networks: Shares<Option<IpAddr>>,
    hosts: Shares<String>,
}

/// The fetches that wait for a place, and those that gave way to them and have not left yet.
#[derive(Default)]
struct Queue {
    waiting: usize,
    given_way: usize,
}

/// The right to fetch one document.
pub(super) struct Place<'p> {
    _network: OwnedSemaphorePermit,
    _host: OwnedSemaphorePermit,
    _permit: SemaphorePermit<'p>,
}

/// A fetch that waits for a place. When it has one, another one that gave way did so for it.
struct Waiting<'p> {
    places: &'p Places,
    has_place: bool,
}

impl<'p> Waiting<'p> {
    fn start(places: &'p Places) -> Self {
        places.queue().waiting += 1;
        places.changed.notify_waiters();
        Self { places, has_place: false }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut queue = self.places.queue();
        queue.waiting = queue.waiting.saturating_sub(1);
        let left = if self.has_place { queue.given_way.saturating_sub(1) } else { queue.given_way };
        queue.given_way = left.min(queue.waiting);
    }
}

/// Limits of concurrent fetches, by what they have in common.
struct Shares<K>(Mutex<HashMap<K, Weak<Semaphore>>>);

impl<K: Eq + Hash> Shares<K> {
    fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    async fn acquire(&self, key: K) -> Result<OwnedSemaphorePermit, AcquireError> {
        let share = {
            let mut shares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if shares.len() >= MAX_IDLE_SHARES {
                shares.retain(|_, share| share.strong_count() > 0);
            }
            let used = shares.get(&key).and_then(Weak::upgrade);
            used.unwrap_or_else(|| {
                let share = Arc::new(Semaphore::new(MAX_FETCHES_OF_ONE));
                shares.insert(key, Arc::downgrade(&share));
                share
            })
        };
        share.acquire_owned().await
    }
}

impl Places {
    pub(super) fn new() -> Self {
        Self {
            permits: Semaphore::new(MAX_CONCURRENT_FETCHES),
            queue: Mutex::default(),
            changed: Notify::new(),
            networks: Shares::new(),
            hosts: Shares::new(),
        }
    }

    /// Waits for a place: behind others of the same network, of the same host, and then of all.
    pub(super) async fn acquire(
        &self,
        network: Option<IpAddr>,
        host: &str,
    ) -> Result<Place<'_>, AcquireError> {
        let network = self.networks.acquire(network).await?;
        let host = self.hosts.acquire(host.to_owned()).await?;
        let permit = match self.permits.try_acquire() {
            Ok(permit) => permit,
            Err(_) => {
                let mut waiting = Waiting::start(self);
                let permit = self.permits.acquire().await?;
                waiting.has_place = true;
                permit
            }
        };
        Ok(Place { _network: network, _host: host, _permit: permit })
    }

    /// Waits until a fetch that begins now has to give up its place: not before it had a second, and only if another fetch
    /// waits that no other has given way to.
    pub(super) async fn disturbed(&self) {
        sleep(UNDISTURBED).await;
        loop {
            let changed = self.changed.notified();
            if self.give_way() {
                return;
            }
            changed.await;
        }
    }

    fn give_way(&self) -> bool {
        let mut queue = self.queue();
        let is_wanted = queue.waiting > queue.given_way;
        queue.given_way += usize::from(is_wanted);
        is_wanted
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
