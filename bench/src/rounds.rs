//! Alternating rounds of two loads, so that other load on the machine affects both.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use xtask::shell::Progress;

use super::load::{self, LoadPlan, LoadResult, RequestFactory};

/// Rounds of each target per figure.
pub(super) const ROUNDS: usize = 5;

/// Address and requests of one target.
pub(super) struct TargetLoad<'a> {
    /// `host:port`
    pub(super) address: &'a str,
    pub(super) requests: &'a RequestFactory,
}

/// Runs the loads in alternating rounds and returns the median round of each, by rate.
pub(super) async fn run_alternating(
    name: &str,
    targets: [TargetLoad<'_>; 2],
    plan: LoadPlan,
    progress: &Progress,
) -> Result<[LoadResult; 2]> {
    let mut measured = [Vec::new(), Vec::new()];
    for round in 1..=ROUNDS {
        progress.report(format!("{name}, round {round} of {ROUNDS}"));
        for (target, rounds) in targets.iter().zip(&mut measured) {
            rounds.push(
                load::run(target.address, plan, target.requests).await.with_context(|| name.to_owned())?,
            );
        }
    }
    let [one, other] = measured;
    Ok([median_round(one)?, median_round(other)?])
}

/// Returns the median round by rate.
pub(super) fn median_round(mut rounds: Vec<LoadResult>) -> Result<LoadResult> {
    rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    let middle = rounds.len() / 2;
    rounds.into_iter().nth(middle).context("there were no rounds")
}

/// Returns the median.
pub(super) fn median_value(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("there were no rounds")
}

/// Returns the smallest value, the lower quartile, the median, the upper quartile and the largest value, each of them one
/// of the values.
pub(super) fn quartiles(mut values: Vec<f64>) -> Result<[f64; 5]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1).context("there were no rounds")?;
    Ok([0, 1, 2, 3, 4].map(|quarter| values.get((last * quarter + 2) / 4).copied().unwrap_or_default()))
}

/// Numbers the requests across all rounds, for requests that must not repeat.
pub(super) fn with_unique_numbers(factory: &RequestFactory) -> RequestFactory {
    let (factory, next) = (Arc::clone(factory), AtomicU64::new(0));
    Arc::new(move |_| factory(next.fetch_add(1, Ordering::Relaxed)))
}

pub(super) fn millis(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;

    use super::*;

    #[test]
    fn the_median_round_keeps_its_own_p99() {
        let round = |per_second: f64, p99| LoadResult {
            per_second,
            response_count: 0,
            p95: Duration::ZERO,
            p99: Duration::from_millis(p99),
            body_bytes: 0,
        };
        let middle = median_round(vec![round(30.0, 1), round(10.0, 3), round(20.0, 9)]).unwrap();
        assert_eq!((middle.per_second, middle.p99), (20.0, Duration::from_millis(9)));
        assert_eq!(median_value(vec![3.0, 1.0, 2.0]).unwrap(), 2.0);
        assert!(median_round(vec![]).is_err() && median_value(vec![]).is_err());
    }

    #[test]
    fn quartiles_are_values() {
        let values = (1..=9).rev().map(f64::from).collect();
        assert_eq!(quartiles(values).unwrap(), [1.0, 3.0, 5.0, 7.0, 9.0]);
        assert_eq!(quartiles(vec![2.0]).unwrap(), [2.0; 5]);
        assert!(quartiles(vec![]).is_err());
    }

    #[test]
    fn numbers_continue_after_the_previous_round() {
        let factory: RequestFactory = Arc::new(|number| Ok(Request::new(Bytes::from(number.to_string()))));
        let factory = with_unique_numbers(&factory);
        let bodies = [0, 0, 7].map(|number| factory(number).unwrap().into_body());
        assert_eq!(bodies, ["0", "1", "2"]);
    }
}
