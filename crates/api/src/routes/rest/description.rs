//! Descriptions of what a key can use of its project, for tools: an OpenAPI document and TypeScript types.

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

/// Read the OpenAPI description of the project's data API
///
/// An OpenAPI 3.1 document with the tables, columns and operations that the caller can use. For a publishable key,
/// these are what policies allow a visitor or, with a person token, that person. Changes of the schema and of policies
/// show at once. Use `ETag` and `If-None-Match` to avoid downloading an unchanged document.
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

/// Read the project's tables as TypeScript types
///
/// A module that exports `Database`, for `createClient<Database>` of supabase-js and `PostgrestClient<Database>`. It
/// has what the caller can use, as the OpenAPI document does; operations that the caller may not use on a table have
/// the type `never`.
#[utoipa::path(get, path = "/v1/projects/{projectId}/rest/_types.ts", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    responses((status = 200, description = "A TypeScript module.", body = String, content_type = "text/plain"), (status = 304, description = "Not modified since the `ETag` that you sent.")))]
pub(crate) async fn read_project_types(
    State(api): State<Api>,
    caller: Keyed<AnyScope>,
    headers: HeaderMap,
) -> RestResult<Response> {
    let types = usable(&api, &caller).await?.typescript();
    // Browsers take files ending in `.ts` for `video/mp2t`; they show plain text.
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
    // The description depends on the caller.
    let fresh = [(header::CACHE_CONTROL, "private, no-cache"), (header::VARY, "apikey, authorization")];
    let tag = [(header::ETAG, tag)];
    if known {
        return (StatusCode::NOT_MODIFIED, fresh, tag).into_response();
    }
    (fresh, tag, [(header::CONTENT_TYPE, media)], text).into_response()
}
