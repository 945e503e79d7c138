//! The members of a workspace.

use axum::{Json, extract::State};
use kernel::{
    authority::{Member, Role},
    id::UserId,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{MemberView, member_views};
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// The members of a workspace, most authority first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberList {
    /// Your id.
    you: UserId,
    your_role: Role,
    items: Vec<MemberView>,
}

/// List the members of a workspace
///
/// Most authority first. People whose access has ended are not listed.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/members", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = MemberList)))]
pub(crate) async fn list_members(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
) -> ApiResult<Json<MemberList>> {
    let members = api.store().members(member.workspace(), ctx.now).await?;
    let items = member_views(&api, &ctx, members).await?;
    Ok(Json(MemberList { you: member.user(), your_role: member.role(), items }))
}
