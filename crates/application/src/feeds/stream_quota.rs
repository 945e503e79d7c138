//! Limits on the number of open streams and waiting requests.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::id::UserId;
use tokio::sync::watch;

use crate::{Problem, ProblemKind};

/// Maximum number of streams and waiting requests per person and process.
const MAX_PER_USER: usize = 16;
/// Maximum number per process.
const MAX_TOTAL: usize = 2_000;
/// Time after which a refused client may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The open streams and waiting requests of this process.
pub struct StreamQuota {
    open_by_user: Mutex<HashMap<UserId, usize>>,
    shutdown: watch::Sender<bool>,
}

impl Default for StreamQuota {
    fn default() -> Self {
        Self { open_by_user: Mutex::default(), shutdown: watch::Sender::new(false) }
    }
}

impl StreamQuota {
    fn lock_open(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.open_by_user.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn acquire(&self, user: UserId) -> Result<(), Problem> {
        let mut taken = self.lock_open();
        let all: usize = taken.values().sum();
        let own = taken.get(&user).copied().unwrap_or_default();
        if own >= MAX_PER_USER || all >= MAX_TOTAL {
            return Err(Problem::new(
                ProblemKind::RateLimited,
                "too_many_streams",
                "Too many streams are open.",
            )
            .hint("Close a stream, or share one between the pages of a browser.")
            .retry_after(RETRY_AFTER));
        }
        taken.insert(user, own + 1);
        Ok(())
    }

    pub(super) fn release(&self, user: UserId) {
        let mut taken = self.lock_open();
        match taken.get_mut(&user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&user)),
        }
    }

    /// Returns a receiver of `true` once the server stops.
    pub(super) fn subscribe(&self) -> watch::Receiver<bool> {
        self.shutdown.subscribe()
    }

    /// Ends all streams and waiting requests of this process, because the server stops.
    pub fn close(&self) {
        self.shutdown.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Id, SeededRandomness, Timestamp};

    use super::*;

    #[test]
    fn a_released_permit_can_be_acquired_again() {
        let random = SeededRandomness::new(1);
        let person = || Id::generate(&random, Timestamp::UNIX_EPOCH);
        let (quota, aru, bek) = (StreamQuota::default(), person(), person());
        for _ in 0..MAX_PER_USER {
            quota.acquire(aru).unwrap();
        }
        let refusal = quota.acquire(aru).unwrap_err();
        assert_eq!((refusal.code.as_ref(), refusal.retry_after), ("too_many_streams", Some(RETRY_AFTER)));
        quota.acquire(bek).unwrap();
        quota.release(aru);
        quota.acquire(aru).unwrap();
        for _ in 0..MAX_PER_USER {
            quota.release(aru);
        }
        quota.release(bek);
        assert!(quota.lock_open().is_empty(), "people without streams are removed");
    }
}
