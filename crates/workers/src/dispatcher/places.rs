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
    queue::ClaimLimit,
    share::{allowance, may_take},
};
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, timeout},
};

/// What ended in this time is claimed ahead: it is about what a claim takes.
const WINDOW: Duration = Duration::from_millis(10);
/// Runs claimed ahead at most.
const MAX_AHEAD: u32 = 64;
/// How long a claimed run waits for a place before others may have it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The places of runs at work, and the runs that wait for one.
pub(super) struct Places {
    /// Runs at work at once.
    count: u32,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    /// Runs that are claimed and whose code has not ended.
    claimed: Count,
    /// Those of them that have a place.
    at_work: Count,
    /// Those that wait for one, in the order in which they came.
    waiting: VecDeque<(WorkspaceId, oneshot::Sender<Place>)>,
    closed: bool,
    /// When the current window began, what ended in it, and in the one before.
    since: Instant,
    ended: Count,
    ended_before: Count,
}

/// How many there are, in all and of each workspace.
#[derive(Default)]
struct Count {
    in_all: u32,
    by_workspace: HashMap<WorkspaceId, u32>,
}

impl Count {
    fn of(&self, workspace: WorkspaceId) -> u32 {
        self.by_workspace.get(&workspace).copied().unwrap_or_default()
    }

    fn add(&mut self, workspace: WorkspaceId) {
        self.in_all += 1;
        *self.by_workspace.entry(workspace).or_default() += 1;
    }

    fn remove(&mut self, workspace: WorkspaceId) {
        self.in_all = self.in_all.saturating_sub(1);
        if let Some(count) = self.by_workspace.get_mut(&workspace) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_workspace.remove(&workspace);
            }
        }
    }
}

impl State {
    fn roll(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed < WINDOW {
            return;
        }
        let ended = std::mem::take(&mut self.ended);
        self.ended_before = if passed < 2 * WINDOW { ended } else { Count::default() };
        self.since = now;
    }

    /// How many more of a workspace may be claimed: what its share of `free` places is, and as many as ended of it a
    /// moment ago. What others end makes no room for runs of one that has its share.
    fn allowance(&self, workspace: WorkspaceId, free: usize) -> u32 {
        let at_work = self.at_work.of(workspace);
        let waiting = self.claimed.of(workspace).saturating_sub(at_work);
        let begin = if waiting > 0 { 0 } else { allowance(at_work as usize, free) };
        let ahead = self.ended.of(workspace).max(self.ended_before.of(workspace)).saturating_sub(waiting);
        u32::try_from(begin).unwrap_or(u32::MAX).saturating_add(ahead)
    }
}

/// A claimed run's turn at a place. Dropped when its code has ended, or is not to begin.
pub(super) struct Turn {
    places: Arc<Places>,
    workspace: WorkspaceId,
    place: Option<Place>,
    waiting: Option<oneshot::Receiver<Place>>,
}

/// A place, taken. Dropping it gives it to whoever is next.
struct Place {
    places: Arc<Places>,
    workspace: WorkspaceId,
}

/// Nothing became free in time, or nothing more is to begin.
pub(super) struct NoPlace;

impl Places {
    /// Places for `count` runs at once.
    pub(super) fn new(count: u32) -> Arc<Self> {
        let state = State {
            claimed: Count::default(),
            at_work: Count::default(),
            waiting: VecDeque::new(),
            closed: false,
            since: Instant::now(),
            ended: Count::default(),
            ended_before: Count::default(),
        };
        Arc::new(Self { count, state: Mutex::new(state), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs may be claimed now.
    #[cfg(test)]
    fn room(&self) -> u32 {
        self.room_in(&mut self.state())
    }

    fn room_in(&self, state: &mut State) -> u32 {
        state.roll(Instant::now());
        let ahead = state.ended.in_all.max(state.ended_before.in_all).min(MAX_AHEAD);
        let unclaimed = (self.count + ahead).saturating_sub(state.claimed.in_all);
        // Those that wait may not have the places that are free.
        unclaimed.max(self.count.saturating_sub(state.at_work.in_all))
    }

    /// Waits until a run may be claimed; how many may, at most `batch`.
    pub(super) async fn wait_for_room(&self, batch: u32) -> ClaimLimit {
        loop {
            if let Some(limit) = self.limit(batch) {
                return limit;
            }
            self.changed.notified().await;
        }
    }

    fn limit(&self, batch: u32) -> Option<ClaimLimit> {
        let mut state = self.state();
        let room = self.room_in(&mut state).min(batch);
        if room == 0 {
            return None;
        }
        let free = self.count.saturating_sub(state.at_work.in_all) as usize;
        let known = state.claimed.by_workspace.keys();
        let of = known.map(|workspace| (*workspace, state.allowance(*workspace, free))).collect();
        // Others hold nothing yet: each may claim its share of what is to be claimed, and of all places.
        let of_others = allowance(0, room.min(self.count) as usize);
        Some(ClaimLimit::shared(room, u32::try_from(of_others).unwrap_or(room), of))
    }

    /// Waits until the code of a run has ended.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A turn for a run that was claimed. It has a place at once where one is free for its workspace.
    pub(super) fn turn(self: &Arc<Self>, workspace: WorkspaceId) -> Turn {
        let mut state = self.state();
        state.claimed.add(workspace);
        let (mut place, mut waiting) = (None, None);
        if self.may_begin(&state, workspace) {
            place = Some(self.take(&mut state, workspace));
        } else if !state.closed {
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back((workspace, sender));
            waiting = Some(receiver);
        }
        drop(state);
        Turn { places: Arc::clone(self), workspace, place, waiting }
    }

    fn may_begin(&self, state: &State, workspace: WorkspaceId) -> bool {
        let free = self.count.saturating_sub(state.at_work.in_all);
        !state.closed && may_take(state.at_work.of(workspace) as usize, free as usize)
    }

    fn take(self: &Arc<Self>, state: &mut State, workspace: WorkspaceId) -> Place {
        state.at_work.add(workspace);
        Place { places: Arc::clone(self), workspace }
    }

    /// From now on no run begins that has no place yet.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
    }
}

impl Turn {
    /// Waits for a place.
    pub(super) async fn begin(&mut self) -> Result<(), NoPlace> {
        if let Some(waiting) = self.waiting.take() {
            let place = timeout(PATIENCE, waiting).await;
            self.place = Some(place.map_err(|_| NoPlace)?.map_err(|_| NoPlace)?);
        }
        let closed = self.places.state().closed;
        if self.place.is_some() && !closed { Ok(()) } else { Err(NoPlace) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.at_work.remove(self.workspace);
        let mut given = Vec::new();
        loop {
            state.waiting.retain(|(_, turn)| !turn.is_closed());
            let next =
                state.waiting.iter().position(|(workspace, _)| self.places.may_begin(&state, *workspace));
            let Some((workspace, turn)) = next.and_then(|at| state.waiting.remove(at)) else { break };
            given.push((turn, self.places.take(&mut state, workspace)));
        }
        drop(state);
        for (turn, place) in given {
            // Should that run have lost its patience at this very moment, the place comes back here.
            let _ = turn.send(place);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let place = self.place.take();
        let mut state = self.places.state();
        state.claimed.remove(self.workspace);
        if place.is_some() {
            state.roll(Instant::now());
            state.ended.add(self.workspace);
        }
        drop(state);
        drop(place);
        self.places.changed.notify_one();
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

    async fn run_one(places: &Arc<Places>) {
        let mut turn = places.turn(ws(1));
        assert!(turn.begin().await.is_ok());
    }

    /// Turns of as many runs of a workspace as find a place at once.
    async fn begun(places: &Arc<Places>, workspace: WorkspaceId, tried: usize) -> Vec<Turn> {
        let mut begun = Vec::new();
        for _ in 0..tried {
            let mut turn = places.turn(workspace);
            if turn.begin().await.is_ok() {
                begun.push(turn);
            }
        }
        begun
    }

    #[tokio::test(start_paused = true)]
    async fn what_ended_a_moment_ago_may_be_claimed_ahead() {
        let places = Places::new(2);
        assert_eq!(places.room(), 2);
        for _ in 0..5 {
            run_one(&places).await;
        }
        assert_eq!(places.room(), 7);
        advance(WINDOW).await;
        assert_eq!(places.room(), 7, "the window before counts");
        advance(2 * WINDOW).await;
        assert_eq!(places.room(), 2, "what ended long ago does not");
        for _ in 0..1000 {
            run_one(&places).await;
        }
        assert_eq!(places.room(), 2 + MAX_AHEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn runs_without_a_place_take_room_and_lose_patience() {
        let places = Places::new(1);
        let mut at_work = places.turn(ws(1));
        assert!(at_work.begin().await.is_ok());
        assert_eq!(places.room(), 0);
        let mut waiting = places.turn(ws(1));
        assert!(waiting.begin().await.is_err());
        drop(waiting);
        assert_eq!(places.room(), 0);
        drop(at_work);
        assert_eq!(places.wait_for_room(9).await.in_all(), 2);
        places.close();
        assert!(places.turn(ws(1)).begin().await.is_err());
    }

    /// Runs that sleep, however many were claimed: others begin at once beside them.
    #[tokio::test(start_paused = true)]
    async fn a_workspace_whose_runs_never_end_leaves_places_to_others() {
        let places = Places::new(8);
        let asleep = begun(&places, ws(1), 12).await;
        assert_eq!(asleep.len(), 6);
        let waiting: Vec<_> = (0..50).map(|_| places.turn(ws(1))).collect();
        let limit = places.wait_for_room(64).await;
        assert_eq!((limit.in_all(), limit.of(ws(1)), limit.of(ws(2))), (2, 0, 1));
        assert_eq!(limit.full().collect::<Vec<_>>(), [ws(1)]);
        let before = Instant::now();
        let other = begun(&places, ws(2), 1).await;
        assert_eq!((other.len(), before.elapsed()), (1, Duration::ZERO));
        drop(other);
        let limit = places.wait_for_room(64).await;
        assert_eq!(limit.of(ws(1)), 0, "that another's run has ended makes no room");
        drop((asleep, waiting));
        assert_eq!(begun(&places, ws(3), 8).await.len(), 6, "what was given back can be taken");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_goes_to_who_has_waited_longest_of_those_that_may_have_it() {
        let places = Places::new(4);
        let mut first = begun(&places, ws(1), 3).await;
        let other = begun(&places, ws(2), 1).await;
        let [mut own, mut third] = [1, 3].map(|workspace| places.turn(ws(workspace)));
        let (own, third, ()) = tokio::join!(own.begin(), third.begin(), async {
            tokio::task::yield_now().await;
            drop(first.pop());
        });
        assert!(own.is_err() && third.is_ok(), "the poorer one has it, though it came later");
        drop((first, other));
    }
}
