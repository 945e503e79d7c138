//! Places of fetches, and how strangers share them.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::sleep,
};

/// Maximum number of concurrent fetches, so that nobody can use this server to attack another.
const MAX_CONCURRENT_FETCHES: usize = 16;
/// Of these, for one network that asks and for one host that is asked, so that nobody keeps others waiting.
const MAX_FETCHES_OF_ONE: usize = 2;
/// Time after which a fetch gives up its place if another waits for one. Somebody with many networks could otherwise hold all
/// places with hosts that respond slowly.
const UNDISTURBED: Duration = Duration::from_secs(1);
/// Entries of a share table above which those are dropped that nobody uses.
const MAX_IDLE_SHARES: usize = 256;

/// The places of fetches.
pub(super) struct Places {
    permits: Semaphore,
    /// Fetches that wait for a place.
    waiting: AtomicUsize,
    /// One for each of them that no other fetch has given way to yet.
    pressure: Semaphore,
    networks: Shares<Option<IpAddr>>,
    hosts: Shares<String>,
}

/// The right to fetch one document.
pub(super) struct Place<'p> {
    _network: OwnedSemaphorePermit,
    _host: OwnedSemaphorePermit,
    _permit: SemaphorePermit<'p>,
}

/// A fetch that waits for a place. When it waits no more, there is no more pressure than others cause.
struct Waiting<'p>(&'p Places);

impl<'p> Waiting<'p> {
    fn start(places: &'p Places) -> Self {
        places.waiting.fetch_add(1, Ordering::Relaxed);
        places.pressure.add_permits(1);
        Self(places)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Places { waiting, pressure, .. } = self.0;
        let others = waiting.fetch_sub(1, Ordering::Relaxed).saturating_sub(1);
        if pressure.available_permits() > others
            && let Ok(permit) = pressure.try_acquire()
        {
            permit.forget();
        }
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
            waiting: AtomicUsize::new(0),
            pressure: Semaphore::new(0),
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
                let _waiting = Waiting::start(self);
                self.permits.acquire().await?
            }
        };
        Ok(Place { _network: network, _host: host, _permit: permit })
    }

    /// Waits until a fetch that begins now has to give up its place: not before it had a second, and only if another fetch
    /// waits.
    pub(super) async fn disturbed(&self) {
        sleep(UNDISTURBED).await;
        if let Ok(pressure) = self.pressure.acquire().await {
            pressure.forget();
        }
    }
}
