//! Listing project keys.

use axum::{Json, extract::State};
use projects::{ProjectRight, access::Own};

use super::key_view::KeyRecord;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// List the keys of a backend project
///
/// The list includes revoked keys. The values of keys are never returned.
#[utoipa::path(get, path = "/v1/backend/projects/{projectId}/keys", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")), responses((status = 200, body = Vec<KeyRecord>)))]
pub(crate) async fn list_project_keys(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, ProjectRight<Own>>,
    Path(_project): Path<String>,
) -> ApiResult<Json<Vec<KeyRecord>>> {
    let keys = api.store().project_keys(right.member().workspace(), right.project()).await?;
    Ok(Json(keys.into_iter().map(KeyRecord::from).collect()))
}
