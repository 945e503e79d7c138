//! Two loads in alternating rounds, so that what else the machine does meets both.

use std::time::Duration;

use anyhow::{Context as _, Result};

use super::load::{self, Maker, Measured, Plan};
use crate::shell::Progress;

/// Turns each side has at a figure.
pub(super) const ROUNDS: usize = 5;

/// Where one side's requests go, and what they are.
pub(super) struct Load<'a> {
    /// `host:port`
    pub(super) address: &'a str,
    pub(super) maker: &'a Maker,
}

/// The median round of either side, by speed.
pub(super) async fn alternate(
    name: &str,
    sides: [Load<'_>; 2],
    plan: Plan,
    progress: &Progress,
) -> Result<[Measured; 2]> {
    let mut measured = [Vec::new(), Vec::new()];
    for round in 1..=ROUNDS {
        progress.say(format!("{name}, round {round} of {ROUNDS}"));
        for (side, rounds) in sides.iter().zip(&mut measured) {
            rounds.push(load::run(side.address, plan, side.maker).await.with_context(|| name.to_owned())?);
        }
    }
    let [one, other] = measured;
    Ok([median(one)?, median(other)?])
}

fn median(mut rounds: Vec<Measured>) -> Result<Measured> {
    rounds.sort_by(|one, other| one.per_second.total_cmp(&other.per_second));
    let middle = rounds.len() / 2;
    rounds.into_iter().nth(middle).context("there were rounds")
}

/// The value in the middle.
pub(super) fn median_of(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("there were rounds")
}

pub(super) fn millis(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}
