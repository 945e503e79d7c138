//! A semaphore whose permits are granted in turn to those who wait, whoever of them asks most.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::channel::oneshot;
use kernel::ShareId;

/// A semaphore that is fair between shares, and first come, first served within one.
#[derive(Debug)]
pub struct FairSemaphore {
    permits: usize,
    limits: ShareLimits,
    state: Mutex<State>,
}

/// Limits of one share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareLimits {
    /// Permits that it may hold.
    pub permits: usize,
    /// Callers of it that may wait.
    pub waiting: usize,
}

/// The right to use one unit. Dropping it passes it on.
#[derive(Debug)]
pub struct FairPermit {
    semaphore: Arc<FairSemaphore>,
    share: ShareId,
}

/// The error of a share of which as many callers wait as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many callers wait")]
pub struct TooManyWaiting;

#[derive(Debug, Default)]
struct State {
    held: usize,
    granted: u64,
    /// Those that hold a permit or wait for one.
    shares: HashMap<ShareId, Share>,
}

#[derive(Debug, Default)]
struct Share {
    held: usize,
    /// Number of its last grant; 0 before the first.
    last_grant: u64,
    waiting: VecDeque<oneshot::Sender<FairPermit>>,
}

impl FairSemaphore {
    /// Creates a semaphore with so many permits, at least one.
    #[must_use]
    pub fn new(permits: usize, limits: ShareLimits) -> Arc<Self> {
        Arc::new(Self { permits: permits.max(1), limits, state: Mutex::default() })
    }

    /// Takes a permit, unless none is free or the share holds as many as it may.
    #[must_use]
    pub fn try_acquire(self: &Arc<Self>, share: ShareId) -> Option<FairPermit> {
        let mut state = self.state();
        let held = state.shares.get(&share).map_or(0, |share| share.held);
        let can_acquire = state.held < self.permits && held < self.limits.permits;
        can_acquire.then(|| self.grant(&mut state, share))
    }

    /// Waits for a permit. The next one goes to the share that holds the fewest, and of these to the one whose last turn was
    /// the longest ago.
    ///
    /// # Errors
    /// [`TooManyWaiting`] when as many callers of the share wait as may.
    pub async fn acquire(self: &Arc<Self>, share: ShareId) -> Result<FairPermit, TooManyWaiting> {
        let waiting = {
            if let Some(permit) = self.try_acquire(share) {
                return Ok(permit);
            }
            let mut state = self.state();
            let waiting = &mut state.shares.entry(share).or_default().waiting;
            waiting.retain(|waiter| !waiter.is_canceled());
            if waiting.len() >= self.limits.waiting {
                return Err(TooManyWaiting);
            }
            let (sender, receiver) = oneshot::channel();
            waiting.push_back(sender);
            // One that was returned in between would be granted to nobody.
            let granted = self.grant_free(&mut state);
            drop(state);
            send(granted);
            receiver
        };
        waiting.await.map_err(|_| TooManyWaiting)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grant(self: &Arc<Self>, state: &mut State, share: ShareId) -> FairPermit {
        state.held += 1;
        state.granted += 1;
        let number = state.granted;
        let entry = state.shares.entry(share).or_default();
        entry.held += 1;
        entry.last_grant = number;
        FairPermit { semaphore: Arc::clone(self), share }
    }

    /// Grants the free permits to those who wait.
    fn grant_free(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<FairPermit>, FairPermit)> {
        let mut granted = Vec::new();
        while state.held < self.permits {
            let may_have = |(_, share): &(&ShareId, &mut Share)| {
                !share.waiting.is_empty() && share.held < self.limits.permits
            };
            let next = state
                .shares
                .iter_mut()
                .filter(may_have)
                .min_by_key(|(id, share)| (share.held, share.last_grant, **id));
            let Some((id, share)) = next else { break };
            let id = *id;
            let waiter =
                std::iter::from_fn(|| share.waiting.pop_front()).find(|waiter| !waiter.is_canceled());
            match waiter {
                Some(waiter) => granted.push((waiter, self.grant(state, id))),
                None if share.held == 0 => drop(state.shares.remove(&id)),
                None => {}
            }
        }
        granted
    }
}

/// Hands permits over. One whose caller went away is dropped, and so passed on.
fn send(granted: Vec<(oneshot::Sender<FairPermit>, FairPermit)>) {
    for (waiter, permit) in granted {
        drop(waiter.send(permit));
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        let mut state = self.semaphore.state();
        state.held -= 1;
        if let Some(share) = state.shares.get_mut(&self.share) {
            share.held -= 1;
        }
        let granted = self.semaphore.grant_free(&mut state);
        // A share that holds nothing and waits for nothing is as one that was never seen.
        if state.shares.get(&self.share).is_some_and(|share| share.held == 0 && share.waiting.is_empty()) {
            state.shares.remove(&self.share);
        }
        drop(state);
        send(granted);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use kernel::{id::UserId, testing::id};

    use super::*;

    fn share(number: u128) -> ShareId {
        let person: UserId = id(number);
        person.into()
    }

    fn semaphore(permits: usize, each: usize, waiting: usize) -> Arc<FairSemaphore> {
        FairSemaphore::new(permits, ShareLimits { permits: each, waiting })
    }

    #[test]
    fn who_asks_most_waits_for_others_in_turn() {
        let semaphore = semaphore(1, 1, 10);
        let first = semaphore.try_acquire(share(1)).unwrap();
        let mut flood: Vec<_> = (0..5).map(|_| semaphore.acquire(share(1)).boxed()).collect();
        assert!(flood.iter_mut().all(|waiting| waiting.now_or_never_mut().is_none()));
        let mut quiet = semaphore.acquire(share(2)).boxed();
        assert!(quiet.now_or_never_mut().is_none());
        drop(first);
        let turn = quiet.now_or_never_mut().unwrap().unwrap();
        assert!(flood[0].now_or_never_mut().is_none());
        let mut again = semaphore.acquire(share(2)).boxed();
        assert!(again.now_or_never_mut().is_none());
        drop(turn);
        let turn = flood[0].now_or_never_mut().unwrap().unwrap();
        drop(turn);
        assert!(again.now_or_never_mut().unwrap().is_ok(), "they take turns");
    }

    #[test]
    fn a_share_has_limits() {
        let semaphore = semaphore(4, 1, 2);
        let held = semaphore.try_acquire(share(1)).unwrap();
        assert!(semaphore.try_acquire(share(1)).is_none() && semaphore.try_acquire(share(2)).is_some());
        let mut waiting: Vec<_> = (0..2).map(|_| semaphore.acquire(share(1)).boxed()).collect();
        assert!(waiting.iter_mut().all(|waiting| waiting.now_or_never_mut().is_none()));
        assert_eq!(semaphore.acquire(share(1)).now_or_never().unwrap().unwrap_err(), TooManyWaiting);
        drop(waiting.pop());
        assert!(semaphore.acquire(share(1)).now_or_never().is_none(), "who went away makes room");
        drop(held);
        assert!(waiting[0].now_or_never_mut().unwrap().is_ok());
    }

    #[test]
    fn nothing_is_kept_of_who_is_gone() {
        let semaphore = semaphore(1, 1, 10);
        let held = semaphore.try_acquire(share(1)).unwrap();
        assert!(semaphore.acquire(share(2)).now_or_never().is_none());
        let mut third = semaphore.acquire(share(3)).boxed();
        assert!(third.now_or_never_mut().is_none());
        drop(held);
        drop(third.now_or_never_mut().unwrap().unwrap());
        let state = semaphore.state();
        assert!(state.shares.is_empty() && state.held == 0);
    }

    /// Polls a future once, and keeps it.
    trait Poll {
        type Output;

        fn now_or_never_mut(&mut self) -> Option<Self::Output>;
    }

    impl<F: Future + Unpin> Poll for F {
        type Output = F::Output;

        fn now_or_never_mut(&mut self) -> Option<F::Output> {
            self.now_or_never()
        }
    }
}
