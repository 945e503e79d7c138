//! Giving a domain up.

use axum::{Json, extract::State};
use kernel::authority::Admin;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, views::Ack},
    state::Api,
};

/// Give a workspace's join domain up
///
/// Nobody can join with it any more. Whoever did stays.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
) -> ApiResult<Json<Ack>> {
    let mut tx = api.store().begin().await?;
    workspace::join_domains::drop_join_domain(&mut *tx, &ctx, &admin).await?;
    tx.commit().await?;
    Ok(Json(Ack::OK))
}
