//! Reading a workspace.

use application::Problem;
use axum::{Json, extract::State};
use kernel::authority::Member;

use super::view::WorkspaceView;
use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// Read a workspace
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}", tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = WorkspaceView))
)]
pub(crate) async fn read_workspace(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<WorkspaceView>> {
    let id = member.workspace();
    let workspace = api.store().workspace(id).await?.ok_or_else(|| Problem::not_found("workspace"))?;
    Ok(Json(WorkspaceView::of(workspace, api.store().member_count(id, ctx.now).await?)))
}
