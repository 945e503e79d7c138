//! Limit on wrong device codes.
//!
//! A user code has 34.5 bits. With five wrong guesses in its lifetime, somebody finds one of 2,000 pending logins about
//! once in three million tries (RFC 8628, section 5.1). Like rate limits, counts belong to the process.

use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use kernel::{Timestamp, id::SessionId};

use crate::{Problem, rate_limits::network_prefix};

const WINDOW: TimeDelta = TimeDelta::minutes(10);
const MAX_PER_SESSION: usize = 5;
const MAX_PER_ADDRESS: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AttemptKey {
    Session(SessionId),
    Address(IpAddr),
}

/// Wrong guesses of the last ten minutes.
#[derive(Default)]
pub struct AttemptLimiter(Mutex<HashMap<AttemptKey, VecDeque<Timestamp>>>);

/// A guess that is being checked. It counts as wrong until it [succeeds](Self::succeed), so that concurrent guesses
/// cannot exceed the limit.
#[must_use = "a guess counts as wrong unless it succeeds"]
pub struct Attempt<'a> {
    limiter: &'a AttemptLimiter,
    keys: Vec<AttemptKey>,
    at: Timestamp,
}

impl AttemptLimiter {
    /// Begins a guess.
    ///
    /// # Errors
    /// 429 `rate_limited` if the session or the address made too many wrong guesses; do not check the guess then.
    pub fn begin(
        &self,
        session: SessionId,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Attempt<'_>, Problem> {
        let limits = [
            (Some(AttemptKey::Session(session)), MAX_PER_SESSION),
            (address.map(|address| AttemptKey::Address(network_prefix(address))), MAX_PER_ADDRESS),
        ];
        let mut guesses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut keys = Vec::new();
        for (key, limit) in limits.into_iter().filter_map(|(key, limit)| Some((key?, limit))) {
            let times = guesses.entry(key).or_default();
            times.retain(|at| now < *at + WINDOW);
            if let Some(oldest) = times.front().filter(|_| times.len() >= limit) {
                let wait = (*oldest + WINDOW - now).to_std().unwrap_or(Duration::from_secs(1));
                return Err(Problem::rate_limited(wait)
                    .hint("You entered too many wrong codes. Wait, then try again."));
            }
            keys.push(key);
        }
        for key in &keys {
            guesses.entry(*key).or_default().push_back(now);
        }
        Ok(Attempt { limiter: self, keys, at: now })
    }

    /// Removes those without a wrong guess in the last ten minutes.
    pub fn evict_expired(&self, now: Timestamp) {
        let mut guesses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        guesses.retain(|_, times| times.back().is_some_and(|at| now < *at + WINDOW));
    }
}

impl Attempt<'_> {
    /// Takes back the count of this guess, because it was right. Earlier ones still count.
    pub fn succeed(self) {
        let mut guesses = self.limiter.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            if let Some(times) = guesses.get_mut(key)
                && let Some(index) = times.iter().position(|at| *at == self.at)
            {
                times.remove(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Id, SeededRandomness};

    use super::*;

    fn session(number: u64) -> SessionId {
        Id::generate(&SeededRandomness::new(number), Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn a_session_is_refused_after_five_wrong_guesses_despite_right_ones() {
        let limiter = AttemptLimiter::default();
        let start = Timestamp::UNIX_EPOCH;
        let address = Some("192.0.2.1".parse().unwrap());
        let begin = |number, at| limiter.begin(session(number), address, at);
        for miss in 0..5 {
            let _wrong = begin(1, start + TimeDelta::seconds(miss)).unwrap();
            if miss < 4 {
                begin(1, start + TimeDelta::seconds(miss)).unwrap().succeed();
            }
        }
        let refused = begin(1, start + TimeDelta::minutes(9)).err().unwrap();
        assert_eq!(
            (refused.code.as_ref(), refused.retry_after),
            ("rate_limited", Some(Duration::from_secs(60)))
        );
        // Another session at the same address has the rest of the address's limit.
        for _ in 0..5 {
            let _wrong = begin(2, start).unwrap();
        }
        assert!(begin(3, start).is_err());
        assert!(limiter.begin(session(3), Some("192.0.2.2".parse().unwrap()), start).is_ok());
        // A wrong guess counts for ten minutes.
        assert!(begin(1, start + WINDOW).is_ok());
        limiter.evict_expired(start + WINDOW * 3);
        assert!(limiter.0.lock().unwrap().is_empty());
    }

    #[test]
    fn concurrent_guesses_cannot_exceed_the_limit() {
        let limiter = AttemptLimiter::default();
        let under_way: Vec<_> =
            (0..50).filter_map(|_| limiter.begin(session(1), None, Timestamp::UNIX_EPOCH).ok()).collect();
        assert_eq!(under_way.len(), MAX_PER_SESSION);
    }
}
