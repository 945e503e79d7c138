//! A closed-loop load generator: a fixed number of keep-alive connections, each with one request in flight at a time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::Request;
use tokio::task::JoinSet;

use super::connection::Connection;

/// Time before the measurement, in which caches fill and connections open.
const WARM_UP: Duration = Duration::from_secs(1);

/// Amount and duration of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadPlan {
    pub(super) connections: usize,
    pub(super) duration: Duration,
    /// Minimum time between two requests of a connection; `None` to send as soon as a response has arrived.
    pub(super) interval: Option<Duration>,
}

/// Result of a load.
#[derive(Debug)]
pub(super) struct LoadResult {
    pub(super) per_second: f64,
    /// Number of responses, including those outside the measurement.
    pub(super) response_count: u64,
    pub(super) p95: Duration,
    pub(super) p99: Duration,
    /// Size of the body of a response.
    pub(super) body_bytes: usize,
}

/// Returns the request with a number. No number is used twice with one factory.
pub(super) type RequestFactory = Arc<dyn Fn(u64) -> Result<Request<Bytes>> + Send + Sync>;

/// Sends the requests of `factory` to `address` (`host:port`) for the duration of the plan. Fails unless every response
/// is a success, because the rate of errors means nothing.
pub(super) async fn run(address: &str, plan: LoadPlan, factory: &RequestFactory) -> Result<LoadResult> {
    let mut senders = JoinSet::new();
    let starts_at = Instant::now() + WARM_UP;
    let ends_at = starts_at + plan.duration;
    for first in 0..plan.connections {
        let (address, factory) = (address.to_owned(), Arc::clone(factory));
        senders.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut latencies = Vec::new();
            let (mut body_bytes, mut responses) = (0, 0);
            let mut ticks = plan.interval.map(tokio::time::interval);
            for number in (first as u64..).step_by(plan.connections) {
                let request = factory(number)?;
                if let Some(ticks) = &mut ticks {
                    ticks.tick().await;
                }
                let sent_at = Instant::now();
                body_bytes = connection.send(&request).await?;
                let received_at = Instant::now();
                responses += 1;
                if received_at >= ends_at {
                    break;
                }
                if sent_at >= starts_at {
                    latencies.push(received_at - sent_at);
                }
            }
            anyhow::Ok((latencies, body_bytes, responses))
        });
    }
    let mut latencies = Vec::new();
    let (mut body_bytes, mut response_count) = (0, 0);
    while let Some(sender) = senders.join_next().await {
        let (more, bytes, responses) = sender??;
        response_count += responses;
        latencies.extend(more);
        body_bytes = bytes;
    }
    let per_second = latencies.len() as f64 / plan.duration.as_secs_f64();
    let p95 = percentile(&mut latencies, 95).context("no response arrived within the measurement")?;
    let p99 = percentile(&mut latencies, 99).context("no response arrived within the measurement")?;
    Ok(LoadResult { per_second, response_count, p95, p99, body_bytes })
}

/// Returns the smallest value that `percent` of all values do not exceed.
pub(super) fn percentile(values: &mut [Duration], percent: usize) -> Option<Duration> {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let mut values = (1..=200).rev().map(Duration::from_millis).collect::<Vec<_>>();
        assert_eq!(percentile(&mut values, 99), Some(Duration::from_millis(198)));
        assert_eq!(percentile(&mut values, 50), Some(Duration::from_millis(100)));
        assert_eq!(percentile(&mut values[..1], 99), Some(Duration::from_millis(1)));
        assert_eq!(percentile(&mut [], 99), None);
    }
}
