//! Revoking a key.

use axum::{Json, extract::State};
use kernel::Problem;
use projects::access::Own;

use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path},
    routes::Done,
    state::Api,
};

/// Revoke a key to a backend project at once
#[utoipa::path(delete, path = "/v1/backend/projects/{projectId}/keys/{keyId}", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), ("keyId" = kernel::id::ProjectKeyId, Path, description = "The key.")), responses((status = 200, body = Done)))]
pub(crate) async fn revoke_project_key(
    State(api): State<Api>,
    ctx: Ctx,
    Path((project, key)): Path<(String, String)>,
) -> ApiResult<Json<Done>> {
    let right = api.project(&ctx, &project).await?.require::<Own>()?;
    let key = key.parse().map_err(|_| Problem::not_found("key"))?;
    let mut tx = api.store().begin().await?;
    projects::keys::revoke_key(&mut *tx, &ctx, &right, key).await?;
    tx.commit().await?;
    api.credential_cache.invalidate_key(key);
    Ok(Json(Done::OK))
}
