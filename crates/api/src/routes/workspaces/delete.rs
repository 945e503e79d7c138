//! Deleting a workspace.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Owner;
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::workspaces::deletion;

use super::view::WorkspaceView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Payload, views::Ack},
    state::Api,
};

/// Confirmation of the deletion.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteWorkspace {
    /// The workspace's name.
    #[schema(min_length = 1, max_length = 120, example = "Acme")]
    confirm_name: String,
}

/// Delete a workspace
///
/// Its runs, schedules, webhooks, apps, keys and tokens stop at once, and everything in it is 404 for everybody. Its
/// owners can restore it for seven days; then all of its data is deleted for good.
///
/// If you have a passkey, you must have used it in the last ten minutes; otherwise 403 `step_up_required`.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}", tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch),
    request_body(content = DeleteWorkspace, example = json!({"confirmName": "Acme"})),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_workspace(
    State(api): State<Api>,
    Authorized(ctx, owner): Authorized<Console, Owner>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Json<Ack>> {
    let input: DeleteWorkspace = payload.json()?;
    api.require_step_up(&ctx).await?;
    api.transaction(unit!(|tx| {
        if_match.check(WorkspaceView::locked(tx, owner.workspace())).await?;
        Ok::<_, Problem>(deletion::delete_workspace(tx, &ctx, &owner, &input.confirm_name).await?)
    }))
    .await?;
    api.invalidate_projects_of(owner.workspace());
    Ok(Json(Ack::OK))
}
