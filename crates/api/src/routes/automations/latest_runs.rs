//! Listing the latest runs of each automation.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::Member,
    id::{AutomationId, RunId},
    page::{Page, PageRequest},
};
use runs::{RunStatus, runs::LatestRun};
use serde::Serialize;
use utoipa::ToSchema;

use super::list::ListAutomations;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// Most runs of one automation.
const MAX_RUNS: u32 = 12;

/// The latest runs of the automations of a workspace whose app you can view, in the order of `GET …/automations`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LatestRunsList {
    items: Vec<LatestRunsView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// The latest runs of an automation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LatestRuns)]
pub(crate) struct LatestRunsView {
    automation_id: AutomationId,
    /// Newest first. Empty if the automation never ran, or if none of its runs is kept.
    #[schema(max_items = 12)]
    runs: Vec<LatestRunView>,
}

/// A run among the latest of its automation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LatestRun)]
pub(crate) struct LatestRunView {
    id: RunId,
    #[schema(value_type = schemas::runs::RunStatus)]
    status: RunStatus,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    accepted_at: DateTime<Utc>,
}

impl From<LatestRun> for LatestRunView {
    fn from(run: LatestRun) -> Self {
        Self { id: run.id, status: run.status, accepted_at: run.accepted_at }
    }
}

/// List the latest runs of each automation
#[utoipa::path(get, path = "/v1/workspaces/{ws}/automations/latest-runs", tag = "automations", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListAutomations), responses((status = 200, body = LatestRunsList)))]
pub(crate) async fn list_latest_runs(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListAutomations>,
) -> ApiResult<Json<LatestRunsList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let found = api.store().automations(member.workspace(), member.visibility(), input.app_id, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |automation| automation.id);
    let automations: Vec<AutomationId> = page.items.iter().map(|automation| automation.id).collect();
    let mut latest = api.store().latest_runs(&automations, MAX_RUNS).await?;
    let items = automations.into_iter().map(|automation_id| {
        let runs = latest.remove(&automation_id).unwrap_or_default();
        LatestRunsView { automation_id, runs: runs.into_iter().map(LatestRunView::from).collect() }
    });
    Ok(Json(LatestRunsList { items: items.collect(), next_cursor: page.next_cursor }))
}
