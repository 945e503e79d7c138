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
use crate::statement_time::StatementTime;

/// A connection that was not used for so long is asked for a sign of life first.
const DOUBTFUL: Duration = Duration::from_secs(1);

/// The most projects whose places are remembered.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// Statements that take less are not counted as long; some of their time is the network's.
const SHORT: Duration = Duration::from_millis(50);

/// A clone is the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    wait_limit: Duration,
    lifetime: Duration,
    places: Semaphore,
    /// The places of each project, which are half of all.
    shares: Mutex<LruCache<ProjectId, Share>>,
    share: usize,
    used: Mutex<StatementTime<ProjectId>>,
    /// The one used last at the end.
    idle: Mutex<Vec<Idle>>,
}

/// The places of a project.
#[derive(Clone)]
struct Share {
    all: Arc<Semaphore>,
    /// The one that it has while its statements take long.
    long: Arc<Semaphore>,
}

/// The places that a request of a project holds. Dropping them counts the time.
struct Place<'p> {
    pool: &'p Inner,
    project: ProjectId,
    /// The time at which it got a connection.
    begun: Option<Instant>,
    _all: OwnedSemaphorePermit,
    _long: Option<OwnedSemaphorePermit>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            let now = Instant::now();
            self.pool.used().add(&self.project, now.saturating_duration_since(begun), now);
        }
    }
}

impl Place<'_> {
    fn begin(mut self) -> Self {
        self.begun = Some(Instant::now());
        self
    }
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
    _share: Option<Place<'p>>,
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
            used: Mutex::new(StatementTime::new(SHORT)),
            idle: Mutex::default(),
        }))
    }

    /// Waits for a connection, and opens one where there is none. Half of them are lent for one project at a time, and
    /// one while its statements take long.
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

    fn share_of(&self, project: &ProjectId) -> Share {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let places = |count| Arc::new(Semaphore::new(count));
        let share = || Share { all: places(self.share), long: places(1) };
        shares.get_or_insert_ref(project, share).clone()
    }

    fn used(&self) -> MutexGuard<'_, StatementTime<ProjectId>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place of the project.
    async fn place(&self, project: &ProjectId) -> Result<Place<'_>, StoreError> {
        let Share { all, long } = self.share_of(project);
        let take = async |places: Arc<Semaphore>| {
            places.acquire_owned().await.map_err(|_| failed(sqlx::Error::PoolClosed))
        };
        let _all = take(all).await?;
        // Asked now: what waited above may have become too many in the meantime.
        let over = self.used().is_over_share(project, Instant::now());
        let _long = if over { Some(take(long).await?) } else { None };
        Ok(Place { pool: self, project: project.clone(), begun: None, _all, _long })
    }

    async fn take(&self, project: Option<&ProjectId>) -> Result<Lent<'_>, StoreError> {
        // First the project's own place: who waits for that stands in nobody's way.
        let share = match project {
            Some(project) => Some(self.place(project).await?),
            None => None,
        };
        let place = self.places.acquire().await.map_err(|_| failed(sqlx::Error::PoolClosed))?;
        let lent = |connection, opened| {
            let _share = share.map(Place::begin);
            Lent { connection, opened, pool: self, _place: place, _share }
        };
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
            let Self { connection, opened, pool, _share, _place } = self;
            if !pool.places.is_closed() {
                pool.lock().push(Idle { connection, opened, used: Instant::now() });
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn a_project_whose_statements_take_long_has_one_connection() {
        let options = PgOptions { connections: 4, ..PgOptions::new("postgres://localhost") };
        let pool = Pool::new(PgConnectOptions::new(), &options).0;
        let (loud, quiet): (ProjectId, ProjectId) = ("loud".parse().unwrap(), "quiet".parse().unwrap());
        drop((pool.place(&loud).await.unwrap(), pool.place(&loud).await.unwrap()));
        pool.used().add(&loud, Duration::from_secs(5), Instant::now());
        let one = pool.place(&loud).await.unwrap();
        let mut next = std::pin::pin!(pool.place(&loud));
        assert!(poll!(&mut next).is_pending(), "a second one at once");
        drop((pool.place(&quiet).await.unwrap(), pool.place(&quiet).await.unwrap()));
        drop(one);
        assert!(poll!(&mut next).is_ready(), "the first one's place was given back");
    }

    #[tokio::test]
    async fn time_counts_from_the_connection_on() {
        let pool = Pool::new(PgConnectOptions::new(), &PgOptions::new("postgres://localhost")).0;
        let project: ProjectId = "waits".parse().unwrap();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        drop(pool.place(&project).await.unwrap());
        assert!(!pool.used().is_over_share(&project, Instant::now()));
        let mut place = pool.place(&project).await.unwrap().begin();
        place.begun = Some(long_ago);
        drop(place);
        assert!(pool.used().is_over_share(&project, Instant::now()));
    }
}
