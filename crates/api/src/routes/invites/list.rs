//! Listing invites.

use axum::{Json, extract::State};
use kernel::{authority::Admin, page::Page};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{InviteView, invite_views};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params, paging::PageParams},
    state::Api,
};

/// The invites of a workspace, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InviteList {
    items: Vec<InviteView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the invites of a workspace
///
/// Newest first, including settled invites. Invites are deleted 90 days after they expire.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/invites", tag = "invites", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams), responses((status = 200, body = InviteList)))]
pub(crate) async fn list_invites(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<InviteList>> {
    let page = input.request()?;
    let found = api.store().invites(admin.workspace(), page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |invite| invite.id);
    let items = invite_views(&api, &ctx, page.items).await?;
    Ok(Json(InviteList { items, next_cursor: page.next_cursor }))
}
