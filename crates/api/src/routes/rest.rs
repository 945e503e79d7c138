//! The data API of backend projects, called with project keys.

mod batch;
mod caller;
mod column_add;
mod cors;
mod description;
mod error;
mod index_add;
mod index_drop;
mod log;
mod project_path;
pub(crate) mod response_options;
mod row_delete;
mod row_put;
mod row_read;
pub(crate) mod row_tag;
mod row_update;
mod rows_delete;
mod rows_insert;
mod rows_list;
mod rows_update;
mod schema_read;
mod table_create;

use application::Problem;
use axum::{
    http::request::Parts,
    middleware,
    response::Response,
    routing::{get, options, post},
};
use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) use error::RestResult;

/// Paths that respond to preflight requests.
const PREFLIGHT_PATHS: [&str; 10] = [
    "/v1/projects/{projectId}/rest/_batch",
    "/v1/projects/{projectId}/rest/_openapi.json",
    "/v1/projects/{projectId}/rest/_types.ts",
    "/v1/projects/{projectId}/rest/{table}",
    "/v1/projects/{projectId}/rest/{table}/{id}",
    "/v1/projects/{projectId}/schema",
    "/v1/projects/{projectId}/schema/tables",
    "/v1/projects/{projectId}/schema/tables/{table}/columns",
    "/v1/projects/{projectId}/schema/tables/{table}/indexes",
    "/v1/projects/{projectId}/schema/tables/{table}/indexes/{index}",
];

/// Path that `createClient` of supabase-js uses for the tables of a project. No table can have the name `v1`.
const SUPABASE_PATH: &str = "/v1/projects/{projectId}/rest/v1/{table}";

/// Returns `true` if the path is below the data API, whether it has a route or not.
pub(crate) fn is_data_api_path(path: &str) -> bool {
    let project = path.strip_prefix("/v1/projects/").and_then(|rest| rest.split_once('/'));
    project.is_some_and(|(_, rest)| matches!(rest.split('/').next(), Some("rest" | "schema")))
}

/// Returns the error for a request below the data API that matches no operation, in the format of the data API.
pub(crate) async fn unmatched_response(api: &Api, request: &Parts, problem: Problem) -> Response {
    cors::unmatched_response(api, request, problem).await
}

pub(crate) fn router() -> OpenApiRouter<Api> {
    let operations = OpenApiRouter::new()
        .routes(op!(rows_list::list_rows))
        .routes(op!(batch::batch_rows))
        .routes(op!(rows_insert::insert_rows))
        .routes(op!(row_put::put_row))
        .routes(op!(rows_update::update_rows))
        .routes(op!(rows_delete::delete_rows))
        .routes(op!(row_read::read_row))
        .routes(op!(row_update::update_row))
        .routes(op!(row_delete::delete_row))
        .routes(op!(schema_read::read_schema))
        .routes(op!(description::read_project_openapi))
        .routes(op!(description::read_project_types))
        .routes(op!(table_create::create_table))
        .routes(op!(column_add::add_column))
        .routes(op!(index_add::add_index))
        .routes(op!(index_drop::drop_index));
    let changes = post(rows_insert::insert_rows)
        .put(row_put::put_row)
        .patch(rows_update::update_rows)
        .delete(rows_delete::delete_rows);
    let again = get(rows_list::list_rows).merge(changes);
    let operations = operations.route(SUPABASE_PATH, again.merge(options(cors::preflight)));
    let preflights = PREFLIGHT_PATHS
        .into_iter()
        .fold(operations, |router, path| router.route(path, options(cors::preflight)));
    preflights
        .layer(middleware::from_fn(cors::add_cors_headers))
        .layer(middleware::from_fn(log::log_requests))
}
