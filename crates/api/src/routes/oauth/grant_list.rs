//! Listing grants to agent clients.

use axum::{Json, extract::State};
use kernel::authority::Member;

use super::view::GrantView;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// List your grants to agent clients in a workspace
#[utoipa::path(get, path = "/v1/workspaces/{ws}/oauth/grants", tag = "oauth", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = Vec<GrantView>)))]
pub(crate) async fn list_grants(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<Console, Member>,
) -> ApiResult<Json<Vec<GrantView>>> {
    let grants = api.store().oauth_grants(member.workspace(), member.user()).await?;
    Ok(Json(grants.into_iter().map(GrantView::from).collect()))
}
