//! Reading a workspace's join domain.

use axum::{Json, extract::State};
use kernel::authority::Admin;

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// Read a workspace's join domain
#[utoipa::path(get, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = JoinDomainView)))]
pub(crate) async fn read_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
) -> ApiResult<Json<JoinDomainView>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let domain = api.store().join_domain(admin.workspace()).await?;
    Ok(Json(JoinDomainView::of(domain, &caller)))
}
