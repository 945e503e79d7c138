//! What became of the moments of a schedule.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::AppAccess,
    id::{AutomationId, OccurrenceId, RunId},
    page::{Page, PageRequest},
};
use runs::automations::occurrences::{Occurrence, OccurrenceResult};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListOccurrences {
    /// What the page before gave as `nextCursor`.
    cursor: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The moments of a schedule that have passed, the last first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OccurrenceList {
    items: Vec<OccurrenceView>,
    /// For the next page; null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// What became of a moment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OccurrenceOutcome {
    /// It started a run on time.
    Ran,
    /// It started a run late.
    CaughtUp,
    /// It started none.
    Skipped,
}

/// A moment of a schedule that has passed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Occurrence)]
pub(crate) struct OccurrenceView {
    id: OccurrenceId,
    /// The moment.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    due_at: DateTime<Utc>,
    outcome: OccurrenceOutcome,
    /// Why it started no run: `missed`, `superseded`, `too_old`, `too_many`, `overlap`, `not_runnable` or
    /// `quota_reached`.
    #[schema(required)]
    reason: Option<String>,
    /// The run it started.
    #[schema(required)]
    run_id: Option<RunId>,
    /// When that was decided.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    recorded_at: DateTime<Utc>,
}

impl From<Occurrence> for OccurrenceView {
    fn from(occurrence: Occurrence) -> Self {
        let (outcome, reason, run_id) = match occurrence.outcome {
            OccurrenceResult::Ran(run) => (OccurrenceOutcome::Ran, None, Some(run)),
            OccurrenceResult::CaughtUp(run) => (OccurrenceOutcome::CaughtUp, None, Some(run)),
            OccurrenceResult::Skipped(reason) => (OccurrenceOutcome::Skipped, Some(reason), None),
        };
        Self {
            id: occurrence.id,
            due_at: occurrence.due_at,
            outcome,
            reason,
            run_id,
            recorded_at: occurrence.recorded_at,
        }
    }
}

/// List what became of the moments of an automation's schedule
///
/// Each moment that passed while the automation was active has one row.
#[utoipa::path(get, path = "/v1/automations/{id}/occurrences", tag = "automations", params(("id" = kernel::id::AutomationId, Path, description = "The automation."), ListOccurrences), responses((status = 200, body = OccurrenceList)))]
pub(crate) async fn list_occurrences(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (AutomationId, AppAccess)>,
    Params(input): Params<ListOccurrences>,
) -> ApiResult<Json<OccurrenceList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let found = api.store().occurrences(access.member().workspace(), id, page).await?;
    let page =
        Page::from_limit_plus_one(found, page.limit, |occurrence| occurrence.id).map(OccurrenceView::from);
    Ok(Json(OccurrenceList { items: page.items, next_cursor: page.next_cursor }))
}
