//! Retries of conflicting writes.
//!
//! PostgreSQL aborts one of two transactions that wait for each other, and this module runs it again. After a conflict,
//! the project's writes of several rows take turns for a while, since the server needs a second to detect each
//! deadlock.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use backend_data::{ProjectId, ProjectRef, StoreError};
use lru::LruCache;
use tokio::{sync::OwnedMutexGuard, time};

/// Maximum number of attempts of a write.
const MAX_ATTEMPTS: u32 = 5;
/// Time for which a project's writes take turns after a conflict.
const SERIALIZE_FOR: Duration = Duration::from_secs(10);
/// Maximum number of projects whose conflicts are tracked.
const MAX_PROJECTS: usize = 1_024;
/// Maximum wait before the first retry; it doubles with each further one.
const BASE_BACKOFF: Duration = Duration::from_millis(20);

/// The projects whose writes take turns. A clone shares them.
#[derive(Clone, Debug)]
pub(super) struct Contention(Arc<Mutex<LruCache<ProjectId, SerializedWrites>>>);

#[derive(Clone, Debug)]
struct SerializedWrites {
    lock: Arc<tokio::sync::Mutex<()>>,
    until: Instant,
}

impl Default for Contention {
    fn default() -> Self {
        let most = NonZeroUsize::new(MAX_PROJECTS).unwrap_or(NonZeroUsize::MIN);
        Self(Arc::new(Mutex::new(LruCache::new(most))))
    }
}

impl Contention {
    /// Returns the retries of one write, within `limit`. A write of several rows takes turns with others.
    pub(super) fn retry<'c>(
        &'c self,
        project: &'c ProjectRef,
        is_multi_row: bool,
        limit: Duration,
    ) -> WriteRetry<'c> {
        WriteRetry {
            contention: self,
            project,
            is_multi_row,
            attempts: 0,
            started_at: Instant::now(),
            time_limit: limit,
            is_time_limited: true,
        }
    }

    /// Returns the retries of an import. Their time is not bounded, since an import has many statements; `limit` bounds
    /// the wait for its turn.
    pub(super) fn retry_import<'c>(&'c self, project: &'c ProjectRef, limit: Duration) -> WriteRetry<'c> {
        WriteRetry { is_time_limited: false, ..self.retry(project, true, limit) }
    }

    /// Locks the projects. A poisoned lock is no problem: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectId, SerializedWrites>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self, project: &ProjectId) -> Option<Arc<tokio::sync::Mutex<()>>> {
        let mut projects = self.lock();
        if projects.is_empty() {
            return None;
        }
        let turns = projects.get(project)?;
        if turns.until > Instant::now() {
            return Some(Arc::clone(&turns.lock));
        }
        projects.pop(project);
        None
    }

    fn record_conflict(&self, project: &ProjectId) {
        let until = Instant::now() + SERIALIZE_FOR;
        let mut projects = self.lock();
        match projects.get_mut(project) {
            Some(turns) => turns.until = until,
            None => drop(projects.put(project.clone(), SerializedWrites { lock: Arc::default(), until })),
        }
    }
}

/// The retries of one write.
pub(super) struct WriteRetry<'c> {
    contention: &'c Contention,
    project: &'c ProjectRef,
    is_multi_row: bool,
    attempts: u32,
    started_at: Instant,
    time_limit: Duration,
    /// True if `time_limit` ends the retries, and not only the wait for a turn.
    is_time_limited: bool,
}

impl WriteRetry<'_> {
    /// Waits for the write's turn, if the project's writes take turns. The turn ends when the guard is dropped.
    pub(super) async fn acquire_permit(&self) -> Option<OwnedMutexGuard<()>> {
        let lock = self.contention.write_lock(&self.project.id).filter(|_| self.is_multi_row)?;
        // After the limit, the write runs without its turn: turns only save time.
        time::timeout(self.time_limit, lock.lock_owned()).await.ok()
    }

    /// Returns the result of an attempt, or waits and returns `None` if the write is to be run again.
    pub(super) async fn finish_or_backoff<T>(
        &mut self,
        done: Result<T, StoreError>,
    ) -> Option<Result<T, StoreError>> {
        match done {
            Err(error) if error.is_write_conflict() => {
                self.contention.record_conflict(&self.project.id);
                self.attempts += 1;
                let late = self.is_time_limited && self.started_at.elapsed() >= self.time_limit;
                if self.attempts >= MAX_ATTEMPTS || late {
                    return Some(Err(error));
                }
                time::sleep(backoff(self.attempts)).await;
                None
            }
            done => Some(done),
        }
    }
}

/// Returns the wait after a number of attempts. Its maximum doubles with each, and writes that wait at the same time
/// wait for different times.
fn backoff(attempts: u32) -> Duration {
    /// An odd number near 2⁶⁴ divided by the golden ratio, whose multiples are spread evenly (Fibonacci hashing).
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let spread = NEXT.fetch_add(SPREAD, Ordering::Relaxed);
    let most = BASE_BACKOFF * 2_u32.saturating_pow(attempts.saturating_sub(1).min(6));
    // The upper 16 bits, as a share of the whole.
    most.mul_f64(((spread >> 48) as f64 + 1.0) / 65_536.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_differ_and_grow() {
        let waits: Vec<Duration> = (0..8).map(|_| backoff(1)).collect();
        assert!(waits.iter().all(|one| *one <= BASE_BACKOFF), "{waits:?}");
        assert!(waits.windows(2).all(|pair| pair[0] != pair[1]), "{waits:?}");
        let longest = (0..100).map(|_| backoff(4)).max();
        assert!(longest > Some(BASE_BACKOFF * 4) && longest <= Some(BASE_BACKOFF * 8), "{longest:?}");
    }

    #[tokio::test]
    async fn a_write_fails_after_the_last_attempt() {
        let (contention, project) = (Contention::default(), ProjectRef::new("proj_a".parse().unwrap(), 0));
        let mut retry = contention.retry(&project, true, Duration::from_secs(60));
        assert!(retry.acquire_permit().await.is_none(), "there was no conflict yet");
        let mut attempts = 0;
        let failed = loop {
            attempts += 1;
            let done: Result<(), _> = Err(StoreError::WriteConflict("deadlock".into()));
            if let Some(done) = retry.finish_or_backoff(done).await {
                break done;
            }
        };
        assert_eq!(attempts, MAX_ATTEMPTS);
        assert!(matches!(failed, Err(StoreError::WriteConflict(_))));
        assert!(
            contention.retry(&project, true, SERIALIZE_FOR).acquire_permit().await.is_some(),
            "after a conflict, writes take turns"
        );
        assert!(
            contention.retry(&project, false, SERIALIZE_FOR).acquire_permit().await.is_none(),
            "a write of one row takes no turn"
        );
        let other = ProjectRef::new("proj_b".parse().unwrap(), 0);
        assert!(contention.retry(&other, true, SERIALIZE_FOR).acquire_permit().await.is_none());
    }

    #[tokio::test]
    async fn other_errors_are_not_retried() {
        let (contention, project) = (Contention::default(), ProjectRef::new("proj_a".parse().unwrap(), 0));
        let mut retry = contention.retry(&project, true, Duration::from_secs(60));
        assert!(matches!(
            retry.finish_or_backoff::<()>(Err(StoreError::RowExists)).await,
            Some(Err(StoreError::RowExists))
        ));
    }
}
