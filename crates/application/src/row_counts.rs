//! Numbers of rows of backend projects, for lists of them: counted where that is quick, and otherwise as they were counted
//! last.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use backend_data::{Access, Engine, ErrorKind, ProjectRef, ReadOptions};
use kernel::{Clock, ShareId, Timestamp, id::ProjectId};
use moka::sync::Cache;
use runs::fair_share::{FairSemaphore, ShareLimits};
use tokio::time::timeout;

/// Time that a list waits for the count of a project of which it knows an earlier one.
const PROMPT: Duration = Duration::from_millis(20);
/// Time that a list waits for the first count of a project.
const FIRST: Duration = Duration::from_secs(1);
/// Projects whose rows are counted at the same time.
const CONCURRENT: usize = 4;
/// Of these, those of one share.
const CONCURRENT_OF_SHARE: usize = 2;
/// Projects whose last count is kept.
const CAPACITY: u64 = 10_000;

/// Number of rows of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCount {
    /// Rows of all tables.
    pub rows: u64,
    /// Time of the count.
    pub at: Timestamp,
}

/// Counts of rows, and the last ones of each project.
#[derive(Clone)]
pub struct RowCounts(Arc<State>);

struct State {
    clock: Arc<dyn Clock>,
    last: Cache<ProjectId, RowCount>,
    /// Projects whose rows are being counted for longer than a list waits.
    running: Mutex<HashSet<ProjectId>>,
    permits: Arc<FairSemaphore>,
}

impl RowCounts {
    /// Returns counts without an earlier one.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let last = Cache::builder().max_capacity(CAPACITY).build();
        let limits = ShareLimits { permits: CONCURRENT_OF_SHARE, waiting: usize::MAX };
        let permits = FairSemaphore::new(CONCURRENT, limits);
        Self(Arc::new(State { clock, last, running: Mutex::default(), permits }))
    }

    /// Returns the last count; `None` if there was none.
    #[must_use]
    pub fn last(&self, project: ProjectId) -> Option<RowCount> {
        self.0.last.get(&project)
    }

    /// Keeps a count that was made elsewhere.
    pub fn record(&self, project: ProjectId, rows: u64, at: Timestamp) {
        self.0.last.insert(project, RowCount { rows, at });
    }

    /// Counts the rows of a project, when it is the turn of its share. Where that takes too long, returns the last count, and goes on counting for the next
    /// list; `None` if there was none. `counting` returns `None` if the store does not count the rows in its time.
    pub async fn count(
        &self,
        project: ProjectId,
        share: ShareId,
        counting: impl Future<Output = Option<u64>> + Send + 'static,
    ) -> Option<RowCount> {
        let last = self.last(project);
        if !self.lock_running().insert(project) {
            return last;
        }
        let running = Running { counts: self.clone(), project };
        let counting = tokio::spawn(async move {
            let counts = &running.counts;
            let _permit = counts.0.permits.acquire(share).await.ok()?;
            let at = counts.0.clock.now();
            let count = RowCount { rows: counting.await?, at };
            counts.0.last.insert(project, count);
            Some(count)
        });
        let patience = if last.is_some() { PROMPT } else { FIRST };
        match timeout(patience, counting).await {
            Ok(Ok(Some(count))) => Some(count),
            Ok(_) | Err(_) => last,
        }
    }

    fn lock_running(&self) -> std::sync::MutexGuard<'_, HashSet<ProjectId>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mark of a running count, which ends with it.
struct Running {
    counts: RowCounts,
    project: ProjectId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.counts.lock_running().remove(&self.project);
    }
}

/// Returns the number of rows of tables; `None` if the store does not count them in its time.
pub async fn count_tables(rows: Arc<Engine>, at: ProjectRef, tables: Vec<String>) -> Option<u64> {
    let options = ReadOptions { include_count: true, ..ReadOptions::default() };
    let mut counted = 0;
    for table in tables {
        counted += match rows.list(&at, &Access::Owner, &table, "select=id&limit=0", &options).await {
            Ok(page) => page.total?,
            // It was dropped meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "rows are not counted");
                return None;
            }
        };
    }
    Some(counted)
}

#[cfg(test)]
mod tests {
    use kernel::clock::ManualClock;
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;

    fn counts() -> RowCounts {
        RowCounts::new(Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)))
    }

    fn share() -> ShareId {
        ShareId::default()
    }

    fn id(number: u128) -> ProjectId {
        ProjectId::from_uuid(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn a_quick_count_is_shown_and_a_slow_one_with_the_next_list() {
        let counts = counts();
        let first = counts.count(id(1), share(), async { Some(7) }).await;
        assert_eq!(first, Some(RowCount { rows: 7, at: Timestamp::UNIX_EPOCH }));

        let (finish, finished) = oneshot::channel();
        let slow = counts.count(id(1), share(), async move { finished.await.ok() }).await;
        assert_eq!(slow, first, "the last count");
        // A count that is under way is not made twice.
        let meanwhile = counts.count(id(1), share(), async { Some(99) }).await;
        assert_eq!(meanwhile, first);
        finish.send(8).unwrap();
        while counts.last(id(1)) == first {
            tokio::task::yield_now().await;
        }
        assert_eq!(counts.last(id(1)).map(|count| count.rows), Some(8));
    }

    #[tokio::test]
    async fn a_count_may_fail() {
        let counts = counts();
        assert_eq!(counts.count(id(2), share(), async { None }).await, None);
        assert_eq!(counts.count(id(2), share(), async { Some(1) }).await.map(|count| count.rows), Some(1));
        let failed = counts.count(id(2), share(), async { None }).await;
        assert_eq!(failed.map(|count| count.rows), Some(1), "the last count");
    }
}
