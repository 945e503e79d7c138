//! Reading a workspace.

use application::Problem;
use axum::extract::State;
use kernel::authority::Member;

use super::view::{Counts, WorkspaceView};
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::Tagged, error::ApiResult},
    state::Api,
};

/// Read a workspace
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}", tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = WorkspaceView, headers(("ETag" = String))))
)]
pub(crate) async fn read_workspace(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Tagged<WorkspaceView>> {
    let id = member.workspace();
    let workspace = api.store().workspace(id).await?.ok_or_else(|| Problem::not_found("workspace"))?;
    Ok(Tagged(WorkspaceView::of(workspace, Counts::of(&api, id, ctx.now).await?)))
}
