//! Connections, each lent to one request at a time.
//!
//! sqlx has a pool too. It asks the server for a sign of life before every use and after it, which makes three round
//! trips of the one a read needs.

use std::{
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::{ProjectId, StoreError};
use lru::LruCache;
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time,
};

use super::{PgOptions, run::failed};

/// A connection that was not used for so long is asked for a sign of life first.
const DOUBTFUL: Duration = Duration::from_secs(1);

/// The most projects whose places are remembered.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// A clone is the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    wait_limit: Duration,
    lifetime: Duration,
    places: Semaphore,
    /// The places of each project, which are half of all.
    shares: Mutex<LruCache<ProjectId, Arc<Semaphore>>>,
    share: usize,
    /// The one used last at the end.
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: PgConnection,
    opened: Instant,
    used: Instant,
}

/// A connection on loan. Where it is dropped without [`settle`](Self::settle), as when nobody waits for its answer any
/// more, it is closed: nobody can say what it still has to read.
pub(super) struct Lent<'p> {
    pub(super) connection: PgConnection,
    opened: Instant,
    pool: &'p Inner,
    _place: SemaphorePermit<'p>,
    _share: Option<OwnedSemaphorePermit>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("places", &self.0.places).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(connect: PgConnectOptions, options: &PgOptions) -> Self {
        let places = usize::try_from(options.connections).unwrap_or(Semaphore::MAX_PERMITS);
        Self(Arc::new(Inner {
            options: connect,
            wait_limit: options.wait_limit,
            lifetime: options.lifetime,
            places: Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)),
            shares: Mutex::new(LruCache::new(MAX_PROJECTS)),
            share: (places / 2).clamp(1, Semaphore::MAX_PERMITS),
            idle: Mutex::default(),
        }))
    }

    /// Waits for a connection, and opens one where there is none. Half of them are lent for one project at a time.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none is free in time, or the server does not answer.
    pub(super) async fn take(&self, project: Option<&ProjectId>) -> Result<Lent<'_>, StoreError> {
        let taken = time::timeout(self.0.wait_limit, self.0.take(project)).await;
        taken.unwrap_or_else(|_| Err(failed(sqlx::Error::PoolTimedOut)))
    }

    /// Lends no more connections, and closes those that are idle.
    pub(super) async fn close(&self) {
        self.0.places.close();
        let idle = std::mem::take(&mut *self.0.lock());
        for Idle { connection, .. } in idle {
            // Whether it says goodbye in order is of no matter.
            let _ = connection.close().await;
        }
    }
}

impl Inner {
    /// A panic elsewhere leaves a list that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share_of(&self, project: &ProjectId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(project) {
            return Arc::clone(share);
        }
        let share = Arc::new(Semaphore::new(self.share));
        shares.put(project.clone(), Arc::clone(&share));
        share
    }

    async fn take(&self, project: Option<&ProjectId>) -> Result<Lent<'_>, StoreError> {
        // First the project's own place: who waits for that stands in nobody's way.
        let share = match project.map(|project| self.share_of(project)) {
            Some(share) => Some(share.acquire_owned().await.map_err(|_| failed(sqlx::Error::PoolClosed))?),
            None => None,
        };
        let place = self.places.acquire().await.map_err(|_| failed(sqlx::Error::PoolClosed))?;
        let lent = |connection, opened| Lent { connection, opened, pool: self, _place: place, _share: share };
        loop {
            let idle = self.lock().pop();
            let Some(Idle { mut connection, opened, used }) = idle else { break };
            if opened.elapsed() > self.lifetime {
                continue;
            }
            if used.elapsed() < DOUBTFUL || connection.ping().await.is_ok() {
                return Ok(lent(connection, opened));
            }
        }
        let connection = PgConnection::connect_with(&self.options).await.map_err(failed)?;
        Ok(lent(connection, Instant::now()))
    }
}

impl Lent<'_> {
    /// Gives the connection back, if what was done with it leaves it in order.
    pub(super) async fn settle<T>(mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let in_order = match &done {
            Ok(_) => true,
            Err(StoreError::Unavailable(_)) => false,
            // Some of the answer may not have been read; a sign of life comes after all of it.
            Err(_) => self.connection.ping().await.is_ok(),
        };
        if in_order {
            let Self { connection, opened, pool, _place, _share } = self;
            if !pool.places.is_closed() {
                pool.lock().push(Idle { connection, opened, used: Instant::now() });
            }
        }
        done
    }
}
