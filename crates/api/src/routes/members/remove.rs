//! Leaving a workspace, or removing somebody from it.

use axum::{Json, extract::State};
use kernel::authority::{Member, Role};

use super::view::{MembershipView, parse_member_id};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, views::Ack},
    state::Api,
};
use application::{Problem, membership::revoke_access, unit};

/// Leave a workspace, or remove a member
///
/// Everybody can leave. Admins can remove members other than owners; owners can also remove owners. The member's tokens
/// are revoked. Removed members can come back only with an invite. The last owner cannot leave: 409 `last_owner`.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/members/{userId}", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("userId" = kernel::id::UserId, Path, description = "The member; your own id to leave the workspace."), IfMatch), responses((status = 200, body = Ack)))]
pub(crate) async fn remove_member(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Path((_, user)): Path<(String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    let user = parse_member_id(&user)?;
    // Of others, somebody who may not remove them learns nothing from a precondition.
    let may_remove = member.user() == user || member.role().at_least(Role::Admin);
    api.transaction(unit!(|tx| {
        if may_remove {
            if_match.check(MembershipView::locked(tx, &ctx, member.workspace(), user)).await?;
        }
        workspace::members::remove_member(tx, &ctx, &member, user).await?;
        Ok::<_, Problem>(revoke_access(tx, &ctx, member.workspace(), user).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
