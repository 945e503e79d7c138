//! Restoring a deleted workspace.

use application::{Problem, authorization::Restorable, unit};
use axum::{Json, extract::State};
use kernel::authority::Owner;
use workspace::workspaces::deletion;

use super::view::{Counts, WorkspaceView};
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// Restore a deleted workspace
///
/// Everything works again as before. Runs that were queued or interrupted go on, and schedules catch up as their policy
/// says. A workspace that is not deleted gets 409 `workspace_not_deleted`; seven days after the deletion it is 404.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/restore", tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = WorkspaceView))
)]
pub(crate) async fn restore_workspace(
    State(api): State<Api>,
    Authorized(ctx, Restorable(owner)): Authorized<Console, Restorable<Owner>>,
) -> ApiResult<Json<WorkspaceView>> {
    api.transaction(unit!(|tx| deletion::restore_workspace(tx, &ctx, &owner).await)).await?;
    let id = owner.workspace();
    let workspace = api.store().workspace(id).await?.ok_or_else(|| Problem::not_found("workspace"))?;
    Ok(Json(WorkspaceView::of(workspace, Counts::of(&api, id, ctx.now).await?)))
}
