//! Creating a project key.

use application::{Problem, unit};
use axum::{Json, extract::State};
use projects::{KeyKind, KeyScope, ProjectRight, access::Own};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::key_view::KeyRecord;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::TaggedItem as _, error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// A new project key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    #[schema(value_type = schemas::projects::KeyKind)]
    kind: KeyKind,
    #[schema(min_length = 1, max_length = 60, example = "Web shop")]
    name: String,
    /// Secret keys only. Default: `rows:read` and `rows:write`.
    #[serde(default)]
    #[schema(max_items = 3, value_type = Option<Vec<schemas::projects::KeyScope>>)]
    scopes: Option<Vec<KeyScope>>,
    /// Secret keys only: tables to which the key is restricted. Default: all tables.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 64, value_type = Option<Vec<schemas::backend_data::TableName>>)]
    tables: Option<Vec<String>>,
}

/// Maximum number of scopes; the same as `max_items` above.
const MAX_SCOPES: usize = 3;

/// A new project key with its value.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CreatedKey {
    key: KeyRecord,
    /// Value of the key. It is returned only here.
    secret: String,
}

/// Create a key for a backend project
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/keys", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")),
    request_body(
        content = NewKey,
        example = json!({
            "kind": "secret",
            "name": "Web shop",
            "scopes": ["rows:read", "rows:write"],
            "tables": ["notes"]
        })
    ),
    responses((status = 200, body = CreatedKey))
)]
pub(crate) async fn create_project_key(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Own>>,
    payload: Payload,
) -> ApiResult<Json<CreatedKey>> {
    let NewKey { kind, name, scopes, tables } = payload.json()?;
    if scopes.as_ref().is_some_and(|scopes| scopes.len() > MAX_SCOPES) {
        return Err(Problem::invalid_field("scopes", "must name each scope at most once").into());
    }
    let input = projects::keys::CreateKey { kind, name, scopes, tables };
    let created = api
        .transaction(unit!(
            |tx| projects::keys::create_key(tx, &ctx, &right, api.peppers(), input.clone()).await
        ))
        .await?;
    let secret = created.secret.expose_secret().to_owned();
    Ok(Json(CreatedKey { key: KeyRecord::from(created.key).tagged()?, secret }))
}
