//! Listing invites.

use axum::{Json, extract::State};
use kernel::authority::Admin;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{InviteView, invite_views};
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// The invites of a workspace, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InviteList {
    items: Vec<InviteView>,
}

/// List the invites of a workspace
///
/// Newest first, including settled invites, at most 500. Invites are deleted 90 days after they expire.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/invites", tag = "invites", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = InviteList)))]
pub(crate) async fn list_invites(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
) -> ApiResult<Json<InviteList>> {
    let invites = api.store().invites(admin.workspace()).await?;
    Ok(Json(InviteList { items: invite_views(&api, &ctx, invites).await? }))
}
