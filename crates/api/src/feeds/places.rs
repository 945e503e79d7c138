//! How many may follow at once.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kernel::{Problem, ProblemKind, id::UserId};
use tokio::sync::watch;

use crate::state::Api;

/// How many streams and waiting requests a person may have open at this process.
const PERSON: usize = 16;
/// How many there may be in all.
const ALL: usize = 2_000;
/// When one who found no place may try again.
const AGAIN: Duration = Duration::from_secs(5);

/// The places of this process.
pub(crate) struct Places {
    taken: Mutex<HashMap<UserId, usize>>,
    closed: watch::Sender<bool>,
}

impl Default for Places {
    fn default() -> Self {
        Self { taken: Mutex::default(), closed: watch::Sender::new(false) }
    }
}

impl Places {
    fn taken(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, user: UserId) -> Result<(), Problem> {
        let mut taken = self.taken();
        let all: usize = taken.values().sum();
        let own = taken.get(&user).copied().unwrap_or_default();
        if own >= PERSON || all >= ALL {
            return Err(Problem::new(
                ProblemKind::RateLimited,
                "too_many_streams",
                "Too many streams are open already.",
            )
            .hint("Close one, or share one among the pages of a browser.")
            .retry_after(AGAIN));
        }
        taken.insert(user, own + 1);
        Ok(())
    }

    fn give_back(&self, user: UserId) {
        let mut taken = self.taken();
        match taken.get_mut(&user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&user)),
        }
    }

    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }
}

/// A place, until it is dropped.
pub(super) struct Place {
    api: Api,
    user: UserId,
    closed: watch::Receiver<bool>,
}

impl Place {
    /// Takes a place for a person.
    ///
    /// # Errors
    /// 429 `too_many_streams`.
    pub(super) fn take(api: &Api, user: UserId) -> Result<Self, Problem> {
        api.places.take(user)?;
        Ok(Self { api: api.clone(), user, closed: api.places.closed.subscribe() })
    }

    /// Waits until the server stops; at once when it does already.
    pub(super) async fn closed(&mut self) {
        // The sender lives as long as the API.
        let _closed = self.closed.wait_for(|closed| *closed).await;
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.api.places.give_back(self.user);
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
        let (places, aru, bek) = (Places::default(), person(), person());
        for _ in 0..PERSON {
            places.take(aru).unwrap();
        }
        let refusal = places.take(aru).unwrap_err();
        assert_eq!((refusal.code.as_ref(), refusal.retry_after), ("too_many_streams", Some(AGAIN)));
        places.take(bek).unwrap();
        places.give_back(aru);
        places.take(aru).unwrap();
        for _ in 0..PERSON {
            places.give_back(aru);
        }
        places.give_back(bek);
        assert!(places.taken().is_empty(), "nothing is kept of those who are gone");
    }
}
