//! Deleting a join domain.

use application::unit;
use axum::{Json, extract::State};
use kernel::authority::Admin;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, views::Ack},
    state::Api,
};

/// Delete a workspace's join domain
///
/// Nobody can join with it any more. People who joined with it stay members.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| workspace::join_domains::delete_join_domain(tx, &ctx, &admin).await)).await?;
    Ok(Json(Ack::OK))
}
