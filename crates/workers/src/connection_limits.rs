//! Limits of requests through one connection, so that code which loops does not use up what the service grants its owner.
//!
//! They belong to the process, as all rate limits (`docs/decisions/0010-rate-limits-per-process.md`).

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use connections::{Refusal, RefusalCode};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use kernel::id::ConnectionId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests through one connection at a time.
const MAX_CONCURRENT: usize = 32;
/// Requests through one connection in a minute.
const PER_MINUTE: NonZeroU32 = NonZeroU32::new(1_200).unwrap();
/// Connections whose requests are counted; the least used are forgotten.
const MAX_CONNECTIONS: u64 = 10_000;
/// Time after which a connection without requests is forgotten: its minute is over.
const FORGET_AFTER: Duration = Duration::from_secs(120);

/// Counts requests by connection.
pub(crate) struct ConnectionLimits(Option<moka::sync::Cache<ConnectionId, Arc<Limit>>>);

struct Limit {
    rate: DefaultDirectRateLimiter,
    concurrent: Arc<Semaphore>,
}

/// A request that is on its way. Dropping it leaves its place to another.
#[derive(Debug, Default)]
pub(crate) struct ConnectionSlot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl ConnectionLimits {
    /// Creates the limits of a process; nothing is limited unless `is_enabled`.
    pub(crate) fn new(is_enabled: bool) -> Self {
        let counts =
            || moka::sync::Cache::builder().max_capacity(MAX_CONNECTIONS).time_to_idle(FORGET_AFTER).build();
        Self(is_enabled.then(counts))
    }

    /// Counts a request through a connection.
    ///
    /// # Errors
    /// [`RefusalCode::RateLimited`] when there are too many at once, or were too many within the minute.
    pub(crate) fn admit(&self, connection: ConnectionId) -> Result<ConnectionSlot, Refusal> {
        let Some(counts) = &self.0 else { return Ok(ConnectionSlot::default()) };
        let limit = counts.get_with(connection, || Arc::new(Limit::new()));
        let refuse = |what: String| Err(Refusal::new(RefusalCode::RateLimited, what));
        let Ok(permit) = Arc::clone(&limit.concurrent).try_acquire_owned() else {
            return refuse(format!("{MAX_CONCURRENT} requests go through the connection already"));
        };
        if limit.rate.check().is_err() {
            return refuse(format!(
                "more than {PER_MINUTE} requests in a minute went through the connection"
            ));
        }
        Ok(ConnectionSlot { _permit: Some(permit) })
    }
}

impl Limit {
    fn new() -> Self {
        Self {
            rate: RateLimiter::direct(Quota::per_minute(PER_MINUTE)),
            concurrent: Arc::new(Semaphore::new(MAX_CONCURRENT)),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::{SeededRandomness, Timestamp, id::ConnectionId};

    use super::*;

    fn ids() -> (ConnectionId, ConnectionId) {
        let random = SeededRandomness::new(1);
        let id = || ConnectionId::generate(&random, Timestamp::UNIX_EPOCH);
        (id(), id())
    }

    #[test]
    fn requests_at_a_time_are_bounded_for_each_connection() {
        let (limits, (one, other)) = (ConnectionLimits::new(true), ids());
        let mut slots: Vec<_> = (0..MAX_CONCURRENT).map(|_| limits.admit(one).unwrap()).collect();
        assert_eq!(limits.admit(one).unwrap_err().code, RefusalCode::RateLimited);
        assert!(limits.admit(other).is_ok());
        slots.pop();
        assert!(limits.admit(one).is_ok());
    }

    #[test]
    fn requests_in_a_minute_are_bounded() {
        let (limits, (one, other)) = (ConnectionLimits::new(true), ids());
        let admitted = (0..PER_MINUTE.get() * 2).filter(|_| limits.admit(one).is_ok()).count();
        // A few more come back while the test runs.
        assert!((1_200..1_300).contains(&admitted), "{admitted}");
        assert!(limits.admit(other).is_ok());
    }

    #[test]
    fn nothing_is_bounded_without_limits() {
        let (limits, (one, _)) = (ConnectionLimits::new(false), ids());
        let slots: Vec<_> = (0..5_000).map(|_| limits.admit(one)).collect();
        assert!(slots.iter().all(Result::is_ok));
    }
}
