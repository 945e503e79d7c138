//! Listing the occurrences of a schedule.

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

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListOccurrences {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The past occurrences of a schedule, latest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OccurrenceList {
    items: Vec<OccurrenceView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Outcome of an occurrence.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OccurrenceOutcome {
    /// A run was started on time.
    Ran,
    /// A run was started late.
    CaughtUp,
    /// No run was started.
    Skipped,
}

/// A past occurrence of a schedule.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Occurrence)]
pub(crate) struct OccurrenceView {
    id: OccurrenceId,
    /// Time at which it was due.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    due_at: DateTime<Utc>,
    outcome: OccurrenceOutcome,
    /// Reason why no run was started: `missed`, `superseded`, `too_old`, `too_many`, `overlap`, `not_runnable` or
    /// `quota_reached`.
    #[schema(required)]
    reason: Option<String>,
    /// Run that was started.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Time at which the outcome was recorded.
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

/// List the past occurrences of an automation's schedule
///
/// There is one entry for each occurrence that was due while the automation was active.
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
