//! Limits how many runs are claimed and how many execute: one permit for each run that executes, and as many claimed
//! ahead as end within a few milliseconds, so that short runs do not wait for a claim each. No share, the workspaces of
//! one person, gets all permits: runs that sleep or compute hold theirs for as long as a run may take.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::ShareId;
use runs::{
    fair_share::{can_acquire, remaining_share},
    queue::ClaimLimit,
};
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, timeout},
};

/// Period whose ended runs set how many are claimed ahead: about as long as a claim takes.
const WINDOW: Duration = Duration::from_millis(10);
/// Maximum number of runs claimed ahead.
const MAX_CLAIMED_AHEAD: u32 = 64;
/// Time a claimed run waits for a permit before it is released to other nodes.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(1);

/// Permits of executing runs, and the runs that wait for one.
pub(super) struct ConcurrencyLimiter {
    /// Number of permits.
    capacity: u32,
    state: Mutex<LimiterState>,
    changed: Notify,
}

struct LimiterState {
    /// Claimed runs whose code has not ended.
    claimed: ShareCounts,
    /// Claimed runs that hold a permit.
    running: ShareCounts,
    /// Claimed runs that wait for a permit, in order of arrival.
    waiting: VecDeque<(ShareId, oneshot::Sender<Permit>)>,
    is_closed: bool,
    /// Start of the current window.
    window_start: Instant,
    ended_in_window: ShareCounts,
    ended_in_previous_window: ShareCounts,
}

/// Counts in total and per share.
#[derive(Default)]
struct ShareCounts {
    total: u32,
    by_share: HashMap<ShareId, u32>,
}

impl ShareCounts {
    fn of(&self, share: ShareId) -> u32 {
        self.by_share.get(&share).copied().unwrap_or_default()
    }

    fn add(&mut self, share: ShareId) {
        self.total += 1;
        *self.by_share.entry(share).or_default() += 1;
    }

    fn remove(&mut self, share: ShareId) {
        self.total = self.total.saturating_sub(1);
        if let Some(count) = self.by_share.get_mut(&share) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_share.remove(&share);
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
        self.ended_in_previous_window = if passed < 2 * WINDOW { ended } else { ShareCounts::default() };
        self.window_start = now;
    }

    /// Returns how many more runs of a share may be claimed: its part of `free` permits, and as many as it ended in the
    /// current or the previous window. Runs that others end make no room for one that has its part.
    fn claimable(&self, share: ShareId, free: usize) -> u32 {
        let at_work = self.running.of(share);
        let waiting = self.claimed.of(share).saturating_sub(at_work);
        let begin = if waiting > 0 { 0 } else { remaining_share(at_work as usize, free) };
        let ahead = self
            .ended_in_window
            .of(share)
            .max(self.ended_in_previous_window.of(share))
            .saturating_sub(waiting);
        u32::try_from(begin).unwrap_or(u32::MAX).saturating_add(ahead)
    }
}

/// A claimed run's reservation of a permit. Drop it when the run's code has ended or is not to start.
pub(super) struct Reservation {
    limiter: Arc<ConcurrencyLimiter>,
    share: ShareId,
    permit: Option<Permit>,
    waiting: Option<oneshot::Receiver<Permit>>,
    /// True once the run may execute.
    has_started: bool,
}

/// The right of one run to execute. Dropping it passes it to the next waiting run.
struct Permit {
    limiter: Arc<ConcurrencyLimiter>,
    share: ShareId,
}

/// No permit became free in time, or the limiter is closed.
pub(super) struct NoPermit;

impl ConcurrencyLimiter {
    /// Creates a limiter with `count` permits.
    pub(super) fn new(count: u32) -> Arc<Self> {
        let state = LimiterState {
            claimed: ShareCounts::default(),
            running: ShareCounts::default(),
            waiting: VecDeque::new(),
            is_closed: false,
            window_start: Instant::now(),
            ended_in_window: ShareCounts::default(),
            ended_in_previous_window: ShareCounts::default(),
        };
        Arc::new(Self { capacity: count, state: Mutex::new(state), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many runs may be claimed now.
    #[cfg(test)]
    fn available(&self) -> u32 {
        self.available_in(&mut self.state())
    }

    fn available_in(&self, state: &mut LimiterState) -> u32 {
        state.roll_window(Instant::now());
        let ahead =
            state.ended_in_window.total.max(state.ended_in_previous_window.total).min(MAX_CLAIMED_AHEAD);
        let unclaimed = (self.capacity + ahead).saturating_sub(state.claimed.total);
        // Waiting runs may be of shares that cannot use the free permits, so those stay claimable.
        unclaimed.max(self.capacity.saturating_sub(state.running.total))
    }

    /// Waits until runs may be claimed; the limit returned is at most `batch`.
    pub(super) async fn wait_for_capacity(&self, batch: u32) -> ClaimLimit {
        loop {
            if let Some(limit) = self.claim_limit(batch) {
                return limit;
            }
            self.changed.notified().await;
        }
    }

    /// Returns how many runs may be claimed now, at most `batch`; `None` if none may.
    pub(super) fn claim_limit(&self, batch: u32) -> Option<ClaimLimit> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        let room = self.available_in(&mut state).min(batch);
        if room == 0 {
            return None;
        }
        let free = self.capacity.saturating_sub(state.running.total) as usize;
        let claimed = state.claimed.by_share.keys();
        let shares = claimed.map(|share| (*share, state.claimable(*share, free))).collect();
        // Shares without claimed runs: each may claim its part of this claim, and of all permits.
        Some(ClaimLimit::with_shares(room, self.claimable_by_others(room), shares))
    }

    /// Returns how many of `room` runs may be of one share that has claimed none.
    fn claimable_by_others(&self, room: u32) -> u32 {
        u32::try_from(remaining_share(0, room.min(self.capacity) as usize)).unwrap_or(room)
    }

    /// Waits until a reservation is dropped.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Reserves a permit for a claimed run, and grants it at once if the share may have a free one.
    pub(super) fn reserve(self: &Arc<Self>, share: ShareId) -> Reservation {
        self.reserve_in(self.state(), share)
    }

    /// Reserves a permit if one more run of the share may be claimed now.
    pub(super) fn try_reserve(self: &Arc<Self>, share: ShareId) -> Option<Reservation> {
        let mut state = self.state();
        let room = self.available_in(&mut state);
        let free = self.capacity.saturating_sub(state.running.total) as usize;
        let of_share = if state.claimed.of(share) > 0 {
            state.claimable(share, free)
        } else {
            self.claimable_by_others(room)
        };
        let may_claim = !state.is_closed && room > 0 && of_share > 0;
        may_claim.then(|| self.reserve_in(state, share))
    }

    fn reserve_in(self: &Arc<Self>, mut state: MutexGuard<'_, LimiterState>, share: ShareId) -> Reservation {
        state.claimed.add(share);
        let (mut permit, mut waiting) = (None, None);
        if self.can_start(&state, share) {
            permit = Some(self.grant(&mut state, share));
        } else if !state.is_closed {
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back((share, sender));
            waiting = Some(receiver);
        }
        drop(state);
        Reservation { limiter: Arc::clone(self), share, permit, waiting, has_started: false }
    }

    fn can_start(&self, state: &LimiterState, share: ShareId) -> bool {
        let free = self.capacity.saturating_sub(state.running.total);
        !state.is_closed && can_acquire(state.running.of(share) as usize, free as usize)
    }

    fn grant(self: &Arc<Self>, state: &mut LimiterState, share: ShareId) -> Permit {
        state.running.add(share);
        Permit { limiter: Arc::clone(self), share }
    }

    /// Lets no run start that holds no permit yet.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(waiting);
    }
}

impl Reservation {
    /// Waits for the permit.
    pub(super) async fn acquire(&mut self) -> Result<(), NoPermit> {
        if let Some(waiting) = self.waiting.take() {
            let permit = timeout(ACQUIRE_TIMEOUT, waiting).await;
            self.permit = Some(permit.map_err(|_| NoPermit)?.map_err(|_| NoPermit)?);
        }
        let closed = self.limiter.state().is_closed;
        self.has_started = self.permit.is_some() && !closed;
        if self.has_started { Ok(()) } else { Err(NoPermit) }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.limiter.state();
        state.running.remove(self.share);
        let mut granted = Vec::new();
        loop {
            state.waiting.retain(|(_, sender)| !sender.is_closed());
            // The longest waiting of the share that holds the fewest.
            let waiting = state.waiting.iter().enumerate();
            let next = waiting
                .filter(|(_, (share, _))| self.limiter.can_start(&state, *share))
                .min_by_key(|(_, (share, _))| state.running.of(*share))
                .map(|(at, _)| at);
            let Some((share, sender)) = next.and_then(|at| state.waiting.remove(at)) else { break };
            granted.push((sender, self.limiter.grant(&mut state, share)));
        }
        drop(state);
        for (sender, permit) in granted {
            // If that run gave up meanwhile, the permit is dropped here and passed on.
            let _ = sender.send(permit);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let permit = self.permit.take();
        let mut state = self.limiter.state();
        state.claimed.remove(self.share);
        if self.has_started {
            state.roll_window(Instant::now());
            state.ended_in_window.add(self.share);
        }
        drop(state);
        drop(permit);
        self.limiter.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use tokio::time::advance;
    use uuid::Uuid;

    use super::*;

    fn share(number: u128) -> ShareId {
        let workspace: kernel::id::WorkspaceId = Id::from_uuid(Uuid::from_u128(number));
        workspace.into()
    }

    async fn run_one(limiter: &Arc<ConcurrencyLimiter>) {
        let mut reservation = limiter.reserve(share(1));
        assert!(reservation.acquire().await.is_ok());
    }

    /// Reserves `tried` permits one after another and returns the reservations that got one.
    async fn acquired(limiter: &Arc<ConcurrencyLimiter>, share: ShareId, tried: usize) -> Vec<Reservation> {
        let mut begun = Vec::new();
        for _ in 0..tried {
            let mut reservation = limiter.reserve(share);
            if reservation.acquire().await.is_ok() {
                begun.push(reservation);
            }
        }
        begun
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_runs_as_ended_lately_may_be_claimed_ahead() {
        let limiter = ConcurrencyLimiter::new(2);
        assert_eq!(limiter.available(), 2);
        for _ in 0..5 {
            run_one(&limiter).await;
        }
        assert_eq!(limiter.available(), 7);
        advance(WINDOW).await;
        assert_eq!(limiter.available(), 7, "the previous window counts");
        advance(2 * WINDOW).await;
        assert_eq!(limiter.available(), 2, "runs that ended earlier do not");
        for _ in 0..1000 {
            run_one(&limiter).await;
        }
        assert_eq!(limiter.available(), 2 + MAX_CLAIMED_AHEAD);
    }

    #[tokio::test(start_paused = true)]
    async fn runs_without_a_permit_count_as_claimed_and_time_out() {
        let limiter = ConcurrencyLimiter::new(1);
        let mut at_work = limiter.reserve(share(1));
        assert!(at_work.acquire().await.is_ok());
        assert_eq!(limiter.available(), 0);
        let mut waiting = limiter.reserve(share(1));
        assert!(waiting.acquire().await.is_err());
        drop(waiting);
        assert_eq!(limiter.available(), 0);
        drop(at_work);
        assert_eq!(limiter.wait_for_capacity(9).await.total(), 2);
        limiter.close();
        assert!(limiter.reserve(share(1)).acquire().await.is_err());
    }

    /// However many sleeping runs were claimed, runs of others start at once.
    #[tokio::test(start_paused = true)]
    async fn a_share_whose_runs_never_end_leaves_permits_to_others() {
        let limiter = ConcurrencyLimiter::new(8);
        let asleep = acquired(&limiter, share(1), 12).await;
        assert_eq!(asleep.len(), 6);
        let waiting: Vec<_> = (0..50).map(|_| limiter.reserve(share(1))).collect();
        let limit = limiter.wait_for_capacity(64).await;
        assert_eq!((limit.total(), limit.for_share(share(1)), limit.for_share(share(2))), (2, 0, 1));
        assert_eq!(limit.exhausted_shares().collect::<Vec<_>>(), [share(1)]);
        let before = Instant::now();
        let other = acquired(&limiter, share(2), 1).await;
        assert_eq!((other.len(), before.elapsed()), (1, Duration::ZERO));
        drop(other);
        let limit = limiter.wait_for_capacity(64).await;
        assert_eq!(limit.for_share(share(1)), 0, "a run that another ended makes no room");
        drop((asleep, waiting));
        assert_eq!(acquired(&limiter, share(3), 8).await.len(), 6, "returned permits can be taken");
    }

    #[tokio::test(start_paused = true)]
    async fn a_permit_goes_to_the_share_that_holds_the_fewest() {
        let limiter = ConcurrencyLimiter::new(8);
        let mut loud = acquired(&limiter, share(1), 5).await;
        let (two, one) = (acquired(&limiter, share(2), 2).await, acquired(&limiter, share(3), 1).await);
        let [mut older, mut younger] = [2, 3].map(|number| limiter.reserve(share(number)));
        let (older, younger, ()) = tokio::join!(older.acquire(), younger.acquire(), async {
            tokio::task::yield_now().await;
            loud.truncate(3);
        });
        assert!(older.is_err() && younger.is_ok(), "either may have one, and one is left for who has none");
        drop((loud, two, one));
    }

    #[tokio::test(start_paused = true)]
    async fn a_permit_goes_to_the_longest_waiting_run_of_a_share_below_its_part() {
        let limiter = ConcurrencyLimiter::new(4);
        let mut first = acquired(&limiter, share(1), 3).await;
        let other = acquired(&limiter, share(2), 1).await;
        let [mut own, mut third] = [1, 3].map(|number| limiter.reserve(share(number)));
        let (own, third, ()) = tokio::join!(own.acquire(), third.acquire(), async {
            tokio::task::yield_now().await;
            drop(first.pop());
        });
        assert!(own.is_err() && third.is_ok(), "the one that holds less gets it, though it came later");
        drop((first, other));
    }
}
