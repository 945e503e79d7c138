//! What a key may use of its project, for tools: an OpenAPI document and types for TypeScript.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use backend_data::ExposedSchema;
use serde_json::Value;

use super::{
    RestResult,
    caller::{AnyScope, KeyCaller, Keyed},
};
use crate::state::Api;

/// Describe the data API of the project as OpenAPI 3.1
///
/// The tables, columns and operations that the caller may use, and no others: a publishable key is told what the rules
/// allow a visitor, or with a person's token that person. It follows the schema and the rules at once. `ETag` and
/// `If-None-Match` spare a copy that has not changed.
#[utoipa::path(get, path = "/v1/projects/{projectId}/rest/_openapi.json", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = Object), (status = 304, description = "Not modified since the `ETag` that you sent.")))]
pub(crate) async fn read_project_openapi(
    State(api): State<Api>,
    caller: Keyed<AnyScope>,
    headers: HeaderMap,
) -> RestResult<Response> {
    let usable = usable(&api, &caller).await?;
    let server = format!("{}/v1/projects/{}", api.settings().public_url, caller.project().id);
    let document: Value = usable.openapi(&caller.project().name, &server);
    Ok(conditional_response(&headers, HeaderValue::from_static("application/json"), document.to_string()))
}

/// Describe the tables of the project as TypeScript types
///
/// A module that exports `Database`, as `createClient<Database>` of supabase-js and `PostgrestClient<Database>` take it.
/// It holds what the caller may use, as the OpenAPI document does; what it may not do to a table has the type `never`.
#[utoipa::path(get, path = "/v1/projects/{projectId}/rest/_types.ts", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    responses((status = 200, description = "A module.", body = String, content_type = "text/plain"), (status = 304, description = "Not modified since the `ETag` that you sent.")))]
pub(crate) async fn read_project_types(
    State(api): State<Api>,
    caller: Keyed<AnyScope>,
    headers: HeaderMap,
) -> RestResult<Response> {
    let types = usable(&api, &caller).await?.typescript();
    // Browsers take `video/mp2t` for the ending: as plain text it is shown.
    Ok(conditional_response(&headers, HeaderValue::from_static("text/plain; charset=utf-8"), types))
}

async fn usable(api: &Api, caller: &KeyCaller) -> RestResult<ExposedSchema> {
    let usable = api.rows().exposed_schema(caller.project_ref(), caller.access()).await;
    usable.map_err(|error| caller.map_error(error))
}

fn conditional_response(headers: &HeaderMap, media: HeaderValue, text: String) -> Response {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',')).any(|known| {
        let known = known.trim();
        known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag
    });
    // It is of this caller alone.
    let fresh = [(header::CACHE_CONTROL, "private, no-cache"), (header::VARY, "apikey, authorization")];
    let tag = [(header::ETAG, tag)];
    if known {
        return (StatusCode::NOT_MODIFIED, fresh, tag).into_response();
    }
    (fresh, tag, [(header::CONTENT_TYPE, media)], text).into_response()
}
