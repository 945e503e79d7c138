//! How many runs may be claimed: as many as can start at once, and as many again as end in a few milliseconds, so that
//! short runs do not wait for a claim each.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
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
    slots: Arc<Semaphore>,
    count: u32,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    /// Runs that are claimed and whose code has not ended.
    claimed: u32,
    /// When the current window began, what ended in it, and in the one before.
    since: Instant,
    ended: u32,
    ended_before: u32,
}

impl State {
    fn roll(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        if passed < WINDOW {
            return;
        }
        self.ended_before = if passed < 2 * WINDOW { self.ended } else { 0 };
        self.ended = 0;
        self.since = now;
    }
}

/// A claimed run's turn at a place. Dropped when its code has ended, or is not to begin.
pub(super) struct Turn {
    places: Arc<Places>,
    place: Option<OwnedSemaphorePermit>,
}

/// Nothing became free in time, or nothing more is to begin.
pub(super) struct NoPlace;

impl Places {
    /// Places for `count` runs at once.
    pub(super) fn new(count: u32) -> Arc<Self> {
        let state = State { claimed: 0, since: Instant::now(), ended: 0, ended_before: 0 };
        let slots = Arc::new(Semaphore::new(count as usize));
        Arc::new(Self { slots, count, state: Mutex::new(state), changed: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs may be claimed now.
    fn room(&self) -> u32 {
        let mut state = self.state();
        state.roll(Instant::now());
        let ahead = state.ended.max(state.ended_before).min(MAX_AHEAD);
        (self.count + ahead).saturating_sub(state.claimed)
    }

    /// Waits until a run may be claimed; how many may.
    pub(super) async fn wait_for_room(&self) -> u32 {
        loop {
            match self.room() {
                0 => self.changed.notified().await,
                room => return room,
            }
        }
    }

    /// A turn for a run that was claimed.
    pub(super) fn turn(self: &Arc<Self>) -> Turn {
        self.state().claimed += 1;
        Turn { places: Arc::clone(self), place: None }
    }

    /// From now on no run begins that has no place yet.
    pub(super) fn close(&self) {
        self.slots.close();
    }
}

impl Turn {
    /// Waits for a place.
    pub(super) async fn begin(&mut self) -> Result<(), NoPlace> {
        let place = timeout(PATIENCE, Arc::clone(&self.places.slots).acquire_owned()).await;
        self.place = Some(place.map_err(|_| NoPlace)?.map_err(|_| NoPlace)?);
        Ok(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.claimed -= 1;
        if self.place.take().is_some() {
            state.roll(Instant::now());
            state.ended += 1;
        }
        drop(state);
        self.places.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    async fn run_one(places: &Arc<Places>) {
        let mut turn = places.turn();
        assert!(turn.begin().await.is_ok());
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
        let mut at_work = places.turn();
        assert!(at_work.begin().await.is_ok());
        assert_eq!(places.room(), 0);
        let mut waiting = places.turn();
        assert!(waiting.begin().await.is_err());
        drop(waiting);
        assert_eq!(places.room(), 0);
        drop(at_work);
        assert_eq!(places.wait_for_room().await, 2);
        places.close();
        assert!(places.turn().begin().await.is_err());
    }
}
