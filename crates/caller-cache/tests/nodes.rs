//! Nodes that share a database, on a clock that the test moves.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use caller_cache::{
    CacheBounds, CacheView, CachedRecord, Caches, CallerCache, ChangeSource, DigestCache, KeyCache,
    MAX_STALENESS, MonotonicClock, REFRESH_AFTER, RecordedChange,
};
use futures::FutureExt as _;
use tokio::sync::Semaphore;

const BOUNDS: CacheBounds = CacheBounds { capacity: 1000, time_to_idle: Duration::from_secs(3600) };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Member(u8),
    Token(u8),
}

struct Records {
    members: KeyCache<u8, Option<&'static str>>,
    tokens: DigestCache<[u8; 4], u8, &'static str>,
}

impl Default for Records {
    fn default() -> Self {
        Self { members: KeyCache::new(BOUNDS), tokens: DigestCache::new(BOUNDS) }
    }
}

impl Caches for Records {
    type Change = Change;

    fn invalidate(&self, change: &Change) {
        match change {
            Change::Member(key) => self.members.invalidate(key),
            Change::Token(id) => self.tokens.invalidate(id),
        }
    }

    fn invalidate_all(&self) {
        self.members.invalidate_all();
        self.tokens.invalidate_all();
    }
}

#[derive(Clone, Default)]
struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
    }
}

impl MonotonicClock for ManualClock {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the database does not answer")]
struct Unreachable;

/// A row of changes: its time, its number and the change.
type Row = (Duration, i64, Option<Change>);

/// A table of changes that nodes share.
#[derive(Clone)]
struct Table {
    rows: Arc<Mutex<Vec<Row>>>,
    clock: ManualClock,
    is_reachable: Arc<AtomicBool>,
    polls: Arc<AtomicUsize>,
    /// Polls that may read the table.
    permits: Arc<Semaphore>,
}

impl Table {
    fn new(clock: &ManualClock) -> Self {
        Self {
            rows: Arc::default(),
            clock: clock.clone(),
            is_reachable: Arc::new(AtomicBool::new(true)),
            polls: Arc::default(),
            permits: Arc::new(Semaphore::new(1000)),
        }
    }

    fn commit(&self, at: Duration, id: i64, change: Change) {
        self.rows.lock().unwrap().push((at, id, Some(change)));
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::SeqCst)
    }
}

impl ChangeSource for Table {
    type Change = Change;
    type Error = Unreachable;

    const LOOKBACK: Duration = Duration::from_secs(60);

    async fn recent_changes(&self) -> Result<Vec<RecordedChange<Change>>, Unreachable> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        self.permits.acquire().await.unwrap().forget();
        if !self.is_reachable.load(Ordering::SeqCst) {
            return Err(Unreachable);
        }
        let now = self.clock.elapsed();
        let rows = self.rows.lock().unwrap();
        let recent = rows.iter().filter(|(at, ..)| *at + Self::LOOKBACK > now);
        Ok(recent.map(|(_, id, change)| RecordedChange { id: *id, change: *change }).collect())
    }
}

type Node = Arc<CallerCache<Records, Table, ManualClock>>;

fn two_nodes() -> ([Node; 2], Table, ManualClock) {
    let clock = ManualClock::default();
    let table = Table::new(&clock);
    let node = || Arc::new(CallerCache::with_clock(Records::default(), table.clone(), clock.clone()));
    ([node(), node()], table.clone(), clock)
}

fn member(view: &CacheView<'_, Records>, key: u8) -> Option<Option<&'static str>> {
    view.get(|all| &all.members, &key)
}

async fn remember_member(node: &Node, key: u8) {
    node.view().await.insert(|all| &all.members, key, Some("owner"));
    assert_eq!(member(&node.view().await, key), Some(Some("owner")));
}

#[tokio::test]
async fn a_change_holds_at_once_here_and_within_a_second_elsewhere() {
    let ([here, elsewhere], table, clock) = two_nodes();
    for node in [&here, &elsewhere] {
        remember_member(node, 1).await;
        remember_member(node, 2).await;
    }
    table.commit(clock.elapsed(), 1, Change::Member(1));
    here.invalidate([Change::Member(1)]);
    assert_eq!(member(&here.view().await, 1), None);
    assert_eq!(member(&elsewhere.view().await, 1), Some(Some("owner")), "it has not polled yet");
    clock.advance(MAX_STALENESS);
    assert_eq!(member(&elsewhere.view().await, 1), None);
    assert_eq!(member(&elsewhere.view().await, 2), Some(Some("owner")), "the other entry is as it was");
}

#[tokio::test]
async fn absence_is_cached_as_presence_is() {
    let ([node, _], ..) = two_nodes();
    node.view().await.insert(|all| &all.members, 1, None);
    assert_eq!(member(&node.view().await, 1), Some(None));
}

#[tokio::test]
async fn what_was_read_before_a_change_is_not_kept_after_it() {
    let ([node, _], ..) = two_nodes();
    let early = node.view().await;
    node.invalidate([Change::Token(9)]);
    let record = Arc::new(CachedRecord { digest: *b"hash", value: "token" });
    early.insert(|all| &all.members, 1, Some("owner"));
    early.insert_record(|all| &all.tokens, 1, &record);
    let late = node.view().await;
    assert_eq!(member(&late, 1), None);
    assert!(late.get_by_digest(|all| &all.tokens, [*b"hash"]).is_none());
    late.insert_record(|all| &all.tokens, 1, &record);
    let found = late.get_by_digest(|all| &all.tokens, [*b"none", *b"hash"]);
    assert_eq!(found, Some(record));
}

#[tokio::test]
async fn what_was_read_before_a_poll_found_a_change_is_not_kept_after_it() {
    let ([node, _], table, clock) = two_nodes();
    let early = node.view().await;
    table.commit(clock.elapsed(), 1, Change::Member(1));
    clock.advance(MAX_STALENESS);
    node.view().await;
    early.insert(|all| &all.members, 1, Some("owner"));
    assert_eq!(member(&node.view().await, 1), None);
}

#[tokio::test]
async fn while_it_cannot_poll_nothing_is_read_or_kept() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    table.is_reachable.store(false, Ordering::SeqCst);
    assert_eq!(member(&node.view().await, 1), Some(Some("owner")), "the last poll is still good");
    clock.advance(MAX_STALENESS);
    let view = node.view().await;
    assert_eq!(member(&view, 1), None);
    view.insert(|all| &all.members, 2, Some("owner"));
    table.is_reachable.store(true, Ordering::SeqCst);
    let view = node.view().await;
    assert_eq!((member(&view, 1), member(&view, 2)), (Some(Some("owner")), None));
}

#[tokio::test]
async fn a_poll_that_failed_is_made_up_for() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    table.commit(clock.elapsed(), 1, Change::Member(1));
    table.is_reachable.store(false, Ordering::SeqCst);
    clock.advance(Duration::from_secs(20));
    node.view().await;
    table.is_reachable.store(true, Ordering::SeqCst);
    assert_eq!(member(&node.view().await, 1), None);
}

#[tokio::test]
async fn a_change_counts_once_while_polls_go_back_to_it() {
    let ([node, _], table, clock) = two_nodes();
    node.view().await;
    table.commit(clock.elapsed(), 1, Change::Member(1));
    clock.advance(MAX_STALENESS);
    remember_member(&node, 1).await;
    for _ in 0..10 {
        clock.advance(MAX_STALENESS);
        assert_eq!(member(&node.view().await, 1), Some(Some("owner")));
    }
    assert_eq!(table.polls(), 12);
}

#[tokio::test]
async fn a_change_that_is_committed_late_is_found() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    remember_member(&node, 2).await;
    let recorded_at = clock.elapsed();
    table.commit(recorded_at, 2, Change::Member(2));
    clock.advance(MAX_STALENESS);
    assert_eq!(member(&node.view().await, 2), None);
    // Recorded before the other, with a smaller number, and committed twenty seconds later.
    for _ in 0..22 {
        clock.advance(MAX_STALENESS);
        assert_eq!(member(&node.view().await, 1), Some(Some("owner")));
    }
    table.commit(recorded_at, 1, Change::Member(1));
    clock.advance(MAX_STALENESS);
    assert_eq!(member(&node.view().await, 1), None);
}

#[tokio::test]
async fn a_node_that_was_idle_for_longer_than_polls_go_back_keeps_nothing() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    let record = Arc::new(CachedRecord { digest: *b"hash", value: "token" });
    node.view().await.insert_record(|all| &all.tokens, 1, &record);
    table.commit(clock.elapsed(), 1, Change::Member(1));
    table.commit(clock.elapsed(), 2, Change::Token(1));
    clock.advance(Table::LOOKBACK * 2);
    let view = node.view().await;
    assert_eq!(member(&view, 1), None);
    assert!(view.get_by_digest(|all| &all.tokens, [*b"hash"]).is_none());
    remember_member(&node, 1).await;
}

#[tokio::test]
async fn a_kind_that_only_a_newer_version_knows_is_passed_over() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    table.rows.lock().unwrap().push((clock.elapsed(), 1, None));
    clock.advance(MAX_STALENESS);
    assert_eq!(member(&node.view().await, 1), Some(Some("owner")));
}

#[tokio::test]
async fn one_poll_beside_the_requests_keeps_it_fresh() {
    let ([node, _], table, clock) = two_nodes();
    remember_member(&node, 1).await;
    table.permits.forget_permits(1000);
    table.commit(clock.elapsed(), 1, Change::Member(1));
    clock.advance(REFRESH_AFTER);
    for _ in 0..3 {
        let view = node.view().now_or_never().unwrap();
        assert_eq!(member(&view, 1), Some(Some("owner")), "requests do not wait for the poll");
        tokio::task::yield_now().await;
    }
    assert_eq!(table.polls(), 2, "the first view's, and one beside all of these");
    table.permits.add_permits(1);
    while member(&node.view().await, 1).is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(table.polls(), 2);
}

#[tokio::test]
async fn views_that_find_it_stale_share_one_poll() {
    let ([node, _], table, clock) = two_nodes();
    node.view().await;
    clock.advance(MAX_STALENESS);
    let views = futures::future::join_all((0..5).map(|_| node.view())).await;
    assert_eq!((views.len(), table.polls()), (5, 2));
}

#[tokio::test]
async fn an_idle_node_polls_nothing() {
    let ([node, _], table, clock) = two_nodes();
    node.view().await;
    clock.advance(Duration::from_secs(3600));
    tokio::task::yield_now().await;
    assert_eq!(table.polls(), 1);
    node.view().await;
    assert_eq!(table.polls(), 2);
}
