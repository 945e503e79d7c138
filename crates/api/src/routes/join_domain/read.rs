//! Reading a workspace's join domain.

use axum::{extract::State, response::Response};
use kernel::authority::Admin;

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read a workspace's join domain
#[utoipa::path(get, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfNoneMatch), responses((status = 200, body = JoinDomainView)))]
pub(crate) async fn read_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let domain = api.store().join_domain(admin.workspace()).await?;
    Ok(known.respond(JoinDomainView::of(domain, &caller))?)
}
