//! The members of a workspace.

use axum::{Json, extract::State};
use kernel::{
    authority::{Member, Role},
    id::UserId,
    page::Page,
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::members::MemberPosition;

use super::view::{MemberView, member_views};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params, paging::PageParams},
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
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the members of a workspace
///
/// Most authority first. People whose access has ended are not listed.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/members", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams), responses((status = 200, body = MemberList)))]
pub(crate) async fn list_members(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<MemberList>> {
    let page = input.request()?;
    let found = api.store().members(member.workspace(), ctx.now, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |member| MemberPosition::from(member));
    let items = member_views(&api, &ctx, page.items).await?;
    let (you, your_role) = (member.user(), member.role());
    Ok(Json(MemberList { you, your_role, items, next_cursor: page.next_cursor }))
}
