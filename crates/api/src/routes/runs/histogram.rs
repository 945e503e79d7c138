//! Counting runs by time.

use std::time::Duration;

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, TimeDelta, Utc};
use kernel::{
    authority::Member,
    id::{AppId, AutomationId},
};
use runs::{
    RunStatus, TriggerKind,
    runs::{RunBar, RunFilter},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// Most runs that are counted.
const MAX_RUNS: u32 = 20_000;
/// Longest time that is counted.
const MAX_SECONDS: i64 = 400 * 86_400;
/// Most bars of a histogram.
const MAX_BARS: i64 = 60;
/// Lengths of bars, in seconds.
const BAR_SECONDS: [u32; 10] = [1, 10, 60, 300, 900, 3_600, 10_800, 21_600, 86_400, 604_800];

/// Filters, and the time that is counted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CountRuns {
    /// Only items of this app.
    app_id: Option<AppId>,
    /// Only items of this automation.
    automation_id: Option<AutomationId>,
    /// Only runs with this status.
    #[param(value_type = Option<schemas::runs::RunStatus>)]
    status: Option<RunStatus>,
    /// Only runs with this trigger.
    #[param(value_type = Option<schemas::runs::TriggerKind>)]
    trigger: Option<TriggerKind>,
    /// Only runs that an agent asked for, or with `false` those that none did.
    by_agent: Option<bool>,
    /// Only runs that were accepted at this time or later; default: 24 hours before `to`.
    from: Option<DateTime<Utc>>,
    /// Only runs that were accepted before this time; default: now. At most 400 days after `from`.
    to: Option<DateTime<Utc>>,
}

/// The runs of a workspace whose app you can view, by the time at which they were accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunHistogram {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    from: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    to: DateTime<Utc>,
    /// Time from which the counts are complete. The newest 20,000 runs are counted; of earlier ones nothing is known here.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    complete_from: DateTime<Utc>,
    /// Length of a bar.
    #[schema(minimum = 1)]
    bar_seconds: u32,
    /// Bars with at least one run, oldest first.
    #[schema(max_items = 61)]
    bars: Vec<RunBarView>,
}

/// Runs that were accepted within one bar.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunBar)]
pub(crate) struct RunBarView {
    /// Start of the bar.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    succeeded: u64,
    failed: u64,
    blocked: u64,
    /// Runs that are queued, run, or wait for an answer.
    unfinished: u64,
}

/// Count the runs of a workspace by time
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/runs/histogram", tag = "runs",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), CountRuns),
    responses((status = 200, body = RunHistogram))
)]
pub(crate) async fn count_runs(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<CountRuns>,
) -> ApiResult<Json<RunHistogram>> {
    let to = input.to.unwrap_or(ctx.now);
    let from = input.from.or_else(|| to.checked_sub_signed(TimeDelta::days(1))).unwrap_or(to);
    let bar_seconds = bar_seconds(from, to)?;
    let filter = RunFilter {
        app: input.app_id,
        automation: input.automation_id,
        status: input.status,
        trigger: input.trigger,
        by_agent: input.by_agent,
        replayed: None,
        from: Some(from),
        to: Some(to),
    };
    let bar = Duration::from_secs(bar_seconds.into());
    let (workspace, visible) = (member.workspace(), member.visibility());
    let counted = api.store().run_histogram(workspace, visible, filter, bar, MAX_RUNS).await?;
    let view = |bar: RunBar| RunBarView {
        at: DateTime::from_timestamp(bar.index * i64::from(bar_seconds), 0).unwrap_or_default(),
        succeeded: bar.succeeded,
        failed: bar.failed,
        blocked: bar.blocked,
        unfinished: bar.unfinished,
    };
    let bars = counted.bars.into_iter().map(view).collect();
    Ok(Json(RunHistogram { from, to, complete_from: counted.complete_from, bar_seconds, bars }))
}

/// Returns the length of the bars between two times.
fn bar_seconds(from: DateTime<Utc>, to: DateTime<Utc>) -> Result<u32, Problem> {
    let seconds = (to - from).num_seconds();
    let fits = |length: &u32| seconds <= MAX_BARS * i64::from(*length);
    let is_countable = from < to && seconds <= MAX_SECONDS;
    let found = BAR_SECONDS.into_iter().find(fits).filter(|_| is_countable);
    found.ok_or_else(|| Problem::invalid_field("from", "must be before `to`, by at most 400 days"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_bars_follows_the_time_that_is_counted() {
        let length =
            |seconds| bar_seconds(DateTime::UNIX_EPOCH, DateTime::from_timestamp(seconds, 0).unwrap());
        for (seconds, expected) in
            [(1, 1), (60, 1), (61, 10), (3_600, 60), (86_400, 3_600), (7 * 86_400, 10_800)]
        {
            assert_eq!(length(seconds).unwrap(), expected, "{seconds}");
        }
        assert_eq!(length(400 * 86_400).unwrap(), 604_800);
        assert!(length(0).is_err() && length(-1).is_err() && length(401 * 86_400).is_err());
    }
}
