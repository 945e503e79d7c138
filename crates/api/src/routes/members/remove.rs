//! Leaving a workspace, or removing somebody from it.

use axum::{Json, extract::State};
use kernel::authority::Member;

use super::view::parse_member_id;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};
use application::{membership::revoke_access, unit};
use workspace::WorkspaceError;

/// Leave a workspace, or remove a member
///
/// Everybody can leave. Admins can remove members other than owners; owners can also remove owners. The member's tokens
/// are revoked. Removed members can come back only with an invite. The last owner cannot leave: 409 `last_owner`.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/members/{userId}", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("userId" = kernel::id::UserId, Path, description = "The member; your own id to leave the workspace.")), responses((status = 200, body = Ack)))]
pub(crate) async fn remove_member(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Path((_, user)): Path<(String, String)>,
) -> ApiResult<Json<Ack>> {
    let user = parse_member_id(&user)?;
    api.transaction(unit!(|tx| {
        workspace::members::remove_member(tx, &ctx, &member, user).await?;
        Ok::<_, WorkspaceError>(revoke_access(tx, &ctx, member.workspace(), user).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
