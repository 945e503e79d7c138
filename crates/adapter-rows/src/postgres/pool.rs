//! A pool of connections, fair to shares and to the projects of one share.
//!
//! The pool of sqlx pings the server before and after every use, which makes three round trips of the one that a read
//! needs.

use std::{
    collections::HashSet,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::{ProjectId, ProjectRef, StoreError};
use lru::LruCache;
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time,
};

use super::{PgOptions, error::to_store_error};
use crate::{share_key::ShareKey, statement_time::StatementTimeTracker};

/// Idle time after which a connection is pinged before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

/// Maximum number of shares, and of projects, whose permits are kept.
const MAX_TRACKED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// Time up to which a statement does not count as long. It includes that of the network.
const MIN_LONG_STATEMENT: Duration = Duration::from_millis(50);

/// A clone is the same pool.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    wait_limit: Duration,
    lifetime: Duration,
    permits: Semaphore,
    /// The permits of each share: half of all.
    share_permits: Mutex<LruCache<ShareKey, ShareSemaphores>>,
    permits_per_share: usize,
    /// The permits of each project, as many. Requests wait for those of their share in the order of arrival, so a project
    /// waits behind at most so many of another.
    project_permits: Mutex<LruCache<ProjectId, Arc<Semaphore>>>,
    /// The projects that hold their share's permit for long statements, each once.
    slow: Mutex<HashSet<ProjectId>>,
    usage: Mutex<StatementTimeTracker<ProjectRef>>,
    /// The idle connections, the most recently used one last.
    idle: Mutex<Vec<Idle>>,
}

/// The semaphores of a share.
#[derive(Clone)]
struct ShareSemaphores {
    all: Arc<Semaphore>,
    /// One permit, which requests of projects whose statements take long need in addition.
    long: Arc<Semaphore>,
}

/// Use of a connection by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Statements, whose time counts.
    Statements,
    /// An import: many statements. Each person who imports has one import at a time.
    Import,
}

/// The permits of a request of a project. Dropping them counts the time that it used a connection.
struct ProjectPermit<'p> {
    pool: &'p Inner,
    project: ProjectRef,
    work: Work,
    /// The time at which it got a connection.
    started_at: Option<Instant>,
    _permits: [OwnedSemaphorePermit; 2],
    _long: Option<OwnedSemaphorePermit>,
}

impl Drop for ProjectPermit<'_> {
    fn drop(&mut self) {
        if self._long.is_some() {
            self.pool.slow().remove(&self.project.id);
        }
        if let Some(begun) = self.started_at.filter(|_| self.work == Work::Statements) {
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

/// A connection that is in use. If it is dropped without [`release`](Self::release), because a request was canceled, it
/// is closed: results of the request may still be unread.
pub(super) struct PooledConnection<'p> {
    pub(super) connection: PgConnection,
    opened: Instant,
    pool: &'p Inner,
    _permit: SemaphorePermit<'p>,
    _project_permit: Option<ProjectPermit<'p>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("permits", &self.0.permits).finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(connect: PgConnectOptions, options: &PgOptions) -> Self {
        let permits = usize::try_from(options.max_connections).unwrap_or(Semaphore::MAX_PERMITS);
        Self(Arc::new(Inner {
            options: connect,
            wait_limit: options.acquire_timeout,
            lifetime: options.max_lifetime,
            permits: Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)),
            share_permits: Mutex::new(LruCache::new(MAX_TRACKED)),
            permits_per_share: (permits / 2).clamp(1, Semaphore::MAX_PERMITS),
            project_permits: Mutex::new(LruCache::new(MAX_TRACKED)),
            slow: Mutex::default(),
            usage: Mutex::new(StatementTimeTracker::new(MIN_LONG_STATEMENT)),
            idle: Mutex::default(),
        }))
    }

    /// Waits for a permit and returns an idle connection or a new one, for statements. A share has at most half of the
    /// connections, and its projects whose statements take long have one together.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if no connection is free in time, or the server does not respond.
    pub(super) async fn acquire(
        &self,
        project: Option<&ProjectRef>,
    ) -> Result<PooledConnection<'_>, StoreError> {
        self.acquire_for(project.map(|project| (project, Work::Statements))).await
    }

    /// As [`Self::acquire`], for an import.
    pub(super) async fn acquire_for_import(
        &self,
        project: &ProjectRef,
    ) -> Result<PooledConnection<'_>, StoreError> {
        self.acquire_for(Some((project, Work::Import))).await
    }

    async fn acquire_for(
        &self,
        project: Option<(&ProjectRef, Work)>,
    ) -> Result<PooledConnection<'_>, StoreError> {
        let taken = time::timeout(self.0.wait_limit, self.0.acquire(project)).await;
        taken.unwrap_or_else(|_| Err(to_store_error(sqlx::Error::PoolTimedOut)))
    }

    /// Lends no more connections, and closes those that are idle.
    pub(super) async fn close(&self) {
        self.0.permits.close();
        let idle = std::mem::take(&mut *self.0.lock_idle());
        for Idle { connection, .. } in idle {
            // The server notices a closed connection even without a proper end.
            let _ = connection.close().await;
        }
    }
}

impl Inner {
    /// Locks the list of idle connections. A poisoned lock is no problem: each change is one call.
    fn lock_idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn semaphores_of(&self, share: &ShareKey) -> ShareSemaphores {
        let mut shares = self.share_permits.lock().unwrap_or_else(PoisonError::into_inner);
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        let new = || ShareSemaphores { all: semaphore(self.permits_per_share), long: semaphore(1) };
        shares.get_or_insert_ref(share, new).clone()
    }

    fn semaphore_of(&self, project: &ProjectId) -> Arc<Semaphore> {
        let mut projects = self.project_permits.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get_or_insert_ref(project, || Arc::new(Semaphore::new(self.permits_per_share))).clone()
    }

    fn usage(&self) -> MutexGuard<'_, StatementTimeTracker<ProjectRef>> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slow(&self) -> MutexGuard<'_, HashSet<ProjectId>> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the project used more than its time. The time of a statement counts once it has ended; until then, what
    /// the project used before decays.
    fn is_slow(&self, project: &ProjectRef) -> bool {
        self.usage().is_over_share(project, Instant::now()) || self.slow().contains(&project.id)
    }

    /// Waits for the permits of the project and its share.
    async fn acquire_project_permit(
        &self,
        project: &ProjectRef,
        work: Work,
    ) -> Result<ProjectPermit<'_>, StoreError> {
        let ShareSemaphores { all, long } = self.semaphores_of(&ShareKey::from(project));
        let take = async |semaphore: Arc<Semaphore>| {
            semaphore.acquire_owned().await.map_err(|_| to_store_error(sqlx::Error::PoolClosed))
        };
        let of_project = take(self.semaphore_of(&project.id)).await?;
        // Checked after the wait, during which the project may have used up its time; and before that for the share's
        // permits, so that none of them is held while others of the share could use it.
        let is_slow = work == Work::Statements && self.is_slow(project);
        let _long = if is_slow { Some(take(long).await?) } else { None };
        let _permits = [of_project, take(all).await?];
        if is_slow {
            self.slow().insert(project.id.clone());
        }
        Ok(ProjectPermit { pool: self, project: project.clone(), work, started_at: None, _permits, _long })
    }

    async fn acquire(
        &self,
        project: Option<(&ProjectRef, Work)>,
    ) -> Result<PooledConnection<'_>, StoreError> {
        // The project's permit comes first: a request that waits for it holds no permit that others need.
        let project_permit = match project {
            Some((project, work)) => Some(self.acquire_project_permit(project, work).await?),
            None => None,
        };
        let permit = self.permits.acquire().await.map_err(|_| to_store_error(sqlx::Error::PoolClosed))?;
        let pooled = |connection, opened| PooledConnection {
            connection,
            opened,
            pool: self,
            _permit: permit,
            _project_permit: project_permit.map(ProjectPermit::start_clock),
        };
        loop {
            let idle = self.lock_idle().pop();
            let Some(Idle { mut connection, opened, last_used }) = idle else { break };
            if opened.elapsed() > self.lifetime {
                continue;
            }
            if last_used.elapsed() < PING_AFTER_IDLE || connection.ping().await.is_ok() {
                return Ok(pooled(connection, opened));
            }
        }
        let connection = PgConnection::connect_with(&self.options).await.map_err(to_store_error)?;
        Ok(pooled(connection, Instant::now()))
    }
}

impl PooledConnection<'_> {
    /// Puts the connection back if it is still usable after the request, and returns the request's result.
    pub(super) async fn release<T>(mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let is_usable = match &done {
            Ok(_) => true,
            Err(StoreError::Unavailable(_)) => false,
            // Part of the result may be unread; the response to a ping comes after all of it.
            Err(_) => self.connection.ping().await.is_ok(),
        };
        if is_usable {
            let Self { connection, opened, pool, _project_permit, _permit } = self;
            if !pool.permits.is_closed() {
                pool.lock_idle().push(Idle { connection, opened, last_used: Instant::now() });
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use backend_data::ShareId;
    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn projects_of_one_share_have_half_of_the_connections() {
        let options = PgOptions { max_connections: 4, ..PgOptions::new("postgres://localhost") };
        let pool = Pool::new(PgConnectOptions::new(), &options).0;
        let project = |share, id: &str| ProjectRef::new(id.parse().unwrap(), 0).with_share(ShareId(share));
        let (a, b, c) = (project(1, "a"), project(1, "b"), project(2, "c"));
        let acquire = |project| pool.acquire_project_permit(project, Work::Statements);
        let first = acquire(&a).await.unwrap();
        let _second = acquire(&b).await.unwrap();
        let mut third = std::pin::pin!(acquire(&a));
        assert!(poll!(&mut third).is_pending(), "both permits of the share are taken");
        let _other = acquire(&c).await.unwrap();
        drop(first);
        assert!(poll!(&mut third).is_ready());
    }

    #[tokio::test]
    async fn projects_whose_statements_take_long_have_one_connection_of_their_share() {
        let options = PgOptions { max_connections: 4, ..PgOptions::new("postgres://localhost") };
        let pool = Pool::new(PgConnectOptions::new(), &options).0;
        let acquire = |project| pool.acquire_project_permit(project, Work::Statements);
        let project = |share, id: &str| ProjectRef::new(id.parse().unwrap(), 0).with_share(ShareId(share));
        let [loud, other, sibling] = ["loud", "other", "sibling"].map(|id| project(1, id));
        let quiet = project(2, "quiet");
        drop((acquire(&loud).await.unwrap(), acquire(&loud).await.unwrap()));
        for slow in [&loud, &other] {
            pool.usage().add(slow, Duration::from_secs(5), Instant::now());
        }
        let one = acquire(&loud).await.unwrap();
        let (mut next, mut of_other) = (std::pin::pin!(acquire(&loud)), std::pin::pin!(acquire(&other)));
        assert!(poll!(&mut next).is_pending(), "a second permit at once");
        assert!(poll!(&mut of_other).is_pending(), "a second permit of the share");
        drop(acquire(&sibling).await.unwrap());
        drop((acquire(&quiet).await.unwrap(), acquire(&quiet).await.unwrap()));
        drop(pool.acquire_project_permit(&other, Work::Import).await.unwrap());
        drop(one);
        assert!(poll!(&mut next).is_ready(), "the first permit was dropped");
    }

    #[tokio::test]
    async fn neither_the_wait_for_a_connection_nor_an_import_counts() {
        let pool = Pool::new(PgConnectOptions::new(), &PgOptions::new("postgres://localhost")).0;
        let project = ProjectRef::new("waits".parse().unwrap(), 0);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        drop(pool.acquire_project_permit(&project, Work::Statements).await.unwrap());
        assert!(!pool.usage().is_over_share(&project, Instant::now()));
        for (work, counts) in [(Work::Import, false), (Work::Statements, true)] {
            let mut permit = pool.acquire_project_permit(&project, work).await.unwrap().start_clock();
            permit.started_at = Some(long_ago);
            drop(permit);
            assert_eq!(pool.usage().is_over_share(&project, Instant::now()), counts);
        }
    }
}
