//! Revoking a project key.

use application::{Problem, unit};
use axum::{Json, extract::State};
use projects::{ProjectRight, access::Own};

use super::key_view::KeyRecord;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Revoke a key of a backend project
///
/// The key stops working at once, and within a second on other nodes.
#[utoipa::path(delete, path = "/v1/backend/projects/{projectId}/keys/{keyId}", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), ("keyId" = kernel::id::ProjectKeyId, Path, description = "The key."), IfMatch), responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_project_key(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Own>>,
    Path((_, key)): Path<(String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    let key = key.parse().map_err(|_| Problem::not_found("key"))?;
    api.transaction(unit!(|tx| {
        if_match.check(KeyRecord::locked(tx, &right, key)).await?;
        Ok::<_, Problem>(projects::keys::revoke_key(tx, &ctx, &right, key).await?)
    }))
    .await?;
    api.invalidate_project_key(key);
    Ok(Json(Ack::OK))
}
