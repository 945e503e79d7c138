//! Revoking an invite.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Admin;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Revoke an invite
///
/// Its link stops working.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/invites/{inviteId}", tag = "invites", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("inviteId" = kernel::id::InviteId, Path, description = "The invite.")), responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_invite(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, invite)): Path<(String, String)>,
) -> ApiResult<Json<Ack>> {
    let invite = invite.parse().map_err(|_| Problem::not_found("invite"))?;
    api.transaction(unit!(|tx| workspace::invites::revoke_invite(tx, &ctx, &admin, invite).await)).await?;
    Ok(Json(Ack::OK))
}
