//! Giving a domain up.

use axum::{Json, extract::State};

use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path},
    routes::Done,
    state::Api,
};

/// Give a workspace's join domain up
///
/// Nobody can join with it any more. Whoever did stays.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = Done)))]
pub(crate) async fn delete_join_domain(
    State(api): State<Api>,
    ctx: Ctx,
    Path(ws): Path<String>,
) -> ApiResult<Json<Done>> {
    let admin = api.member(&ctx, &ws).await?.require_admin()?;
    let mut tx = api.store().begin().await?;
    workspace::join_domains::delete_join_domain(&mut *tx, &ctx, &admin).await?;
    tx.commit().await?;
    Ok(Json(Done::OK))
}
