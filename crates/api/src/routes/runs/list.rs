//! Listing runs.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::Member,
    id::{AppId, AutomationId},
    page::{Page, PageRequest},
};
use runs::{RunStatus, TriggerKind, runs::RunFilter};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::RunView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// Filters, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListRuns {
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
    /// Only runs that were replayed, or with `false` those that were not.
    replayed: Option<bool>,
    /// Only runs that were accepted at this time or later.
    from: Option<DateTime<Utc>>,
    /// Only runs that were accepted before this time.
    to: Option<DateTime<Utc>>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The runs of a workspace whose app you can view, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunList {
    items: Vec<RunView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the runs of a workspace
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/runs", tag = "runs",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListRuns),
    responses((status = 200, body = RunList))
)]
pub(crate) async fn list_runs(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListRuns>,
) -> ApiResult<Json<RunList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let filter = RunFilter {
        app: input.app_id,
        automation: input.automation_id,
        status: input.status,
        trigger: input.trigger,
        by_agent: input.by_agent,
        replayed: input.replayed,
        from: input.from,
        to: input.to,
    };
    let found = api.store().runs(member.workspace(), member.visibility(), filter, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |run| run.id).map(RunView::from);
    Ok(Json(RunList { items: page.items, next_cursor: page.next_cursor }))
}
