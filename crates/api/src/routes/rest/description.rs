//! Descriptions of what a key can use of its project, for tools: an OpenAPI document and TypeScript types.

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use backend_data::ExposedSchema;
use serde_json::Value;

use super::{
    RestResult,
    caller::{AnyScope, KeyCaller, Keyed},
};
use crate::{
    http::conditional::{EntityTag, IfNoneMatch},
    state::Api,
};

/// Read the OpenAPI description of the project's data API
///
/// An OpenAPI 3.1 document with the tables, columns and operations that the caller can use. For a publishable key,
/// these are what policies allow a visitor or, with a person token, that person. Changes of the schema and of policies
/// show at once. Use `ETag` and `If-None-Match` to avoid downloading an unchanged document.
#[utoipa::path(get, path = "/v1/projects/{projectId}/rest/_openapi.json", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."), IfNoneMatch),
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = Object)))]
pub(crate) async fn read_project_openapi(
    State(api): State<Api>,
    caller: Keyed<AnyScope>,
    known: IfNoneMatch,
) -> RestResult<Response> {
    let usable = usable(&api, &caller).await?;
    let server = format!("{}/v1/projects/{}", api.settings().public_url, caller.project().id);
    let document: Value = usable.openapi(&caller.project().name, &server);
    let media = HeaderValue::from_static("application/json");
    Ok(conditional_response(&known, media, document.to_string()))
}

/// Read the project's tables as TypeScript types
///
/// A module that exports `Database`, for `createClient<Database>` of supabase-js and `PostgrestClient<Database>`. It
/// has what the caller can use, as the OpenAPI document does; operations that the caller may not use on a table have
/// the type `never`.
#[utoipa::path(get, path = "/v1/projects/{projectId}/rest/_types.ts", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key."), IfNoneMatch),
    responses((status = 200, description = "A TypeScript module.", body = String, content_type = "text/plain")))]
pub(crate) async fn read_project_types(
    State(api): State<Api>,
    caller: Keyed<AnyScope>,
    known: IfNoneMatch,
) -> RestResult<Response> {
    let types = usable(&api, &caller).await?.typescript();
    // Browsers take files ending in `.ts` for `video/mp2t`; they show plain text.
    Ok(conditional_response(&known, HeaderValue::from_static("text/plain; charset=utf-8"), types))
}

async fn usable(api: &Api, caller: &KeyCaller) -> RestResult<ExposedSchema> {
    let usable = api.rows().exposed_schema(caller.project_ref(), caller.access()).await;
    usable.map_err(|error| caller.map_error(error))
}

fn conditional_response(known: &IfNoneMatch, media: HeaderValue, text: String) -> Response {
    let tag = EntityTag::of_bytes(text.as_bytes());
    let mut response = known.unless_known(&tag, || ([(header::CONTENT_TYPE, media)], text).into_response());
    let headers = response.headers_mut();
    // The description depends on the caller.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("apikey, authorization"));
    response
}
