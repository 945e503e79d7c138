//! Listing the planned changes that wait for their planner.

use apps::changes::OpenChange;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::Member,
    id::{AppId, ChangeId, RunId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// The planned changes that wait for you, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpenChangeList {
    #[schema(max_items = 50)]
    items: Vec<OpenChangeView>,
}

/// A planned change that waits for its planner.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenChange)]
pub(crate) struct OpenChangeView {
    change_id: ChangeId,
    app_id: AppId,
    app_name: String,
    instruction: String,
    #[schema(min_length = 1, max_length = 300)]
    summary: String,
    /// Reasons why only a person in the console may approve the plan, and steps that only an admin can take there.
    needs_console: Vec<String>,
    /// Run whose failure suggested the change.
    #[schema(required)]
    run_id: Option<RunId>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl From<OpenChange> for OpenChangeView {
    fn from(OpenChange { change, app_name }: OpenChange) -> Self {
        Self {
            change_id: change.id,
            app_id: change.app,
            app_name,
            instruction: change.plan.instruction,
            summary: change.plan.summary,
            needs_console: change.plan.needs_console,
            run_id: change.run,
            created_at: change.created_at,
            expires_at: change.expires_at,
        }
    }
}

/// List your planned changes
///
/// Those that you, your tokens or your agents planned in the workspace, and that are neither approved nor expired. Changes
/// of apps that you can no longer view are left out.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/changes", tag = "apps",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = OpenChangeList))
)]
pub(crate) async fn list_changes(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<OpenChangeList>> {
    let found =
        api.store().open_changes(member.workspace(), member.user(), member.visibility(), ctx.now).await?;
    Ok(Json(OpenChangeList { items: found.into_iter().map(OpenChangeView::from).collect() }))
}
