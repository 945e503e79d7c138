//! How many may follow at once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::{Problem, ProblemKind, id::UserId};
use tokio::sync::watch;

use crate::Application;

/// How many streams and waiting requests a person may have open at this process.
const MAX_PER_USER: usize = 16;
/// How many there may be in all.
const MAX_TOTAL: usize = 2_000;
/// When one who found no place may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The places of this process.
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

    fn acquire(&self, user: UserId) -> Result<(), Problem> {
        let mut taken = self.lock_open();
        let all: usize = taken.values().sum();
        let own = taken.get(&user).copied().unwrap_or_default();
        if own >= MAX_PER_USER || all >= MAX_TOTAL {
            return Err(Problem::new(
                ProblemKind::RateLimited,
                "too_many_streams",
                "Too many streams are open already.",
            )
            .hint("Close one, or share one among the pages of a browser.")
            .retry_after(RETRY_AFTER));
        }
        taken.insert(user, own + 1);
        Ok(())
    }

    fn release(&self, user: UserId) {
        let mut taken = self.lock_open();
        match taken.get_mut(&user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&user)),
        }
    }

    /// Ends every stream and every wait of this process: the server stops.
    pub fn close(&self) {
        self.shutdown.send_replace(true);
    }
}

/// One open stream of a person, until it is dropped.
pub struct StreamPermit {
    app: Application,
    user: UserId,
    shutdown: watch::Receiver<bool>,
}

impl StreamPermit {
    /// Takes a place for a person.
    ///
    /// # Errors
    /// 429 `too_many_streams`.
    pub fn acquire(app: &Application, user: UserId) -> Result<Self, Problem> {
        app.stream_quota().acquire(user)?;
        Ok(Self { app: app.clone(), user, shutdown: app.stream_quota().shutdown.subscribe() })
    }

    /// Waits until the server stops; at once when it does already.
    pub async fn wait_closed(&mut self) {
        // The sender lives as long as the API.
        let _closed = self.shutdown.wait_for(|closed| *closed).await;
    }

    /// `true` once the server stops.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        *self.shutdown.borrow()
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.app.stream_quota().release(self.user);
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Id, SeededRandomness, Timestamp};

    use super::*;

    #[test]
    fn a_person_has_so_many_places_and_gets_them_back() {
        let random = SeededRandomness::new(1);
        let person = || Id::generate(&random, Timestamp::UNIX_EPOCH);
        let (places, aru, bek) = (StreamQuota::default(), person(), person());
        for _ in 0..MAX_PER_USER {
            places.acquire(aru).unwrap();
        }
        let refusal = places.acquire(aru).unwrap_err();
        assert_eq!((refusal.code.as_ref(), refusal.retry_after), ("too_many_streams", Some(RETRY_AFTER)));
        places.acquire(bek).unwrap();
        places.release(aru);
        places.acquire(aru).unwrap();
        for _ in 0..MAX_PER_USER {
            places.release(aru);
        }
        places.release(bek);
        assert!(places.lock_open().is_empty(), "nothing is kept of those who are gone");
    }
}
