//! Writes that got in each other's way. PostgreSQL ends one of two transactions that wait for each other, and undoes it;
//! it is run again here. While that happens in a project, its writes of several rows take turns, so that it does not
//! happen over and over: to notice it takes the server a second each time.

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

/// The most attempts of one write.
const MAX_ATTEMPTS: u32 = 5;
/// The time for which a project's writes take turns after a conflict.
const SERIALIZE_FOR: Duration = Duration::from_secs(10);
/// The most projects that are remembered.
const MAX_PROJECTS: usize = 1_024;
/// The longest first wait before a retry; each further one takes up to twice as long.
const BASE_BACKOFF: Duration = Duration::from_millis(20);

/// Which projects' writes take turns. A clone is the same.
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
    /// The tries of one write. It takes turns where it locks several rows; `limit` is how long it may be tried.
    pub(super) fn retry<'c>(
        &'c self,
        project: &'c ProjectRef,
        several: bool,
        limit: Duration,
    ) -> WriteRetry<'c> {
        WriteRetry {
            contention: self,
            project,
            is_multi_row: several,
            attempts: 0,
            started_at: Instant::now(),
            time_limit: limit,
            is_time_limited: true,
        }
    }

    /// The tries of an import, which may take many statements: only their number is bounded. `limit` is how long it waits
    /// for its turn.
    pub(super) fn retry_import<'c>(&'c self, project: &'c ProjectRef, limit: Duration) -> WriteRetry<'c> {
        WriteRetry { is_time_limited: false, ..self.retry(project, true, limit) }
    }

    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
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

/// The tries of one write.
pub(super) struct WriteRetry<'c> {
    contention: &'c Contention,
    project: &'c ProjectRef,
    is_multi_row: bool,
    attempts: u32,
    started_at: Instant,
    time_limit: Duration,
    /// True if the limit ends the tries too.
    is_time_limited: bool,
}

impl WriteRetry<'_> {
    /// Waits for the write's turn, where the project's writes take turns. The turn ends when what is given is dropped.
    pub(super) async fn acquire_permit(&self) -> Option<OwnedMutexGuard<()>> {
        let turn = self.contention.write_lock(&self.project.id).filter(|_| self.is_multi_row)?;
        // Whoever waited as long as a statement may take goes on without: it is no more than a way to save time.
        time::timeout(self.time_limit, turn.lock_owned()).await.ok()
    }

    /// What came of a try, or nothing where the write is to be run again.
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

/// How long to wait before another try: up to a time that doubles, and different for those who wait at once.
fn backoff(tried: u32) -> Duration {
    /// An odd number near 2⁶⁴ divided by the golden ratio: its multiples spread evenly.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let spread = NEXT.fetch_add(SPREAD, Ordering::Relaxed);
    let most = BASE_BACKOFF * 2_u32.saturating_pow(tried.saturating_sub(1).min(6));
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
    async fn a_write_is_given_up_after_some_tries() {
        let (contention, project) = (Contention::default(), ProjectRef::new("proj_a".parse().unwrap(), 0));
        let mut tries = contention.retry(&project, true, Duration::from_secs(60));
        assert!(tries.acquire_permit().await.is_none(), "nothing was in the way yet");
        let mut tried = 0;
        let given_up = loop {
            tried += 1;
            let done: Result<(), _> = Err(StoreError::WriteConflict("deadlock".into()));
            if let Some(done) = tries.finish_or_backoff(done).await {
                break done;
            }
        };
        assert_eq!(tried, MAX_ATTEMPTS);
        assert!(matches!(given_up, Err(StoreError::WriteConflict(_))));
        assert!(
            contention.retry(&project, true, SERIALIZE_FOR).acquire_permit().await.is_some(),
            "now they take turns"
        );
        assert!(
            contention.retry(&project, false, SERIALIZE_FOR).acquire_permit().await.is_none(),
            "a single row needs none"
        );
        let other = ProjectRef::new("proj_b".parse().unwrap(), 0);
        assert!(contention.retry(&other, true, SERIALIZE_FOR).acquire_permit().await.is_none());
    }

    #[tokio::test]
    async fn other_errors_are_not_tried_again() {
        let (contention, project) = (Contention::default(), ProjectRef::new("proj_a".parse().unwrap(), 0));
        let mut tries = contention.retry(&project, true, Duration::from_secs(60));
        assert!(matches!(
            tries.finish_or_backoff::<()>(Err(StoreError::RowExists)).await,
            Some(Err(StoreError::RowExists))
        ));
    }
}
