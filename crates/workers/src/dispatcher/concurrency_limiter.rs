//! How many runs may be claimed, and which begin: as many as there are places, and as many claimed ahead as end in a
//! few milliseconds, so that short runs do not wait for a claim each. No workspace has all places: runs that sleep or
//! compute hold theirs for as long as a run may take.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::id::WorkspaceId;
use runs::{
    fair_share::{can_acquire, remaining_share},
    queue::ClaimLimit,
};
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, timeout},
};

/// What ended in this time is claimed ahead: it is about what a claim takes.
const WINDOW: Duration = Duration::from_millis(10);
/// Runs claimed ahead at most.
const MAX_CLAIMED_AHEAD: u32 = 64;
/// How long a claimed run waits for a place before others may have it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

/// The places of runs at work, and the runs that wait for one.
pub(super) struct ConcurrencyLimiter {
    /// Runs at work at once.
    capacity: u32,
    state: Mutex<LimiterState>,
    changed: Notify,
}

struct LimiterState {
    /// Runs that are claimed and whose code has not ended.
    claimed: WorkspaceCounts,
    /// Those of them that have a place.
    running: WorkspaceCounts,
    /// Those that wait for one, in the order in which they came.
    waiting: VecDeque<(WorkspaceId, oneshot::Sender<Permit>)>,
    is_closed: bool,
    /// When the current window began, what ended in it, and in the one before.
    window_start: Instant,
    ended_in_window: WorkspaceCounts,
    ended_in_previous_window: WorkspaceCounts,
}

/// How many there are, in all and of each workspace.
#[derive(Default)]
struct WorkspaceCounts {
    total: u32,
    by_workspace: HashMap<WorkspaceId, u32>,
}

impl WorkspaceCounts {
    fn of(&self, workspace: WorkspaceId) -> u32 {
        self.by_workspace.get(&workspace).copied().unwrap_or_default()
    }

    fn add(&mut self, workspace: WorkspaceId) {
        self.total += 1;
        *self.by_workspace.entry(workspace).or_default() += 1;
    }

    fn remove(&mut self, workspace: WorkspaceId) {
        self.total = self.total.saturating_sub(1);
        if let Some(count) = self.by_workspace.get_mut(&workspace) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_workspace.remove(&workspace);
            }
        }
    }
}

impl LimiterState {
    fn roll_window(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.window_start);
        if passed < WINDOW {
            return;
        }
        let ended = std::mem::take(&mut self.ended_in_window);
        self.ended_in_previous_window = if passed < 2 * WINDOW { ended } else { WorkspaceCounts::default() };
        self.window_start = now;
    }

    /// How many more of a workspace may be claimed: what its share of `free` places is, and as many as ended of it a
    /// moment ago. What others end makes no room for runs of one that has its share.
    fn claimable(&self, workspace: WorkspaceId, free: usize) -> u32 {
        let at_work = self.running.of(workspace);
        let waiting = self.claimed.of(workspace).saturating_sub(at_work);
        let begin = if waiting > 0 { 0 } else { remaining_share(at_work as usize, free) };
        let ahead = self
            .ended_in_window
            .of(workspace)
            .max(self.ended_in_previous_window.of(workspace))
            .saturating_sub(waiting);
        u32::try_from(begin).unwrap_or(u32::MAX).saturating_add(ahead)
    }
}

/// A claimed run's turn at a place. Dropped when its code has ended, or is not to begin.
pub(super) struct Reservation {
    limiter: Arc<ConcurrencyLimiter>,
    workspace: WorkspaceId,
    permit: Option<Permit>,
    waiting: Option<oneshot::Receiver<Permit>>,
}

/// A place, taken. Dropping it gives it to whoever is next.
struct Permit {
    limiter: Arc<ConcurrencyLimiter>,
    workspace: WorkspaceId,
}

/// Nothing became free in time, or nothing more is to begin.
pub(super) struct NoPermit;

impl ConcurrencyLimiter {
    /// Places for `count` runs at once.
    pub(super) fn new(count: u32) -> Arc<Self> {
        let state = LimiterState {
            claimed: WorkspaceCounts::default(),
            running: WorkspaceCounts::default(),
            waiting: VecDeque::new(),
            is_closed: false,
            window_start: Instant::now(),
            ended_in_window: WorkspaceCounts::default(),
            ended_in_previous_window: WorkspaceCounts::default(),
        };
        Arc::new(Self { capacity: count, state: Mutex::new(state), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs may be claimed now.
    #[cfg(test)]
    fn available(&self) -> u32 {
        self.available_in(&mut self.state())
    }

    fn available_in(&self, state: &mut LimiterState) -> u32 {
        state.roll_window(Instant::now());
        let ahead =
            state.ended_in_window.total.max(state.ended_in_previous_window.total).min(MAX_CLAIMED_AHEAD);
        let unclaimed = (self.capacity + ahead).saturating_sub(state.claimed.total);
        // Those that wait may not have the places that are free.
        unclaimed.max(self.capacity.saturating_sub(state.running.total))
    }

    /// Waits until a run may be claimed; how many may, at most `batch`.
    pub(super) async fn wait_for_capacity(&self, batch: u32) -> ClaimLimit {
        loop {
            if let Some(limit) = self.claim_limit(batch) {
                return limit;
            }
            self.changed.notified().await;
        }
    }

    fn claim_limit(&self, batch: u32) -> Option<ClaimLimit> {
        let mut state = self.state();
        let room = self.available_in(&mut state).min(batch);
        if room == 0 {
            return None;
        }
        let free = self.capacity.saturating_sub(state.running.total) as usize;
        let known = state.claimed.by_workspace.keys();
        let of = known.map(|workspace| (*workspace, state.claimable(*workspace, free))).collect();
        // Others hold nothing yet: each may claim its share of what is to be claimed, and of all places.
        let of_others = remaining_share(0, room.min(self.capacity) as usize);
        Some(ClaimLimit::with_shares(room, u32::try_from(of_others).unwrap_or(room), of))
    }

    /// Waits until the code of a run has ended.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A turn for a run that was claimed. It has a place at once where one is free for its workspace.
    pub(super) fn reserve(self: &Arc<Self>, workspace: WorkspaceId) -> Reservation {
        let mut state = self.state();
        state.claimed.add(workspace);
        let (mut permit, mut waiting) = (None, None);
        if self.can_start(&state, workspace) {
            permit = Some(self.grant(&mut state, workspace));
        } else if !state.is_closed {
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back((workspace, sender));
            waiting = Some(receiver);
        }
        drop(state);
        Reservation { limiter: Arc::clone(self), workspace, permit, waiting }
    }

    fn can_start(&self, state: &LimiterState, workspace: WorkspaceId) -> bool {
        let free = self.capacity.saturating_sub(state.running.total);
        !state.is_closed && can_acquire(state.running.of(workspace) as usize, free as usize)
    }

    fn grant(self: &Arc<Self>, state: &mut LimiterState, workspace: WorkspaceId) -> Permit {
        state.running.add(workspace);
        Permit { limiter: Arc::clone(self), workspace }
    }

    /// From now on no run begins that has no place yet.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
    }
}

impl Reservation {
    /// Waits for a place.
    pub(super) async fn acquire(&mut self) -> Result<(), NoPermit> {
        if let Some(waiting) = self.waiting.take() {
            let place = timeout(ACQUIRE_TIMEOUT, waiting).await;
            self.permit = Some(place.map_err(|_| NoPermit)?.map_err(|_| NoPermit)?);
        }
        let closed = self.limiter.state().is_closed;
        if self.permit.is_some() && !closed { Ok(()) } else { Err(NoPermit) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.running.remove(self.workspace);
        let mut granted = Vec::new();
        loop {
            state.waiting.retain(|(_, turn)| !turn.is_closed());
            let next =
                state.waiting.iter().position(|(workspace, _)| self.limiter.can_start(&state, *workspace));
            let Some((workspace, turn)) = next.and_then(|at| state.waiting.remove(at)) else { break };
            granted.push((turn, self.limiter.grant(&mut state, workspace)));
        }
        drop(state);
        for (turn, place) in granted {
            // Should that run have lost its patience at this very moment, the place comes back here.
            let _ = turn.send(place);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let place = self.permit.take();
        let mut state = self.limiter.state();
        state.claimed.remove(self.workspace);
        if place.is_some() {
            state.roll_window(Instant::now());
            state.ended_in_window.add(self.workspace);
        }
        drop(state);
        drop(place);
        self.limiter.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use tokio::time::advance;
    use uuid::Uuid;

    use super::*;

    fn ws(number: u128) -> WorkspaceId {
        Id::from_uuid(Uuid::from_u128(number))
    }

    async fn run_one(places: &Arc<ConcurrencyLimiter>) {
        let mut turn = places.reserve(ws(1));
        assert!(turn.acquire().await.is_ok());
    }

    /// Turns of as many runs of a workspace as find a place at once.
    async fn acquired(
        places: &Arc<ConcurrencyLimiter>,
        workspace: WorkspaceId,
        tried: usize,
    ) -> Vec<Reservation> {
        let mut begun = Vec::new();
        for _ in 0..tried {
            let mut turn = places.reserve(workspace);
            if turn.acquire().await.is_ok() {
                begun.push(turn);
            }
        }
        begun
    }

    #[tokio::test(start_paused = true)]
    async fn what_ended_a_moment_ago_may_be_claimed_ahead() {
        let places = ConcurrencyLimiter::new(2);
        assert_eq!(places.available(), 2);
        for _ in 0..5 {
            run_one(&places).await;
        }
        assert_eq!(places.available(), 7);
        advance(WINDOW).await;
        assert_eq!(places.available(), 7, "the window before counts");
        advance(2 * WINDOW).await;
        assert_eq!(places.available(), 2, "what ended long ago does not");
        for _ in 0..1000 {
            run_one(&places).await;
        }
        assert_eq!(places.available(), 2 + MAX_CLAIMED_AHEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn runs_without_a_place_take_room_and_lose_patience() {
        let places = ConcurrencyLimiter::new(1);
        let mut at_work = places.reserve(ws(1));
        assert!(at_work.acquire().await.is_ok());
        assert_eq!(places.available(), 0);
        let mut waiting = places.reserve(ws(1));
        assert!(waiting.acquire().await.is_err());
        drop(waiting);
        assert_eq!(places.available(), 0);
        drop(at_work);
        assert_eq!(places.wait_for_capacity(9).await.total(), 2);
        places.close();
        assert!(places.reserve(ws(1)).acquire().await.is_err());
    }

    /// Runs that sleep, however many were claimed: others begin at once beside them.
    #[tokio::test(start_paused = true)]
    async fn a_workspace_whose_runs_never_end_leaves_places_to_others() {
        let places = ConcurrencyLimiter::new(8);
        let asleep = acquired(&places, ws(1), 12).await;
        assert_eq!(asleep.len(), 6);
        let waiting: Vec<_> = (0..50).map(|_| places.reserve(ws(1))).collect();
        let limit = places.wait_for_capacity(64).await;
        assert_eq!((limit.total(), limit.for_workspace(ws(1)), limit.for_workspace(ws(2))), (2, 0, 1));
        assert_eq!(limit.exhausted_workspaces().collect::<Vec<_>>(), [ws(1)]);
        let before = Instant::now();
        let other = acquired(&places, ws(2), 1).await;
        assert_eq!((other.len(), before.elapsed()), (1, Duration::ZERO));
        drop(other);
        let limit = places.wait_for_capacity(64).await;
        assert_eq!(limit.for_workspace(ws(1)), 0, "that another's run has ended makes no room");
        drop((asleep, waiting));
        assert_eq!(acquired(&places, ws(3), 8).await.len(), 6, "what was given back can be taken");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_goes_to_who_has_waited_longest_of_those_that_may_have_it() {
        let places = ConcurrencyLimiter::new(4);
        let mut first = acquired(&places, ws(1), 3).await;
        let other = acquired(&places, ws(2), 1).await;
        let [mut own, mut third] = [1, 3].map(|workspace| places.reserve(ws(workspace)));
        let (own, third, ()) = tokio::join!(own.acquire(), third.acquire(), async {
            tokio::task::yield_now().await;
            drop(first.pop());
        });
        assert!(own.is_err() && third.is_ok(), "the poorer one has it, though it came later");
        drop((first, other));
    }
}
