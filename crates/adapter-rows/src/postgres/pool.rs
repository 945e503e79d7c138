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

use super::{PgOptions, execute::to_store_error};
use crate::statement_time::StatementTimeTracker;

/// A connection that was not used for so long is asked for a sign of life first.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// The most projects whose places are remembered.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// Statements that take less are not counted as long; some of their time is the network's.
const MIN_LONG_STATEMENT: Duration = Duration::from_millis(50);

/// A clone is the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    wait_limit: Duration,
    lifetime: Duration,
    permits: Semaphore,
    /// The places of each project, which are half of all.
    project_permits: Mutex<LruCache<ProjectId, ProjectSemaphores>>,
    permits_per_project: usize,
    usage: Mutex<StatementTimeTracker<ProjectId>>,
    /// The one used last at the end.
    idle: Mutex<Vec<Idle>>,
}

/// The places of a project.
#[derive(Clone)]
struct ProjectSemaphores {
    all: Arc<Semaphore>,
    /// The one that it has while its statements take long.
    long: Arc<Semaphore>,
}

/// The places that a request of a project holds. Dropping them counts the time.
struct ProjectPermit<'p> {
    pool: &'p Inner,
    project: ProjectId,
    /// The time at which it got a connection.
    started_at: Option<Instant>,
    _all: OwnedSemaphorePermit,
    _long: Option<OwnedSemaphorePermit>,
}

impl Drop for ProjectPermit<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.started_at {
            let now = Instant::now();
            self.pool.usage().add(&self.project, now.saturating_duration_since(begun), now);
        }
    }
}

impl ProjectPermit<'_> {
    fn start_clock(mut self) -> Self {
        self.started_at = Some(Instant::now());
        self
    }
}

struct Idle {
    connection: PgConnection,
    opened: Instant,
    last_used: Instant,
}

/// A connection on loan. Where it is dropped without [`settle`](Self::settle), as when nobody waits for its answer any
/// more, it is closed: nobody can say what it still has to read.
pub(super) struct PooledConnection<'p> {
    pub(super) connection: PgConnection,
    opened: Instant,
    pool: &'p Inner,
    _permit: SemaphorePermit<'p>,
    _project_permit: Option<ProjectPermit<'p>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("places", &self.0.permits).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(connect: PgConnectOptions, options: &PgOptions) -> Self {
        let places = usize::try_from(options.max_connections).unwrap_or(Semaphore::MAX_PERMITS);
        Self(Arc::new(Inner {
            options: connect,
            wait_limit: options.acquire_timeout,
            lifetime: options.max_lifetime,
            permits: Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)),
            project_permits: Mutex::new(LruCache::new(MAX_PROJECTS)),
            permits_per_project: (places / 2).clamp(1, Semaphore::MAX_PERMITS),
            usage: Mutex::new(StatementTimeTracker::new(MIN_LONG_STATEMENT)),
            idle: Mutex::default(),
        }))
    }

    /// Waits for a connection, and opens one where there is none. Half of them are lent for one project at a time, and
    /// one while its statements take long.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when none is free in time, or the server does not answer.
    pub(super) async fn acquire(
        &self,
        project: Option<&ProjectId>,
    ) -> Result<PooledConnection<'_>, StoreError> {
        let taken = time::timeout(self.0.wait_limit, self.0.acquire(project)).await;
        taken.unwrap_or_else(|_| Err(to_store_error(sqlx::Error::PoolTimedOut)))
    }

    /// Lends no more connections, and closes those that are idle.
    pub(super) async fn close(&self) {
        self.0.permits.close();
        let idle = std::mem::take(&mut *self.0.lock_idle());
        for Idle { connection, .. } in idle {
            // Whether it says goodbye in order is of no matter.
            let _ = connection.close().await;
        }
    }
}

impl Inner {
    /// A panic elsewhere leaves a list that is still whole: each change is one call.
    fn lock_idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn semaphores_of(&self, project: &ProjectId) -> ProjectSemaphores {
        let mut shares = self.project_permits.lock().unwrap_or_else(PoisonError::into_inner);
        let places = |count| Arc::new(Semaphore::new(count));
        let share = || ProjectSemaphores { all: places(self.permits_per_project), long: places(1) };
        shares.get_or_insert_ref(project, share).clone()
    }

    fn usage(&self) -> MutexGuard<'_, StatementTimeTracker<ProjectId>> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place of the project.
    async fn acquire_project_permit(&self, project: &ProjectId) -> Result<ProjectPermit<'_>, StoreError> {
        let ProjectSemaphores { all, long } = self.semaphores_of(project);
        let take = async |places: Arc<Semaphore>| {
            places.acquire_owned().await.map_err(|_| to_store_error(sqlx::Error::PoolClosed))
        };
        let _all = take(all).await?;
        // Asked now: what waited above may have become too many in the meantime.
        let over = self.usage().is_over_share(project, Instant::now());
        let _long = if over { Some(take(long).await?) } else { None };
        Ok(ProjectPermit { pool: self, project: project.clone(), started_at: None, _all, _long })
    }

    async fn acquire(&self, project: Option<&ProjectId>) -> Result<PooledConnection<'_>, StoreError> {
        // First the project's own place: who waits for that stands in nobody's way.
        let share = match project {
            Some(project) => Some(self.acquire_project_permit(project).await?),
            None => None,
        };
        let place = self.permits.acquire().await.map_err(|_| to_store_error(sqlx::Error::PoolClosed))?;
        let pooled = |connection, opened| {
            let _share = share.map(ProjectPermit::start_clock);
            PooledConnection { connection, opened, pool: self, _permit: place, _project_permit: _share }
        };
        loop {
            let idle = self.lock_idle().pop();
            let Some(Idle { mut connection, opened, last_used: used }) = idle else { break };
            if opened.elapsed() > self.lifetime {
                continue;
            }
            if used.elapsed() < PING_AFTER_IDLE || connection.ping().await.is_ok() {
                return Ok(pooled(connection, opened));
            }
        }
        let connection = PgConnection::connect_with(&self.options).await.map_err(to_store_error)?;
        Ok(pooled(connection, Instant::now()))
    }
}

impl PooledConnection<'_> {
    /// Gives the connection back, if what was done with it leaves it in order.
    pub(super) async fn release<T>(mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let in_order = match &done {
            Ok(_) => true,
            Err(StoreError::Unavailable(_)) => false,
            // Some of the answer may not have been read; a sign of life comes after all of it.
            Err(_) => self.connection.ping().await.is_ok(),
        };
        if in_order {
            let Self { connection, opened, pool, _project_permit: _share, _permit: _place } = self;
            if !pool.permits.is_closed() {
                pool.lock_idle().push(Idle { connection, opened, last_used: Instant::now() });
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
        let options = PgOptions { max_connections: 4, ..PgOptions::new("postgres://localhost") };
        let pool = Pool::new(PgConnectOptions::new(), &options).0;
        let (loud, quiet): (ProjectId, ProjectId) = ("loud".parse().unwrap(), "quiet".parse().unwrap());
        drop((
            pool.acquire_project_permit(&loud).await.unwrap(),
            pool.acquire_project_permit(&loud).await.unwrap(),
        ));
        pool.usage().add(&loud, Duration::from_secs(5), Instant::now());
        let one = pool.acquire_project_permit(&loud).await.unwrap();
        let mut next = std::pin::pin!(pool.acquire_project_permit(&loud));
        assert!(poll!(&mut next).is_pending(), "a second one at once");
        drop((
            pool.acquire_project_permit(&quiet).await.unwrap(),
            pool.acquire_project_permit(&quiet).await.unwrap(),
        ));
        drop(one);
        assert!(poll!(&mut next).is_ready(), "the first one's place was given back");
    }

    #[tokio::test]
    async fn time_counts_from_the_connection_on() {
        let pool = Pool::new(PgConnectOptions::new(), &PgOptions::new("postgres://localhost")).0;
        let project: ProjectId = "waits".parse().unwrap();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        drop(pool.acquire_project_permit(&project).await.unwrap());
        assert!(!pool.usage().is_over_share(&project, Instant::now()));
        let mut place = pool.acquire_project_permit(&project).await.unwrap().start_clock();
        place.started_at = Some(long_ago);
        drop(place);
        assert!(pool.usage().is_over_share(&project, Instant::now()));
    }
}
