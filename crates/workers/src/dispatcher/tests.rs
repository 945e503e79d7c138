use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    future::pending,
    sync::{Mutex, MutexGuard},
};

use kernel::{Id, SeededRandomness, Timestamp, id::RunId};
use runs::{
    TriggerKind,
    queue::{AttemptOutcome, RunSlot, RunSlots},
};
use serde_json::value::RawValue;
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{Instant, advance},
};
use uuid::Uuid;

use super::*;

/// Tokio's paused clock as wall time.
struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.0.elapsed()
    }
}

#[derive(Default)]
struct State {
    ready: VecDeque<ClaimedRun>,
    limits: Vec<u32>,
    finished: Vec<(RunId, Instant)>,
    released: Vec<RunId>,
    /// Runs whose lease another node has taken.
    lost_leases: HashSet<RunId>,
    /// Runs that a person cancelled.
    cancelled: HashSet<RunId>,
    /// Looks for runs that were taken.
    looks: u32,
    failing_claims: u32,
    failing_finishes: u32,
    claims: u32,
    offered: Option<Arc<dyn RunSlots>>,
}

#[derive(Default)]
struct MemoryQueue {
    state: Mutex<State>,
    enqueued: Notify,
    taken: Notify,
}

impl MemoryQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn put(&self, numbers: impl IntoIterator<Item = u128>) {
        self.state().ready.extend(numbers.into_iter().map(claimed));
        self.enqueued.notify_one();
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("away".into())
}

fn fails(left: &mut u32) -> bool {
    let fails = *left > 0;
    *left = left.saturating_sub(1);
    fails
}

#[async_trait]
impl RunQueue for MemoryQueue {
    async fn claim(
        &self,
        _: NodeId,
        limit: ClaimLimit,
        _: Arc<dyn Clock>,
    ) -> Result<Vec<ClaimedRun>, StoreError> {
        let mut state = self.state();
        state.claims += 1;
        if fails(&mut state.failing_claims) {
            return Err(unavailable());
        }
        state.limits.push(limit.total());
        let (mut taken, mut left) = (Vec::<ClaimedRun>::new(), VecDeque::new());
        for run in state.ready.drain(..) {
            let of_share = taken.iter().filter(|other| other.share == run.share).count();
            let fits = taken.len() < limit.total() as usize && of_share < limit.for_share(run.share) as usize;
            if fits { taken.push(run) } else { left.push_back(run) }
        }
        state.ready = left;
        Ok(taken)
    }

    fn offer_slots(&self, slots: Option<Arc<dyn RunSlots>>) {
        let _before = std::mem::replace(&mut self.state().offered, slots);
    }

    async fn extend_leases(&self, _: NodeId, runs: &[RunId], _: Timestamp) -> Result<Vec<RunId>, StoreError> {
        let state = self.state();
        Ok(runs.iter().copied().filter(|run| !state.lost_leases.contains(run)).collect())
    }

    async fn held_runs(&self, _: NodeId, runs: &[RunId]) -> Result<Vec<RunId>, StoreError> {
        let mut state = self.state();
        state.looks += 1;
        Ok(runs.iter().copied().filter(|run| !state.cancelled.contains(run)).collect())
    }

    async fn wait_for_lost_runs(&self, at_most: Duration) {
        drop(timeout(at_most, self.taken.notified()).await);
    }

    async fn finish(&self, _: NodeId, finished: FinishedRun) -> Result<bool, StoreError> {
        let mut state = self.state();
        if fails(&mut state.failing_finishes) {
            return Err(unavailable());
        }
        if state.lost_leases.contains(&finished.id) {
            return Ok(false);
        }
        state.finished.push((finished.id, Instant::now()));
        Ok(true)
    }

    async fn release(&self, _: NodeId, runs: &[RunId]) -> Result<(), StoreError> {
        self.state().released.extend(runs);
        Ok(())
    }

    async fn release_expired_leases(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn wait_for_work(&self, at_most: Duration) {
        drop(timeout(at_most, self.enqueued.notified()).await);
    }
}

/// Runs take the time given for their number, or for ever with `None`; others end at once.
#[derive(Default)]
struct SleepingRunner {
    times: BTreeMap<u128, Option<Duration>>,
    dropped: Arc<Mutex<Vec<RunId>>>,
}

struct OnDrop(RunId, Arc<Mutex<Vec<RunId>>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

#[async_trait]
impl Runner for SleepingRunner {
    async fn run(&self, run: ClaimedRun) -> FinishedRun {
        let dropped = OnDrop(run.id, Arc::clone(&self.dropped));
        match self.times.get(&run.id.uuid().as_u128()) {
            Some(Some(time)) => sleep(*time).await,
            Some(None) => pending().await,
            None => {}
        }
        std::mem::forget(dropped);
        FinishedRun {
            id: run.id,
            workspace: run.workspace,
            app: run.app,
            automation: None,
            attempt: run.attempt,
            at: Timestamp::UNIX_EPOCH,
            started_at: run.started_at,
            outcome: AttemptOutcome::Succeeded,
            minutes_saved: 0.0,
            result: None,
            steps: Vec::new(),
            lines: Vec::new(),
        }
    }
}

fn run_id(number: u128) -> RunId {
    Id::from_uuid(Uuid::from_u128(number))
}

/// Numbers below 1000 have a workspace each; above, each thousand shares one.
fn claimed(number: u128) -> ClaimedRun {
    let workspace = if number < 1000 { number } else { number / 1000 * 1000 };
    let workspace: kernel::id::WorkspaceId = Id::from_uuid(Uuid::from_u128(workspace));
    ClaimedRun {
        id: run_id(number),
        workspace,
        share: workspace.into(),
        app: Id::from_uuid(Uuid::nil()),
        app_availability: runs::queue::AppAvailability::Ready,
        automation: None,
        version: None,
        trigger: TriggerKind::Manual,
        input: RawValue::NULL.to_owned(),
        scheduled_for: Timestamp::UNIX_EPOCH,
        started_at: Timestamp::UNIX_EPOCH,
        attempt: 1,
        retries: 0,
        cron: None,
        answers: Vec::new(),
    }
}

struct World {
    queue: Arc<MemoryQueue>,
    shutdown: CancellationToken,
    dropped: Arc<Mutex<Vec<RunId>>>,
    dispatcher: JoinHandle<()>,
}

/// Starts a dispatcher; runs of the given numbers take so many seconds, or for ever with `None`.
fn world(slots: u32, times: &[(u128, Option<u64>)]) -> World {
    let times = times.iter().map(|(number, secs)| (*number, secs.map(Duration::from_secs))).collect();
    let runner = SleepingRunner { times, dropped: Arc::default() };
    let (queue, shutdown) = (Arc::<MemoryQueue>::default(), CancellationToken::new());
    let dropped = Arc::clone(&runner.dropped);
    let dispatcher = Dispatcher::new(
        Arc::clone(&queue) as Arc<dyn RunQueue>,
        Arc::new(runner),
        (Arc::new(PausedClock(Instant::now())), Arc::new(SeededRandomness::new(1))),
        Id::from_uuid(Uuid::nil()),
        DispatcherOptions { slots, ..DispatcherOptions::default() },
    );
    let dispatcher = tokio::spawn(dispatcher.run(shutdown.clone()));
    World { queue, shutdown, dropped, dispatcher }
}

impl World {
    async fn end(self) -> Arc<MemoryQueue> {
        self.shutdown.cancel();
        self.dispatcher.await.unwrap();
        self.queue
    }

    /// Advances the clock by `secs` and lets the tasks that are due proceed.
    async fn pass(&self, secs: u64) {
        for _ in 0..secs * 10 {
            advance(Duration::from_millis(100)).await;
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Reserves a slot for a run, as those do who accept calls.
    fn reserve(&self, number: u128) -> Option<Box<dyn RunSlot>> {
        let slots = self.queue.state().offered.clone()?;
        slots.reserve(claimed(number).share)
    }

    fn finished(&self) -> Vec<u128> {
        self.queue.state().finished.iter().map(|(run, _)| run.uuid().as_u128()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn every_run_is_finished_once() {
    let world = world(4, &[]);
    world.queue.put(0..20);
    world.pass(1).await;
    let mut finished = world.finished();
    finished.sort_unstable();
    assert_eq!(finished, (0..20).collect::<Vec<_>>());
    let queue = world.end().await;
    assert!(queue.state().released.is_empty());
}

#[tokio::test(start_paused = true)]
async fn no_more_is_claimed_than_can_start_while_nothing_ends() {
    let world = world(2, &[(1, Some(5)), (2, None)]);
    world.queue.put(1..=5);
    world.pass(4).await;
    assert_eq!(world.queue.state().ready.len(), 3);
    assert_eq!(world.queue.state().limits, [2]);
    world.pass(2).await;
    assert_eq!(world.finished(), [1, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn runs_claimed_ahead_that_cannot_start_are_released() {
    let world = world(1, &[(4, None)]);
    world.queue.put(1..=8);
    world.pass(3).await;
    assert_eq!(world.finished(), [1, 2, 3]);
    let claimed = 8 - world.queue.state().ready.len() as u128;
    assert!(claimed > 4, "something was claimed ahead");
    assert_eq!(world.queue.state().released, (5..=claimed).map(run_id).collect::<Vec<_>>());
}

/// Beside runs that never end, runs of others start and are not claimed in vain, and one more starts when one ends.
#[tokio::test(start_paused = true)]
async fn a_workspace_does_not_hold_every_permit() {
    let asleep: Vec<_> = (1000..1020).map(|number| (number, (number == 1000).then_some(5))).collect();
    let world = world(8, &asleep);
    world.queue.put(1000..1020);
    world.pass(1).await;
    assert_eq!(world.queue.state().ready.len(), 14);
    world.queue.put([1, 2]);
    world.pass(1).await;
    assert_eq!(world.finished(), [1, 2]);
    assert!(world.queue.state().released.is_empty() && world.queue.state().ready.len() == 14);
    world.pass(4).await;
    assert_eq!(world.finished(), [1, 2, 1000]);
    // One has the permit, and one may have been claimed ahead.
    assert!(matches!(world.queue.state().ready.len(), 12 | 13));
}

/// Short runs raise the number claimed ahead, and runs that never end are claimed with it.
#[tokio::test(start_paused = true)]
async fn runs_claimed_ahead_leave_permits_to_other_workspaces() {
    let asleep: Vec<_> = (1100..1200).map(|number| (number, None)).collect();
    let world = world(8, &asleep);
    world.queue.put(1000..1200);
    world.pass(1).await;
    assert_eq!(world.finished().len(), 100);
    let before = Instant::now();
    world.queue.put([1]);
    while !world.finished().contains(&1) {
        advance(Duration::from_millis(10)).await;
        tokio::task::yield_now().await;
    }
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_run_outlasts_its_first_lease_while_it_is_extended() {
    let world = world(1, &[(1, Some(90))]);
    world.queue.put([1]);
    world.pass(91).await;
    assert_eq!(world.finished(), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_lease_was_lost_is_stopped() {
    let world = world(1, &[(1, None)]);
    world.queue.put([1, 2]);
    world.pass(1).await;
    world.queue.state().lost_leases.insert(run_id(1));
    world.pass(20).await;
    assert_eq!(*world.dropped.lock().unwrap(), [run_id(1)]);
    // Its permit is free again.
    assert_eq!(world.finished(), [2]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_taken_from_the_node_is_stopped_at_once_if_it_is_told_and_soon_if_not() {
    let world = world(3, &[(1, None), (2, None), (3, None)]);
    world.queue.put([1, 2, 3]);
    world.pass(1).await;
    world.queue.state().cancelled.insert(run_id(1));
    world.queue.taken.notify_one();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(*world.dropped.lock().unwrap(), [run_id(1)], "no time has passed");
    world.queue.state().cancelled.insert(run_id(2));
    world.pass(1).await;
    assert_eq!(*world.dropped.lock().unwrap(), [run_id(1), run_id(2)]);
    world.pass(20).await;
    assert_eq!(world.dropped.lock().unwrap().len(), 2, "the third is still this node's");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_looked_for_while_nothing_runs() {
    let world = world(1, &[]);
    world.queue.put([1]);
    world.pass(10).await;
    assert_eq!((world.finished(), world.queue.state().looks), (vec![1], 0));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_after_a_lost_lease_is_discarded() {
    let world = world(1, &[(1, Some(3))]);
    world.queue.put([1, 2]);
    world.pass(1).await;
    world.queue.state().lost_leases.insert(run_id(1));
    world.pass(5).await;
    assert_eq!(world.finished(), [2]);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_retried_until_the_store_accepts_it_or_the_lease_expires() {
    let world = world(1, &[]);
    world.queue.state().failing_finishes = 3;
    world.queue.put([1]);
    world.pass(3).await;
    assert_eq!(world.finished(), [1]);

    world.queue.state().failing_finishes = u32::MAX;
    world.queue.put([2]);
    world.pass(40).await;
    world.queue.state().failing_finishes = 0;
    world.queue.put([3]);
    world.pass(2).await;
    assert_eq!(world.finished(), [1, 3]);
}

#[tokio::test(start_paused = true)]
async fn failing_claims_back_off() {
    let world = world(1, &[]);
    world.queue.state().failing_claims = u32::MAX;
    world.pass(30).await;
    let claims = world.queue.state().claims;
    assert!((8..=18).contains(&claims), "{claims} claims in 30 s");
    world.queue.state().failing_claims = 0;
    world.queue.put([1]);
    world.pass(7).await;
    assert_eq!(world.finished(), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_runs_end_and_releases_the_rest() {
    let world = world(3, &[(1, Some(5)), (2, Some(60)), (3, None)]);
    world.queue.put(1..=3);
    world.pass(1).await;
    world.queue.put([4]);
    let (dropped, begun) = (Arc::clone(&world.dropped), Instant::now());
    let queue = world.end().await;
    assert_eq!(begun.elapsed(), Duration::from_secs(8));
    let state = queue.state();
    assert_eq!(state.finished.iter().map(|(run, _)| *run).collect::<Vec<_>>(), [run_id(1)]);
    let released: HashSet<_> = state.released.iter().copied().collect();
    assert_eq!(released, HashSet::from([run_id(2), run_id(3)]));
    assert_eq!(dropped.lock().unwrap().len(), 2);
    assert_eq!(state.ready.len(), 1, "nothing is claimed after the shutdown");
}

#[tokio::test(start_paused = true)]
async fn a_run_with_a_slot_executes_without_a_claim() {
    let world = world(2, &[]);
    world.pass(1).await;
    let claims = world.queue.state().claims;
    let slot = world.reserve(1).expect("nothing is at work");
    slot.start(claimed(1), Timestamp::UNIX_EPOCH + LEASE);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!((world.finished(), world.queue.state().claims), (vec![1], claims));
    let queue = world.end().await;
    assert!(queue.state().offered.is_none() && queue.state().released.is_empty());
}

#[tokio::test(start_paused = true)]
async fn slots_are_as_many_as_may_be_claimed_and_come_back() {
    let world = world(8, &[]);
    world.pass(1).await;
    let offered = world.queue.state().offered.clone().expect("slots are offered");
    let share = claimed(1000).share;
    let most = offered.limit().expect("nothing is at work").for_share(share);
    let mut reserved: Vec<_> = (1000..1020).map_while(|number| world.reserve(number)).collect();
    assert_eq!(reserved.len() as u32, most, "one share has its part");
    reserved.extend((1..9).filter_map(|number| world.reserve(number)));
    assert!(reserved.len() == 8 && offered.limit().is_none(), "{}", reserved.len());
    drop((reserved, offered));
    // What was not started has not ended, so it makes no room for more.
    let limit = world.queue.state().offered.as_ref().and_then(|slots| slots.limit());
    assert_eq!(limit.map(|limit| limit.total()), Some(8));
    world.end().await;
}

/// A run whose batch is being written when the server stops is in the database: it goes back to the queue.
#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_slots_and_releases_their_runs() {
    let world = world(2, &[]);
    world.pass(1).await;
    let slot = world.reserve(1).expect("nothing is at work");
    world.shutdown.cancel();
    world.pass(1).await;
    assert!(world.queue.state().offered.is_none(), "no more slots are given out");
    assert!(!world.dispatcher.is_finished());
    slot.start(claimed(1), Timestamp::UNIX_EPOCH + LEASE);
    let queue = world.end().await;
    assert_eq!(queue.state().released, [run_id(1)]);
    assert!(queue.state().finished.is_empty());
}

/// A database that answers no more keeps the slots of a batch for as long as it likes.
#[tokio::test(start_paused = true)]
async fn a_slot_that_never_comes_back_does_not_hold_up_the_shutdown() {
    let world = world(2, &[]);
    world.pass(1).await;
    let slot = world.reserve(1).expect("nothing is at work");
    world.shutdown.cancel();
    world.pass(8 + 2).await;
    assert!(world.dispatcher.is_finished());
    drop(slot);
    world.end().await;
}
