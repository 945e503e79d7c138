//! A load generator: a fixed number of keep-alive connections, each with one request under way at a time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::Request;
use tokio::task::JoinSet;

use super::connection::Connection;

/// Unmeasured requests come first: caches fill and connections open.
const WARM_UP: Duration = Duration::from_secs(1);

/// How much load, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadPlan {
    pub(super) connections: usize,
    pub(super) duration: Duration,
    /// Shortest time between two requests of a connection; without it, as soon as the last request is answered.
    pub(super) interval: Option<Duration>,
}

/// What a load found.
#[derive(Debug)]
pub(super) struct LoadResult {
    pub(super) per_second: f64,
    /// All requests that were answered, unmeasured ones too.
    pub(super) response_count: u64,
    pub(super) p99: Duration,
    /// The size of an answer's body.
    pub(super) body_bytes: usize,
}

/// Makes the request of a given number. No number comes twice in the life of the maker.
pub(super) type RequestFactory = Arc<dyn Fn(u64) -> Result<Request<Bytes>> + Send + Sync>;

/// Sends what `maker` makes to `address` (`host:port`) until the time is over. Any answer but a success is an error: the
/// speed of refusals says nothing.
pub(super) async fn run(address: &str, plan: LoadPlan, maker: &RequestFactory) -> Result<LoadResult> {
    let mut senders = JoinSet::new();
    let starts = Instant::now() + WARM_UP;
    let ends = starts + plan.duration;
    for first in 0..plan.connections {
        let (address, maker) = (address.to_owned(), Arc::clone(maker));
        senders.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut latencies = Vec::new();
            let (mut body_bytes, mut answers) = (0, 0);
            let mut ticks = plan.interval.map(tokio::time::interval);
            for number in (first as u64..).step_by(plan.connections) {
                let request = maker(number)?;
                if let Some(turns) = &mut ticks {
                    turns.tick().await;
                }
                let sent = Instant::now();
                body_bytes = connection.send(&request).await?;
                let answered = Instant::now();
                answers += 1;
                if answered >= ends {
                    break;
                }
                if sent >= starts {
                    latencies.push(answered - sent);
                }
            }
            anyhow::Ok((latencies, body_bytes, answers))
        });
    }
    let mut latencies = Vec::new();
    let (mut body_bytes, mut answered) = (0, 0);
    while let Some(sender) = senders.join_next().await {
        let (more, bytes, answers) = sender??;
        answered += answers;
        latencies.extend(more);
        body_bytes = bytes;
    }
    let per_second = latencies.len() as f64 / plan.duration.as_secs_f64();
    let p99 = percentile(&mut latencies, 99).context("no request was answered in time")?;
    Ok(LoadResult { per_second, response_count: answered, p99, body_bytes })
}

/// The value that `percent` of all do not exceed.
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
