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
pub(crate) mod response_options;
mod row_delete;
mod row_put;
mod row_read;
mod row_update;
mod rows_delete;
mod rows_insert;
mod rows_list;
mod rows_update;
mod schema_read;
mod table_create;

use axum::{
    http::request::Parts,
    middleware,
    response::Response,
    routing::{get, options, post},
};
use kernel::Problem;
use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) use error::RestResult;

/// What a browser asks leave for before it calls.
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

/// Where `createClient` of supabase-js looks for the tables of a project. No table is called `v1`.
const SUPABASE_PATH: &str = "/v1/projects/{projectId}/rest/v1/{table}";

/// Whether a path is one of the data API's, be there a route or not.
pub(crate) fn is_data_api_path(path: &str) -> bool {
    let project = path.strip_prefix("/v1/projects/").and_then(|rest| rest.split_once('/'));
    project.is_some_and(|(_, rest)| matches!(rest.split('/').next(), Some("rest" | "schema")))
}

/// The refusal of a request below the data API that no operation answers, as the data API gives it.
pub(crate) async fn unmatched_response(api: &Api, request: &Parts, problem: Problem) -> Response {
    cors::unmatched_response(api, request, problem).await
}

pub(crate) fn router() -> OpenApiRouter<Api> {
    let read = Access::project_key("rows:read");
    let write = Access::project_key("rows:write");
    let schema = Access::project_key("schema:write");
    let operations = OpenApiRouter::new()
        .routes(op!(read, rows_list::list_rows))
        .routes(op!(write, batch::batch_rows))
        .routes(op!(write, rows_insert::insert_rows))
        .routes(op!(write, row_put::put_row))
        .routes(op!(write, rows_update::update_rows))
        .routes(op!(write, rows_delete::delete_rows))
        .routes(op!(read, row_read::read_row))
        .routes(op!(write, row_update::update_row))
        .routes(op!(write, row_delete::delete_row))
        .routes(op!(Access::project_key("-"), schema_read::read_schema))
        .routes(op!(Access::project_key("-"), description::read_project_openapi))
        .routes(op!(Access::project_key("-"), description::read_project_types))
        .routes(op!(schema, table_create::create_table))
        .routes(op!(schema, column_add::add_column))
        .routes(op!(schema, index_add::add_index))
        .routes(op!(schema, index_drop::drop_index));
    let changes = post(rows_insert::insert_rows)
        .put(row_put::put_row)
        .patch(rows_update::update_rows)
        .delete(rows_delete::delete_rows);
    let again = read.protect(get(rows_list::list_rows)).merge(write.protect(changes));
    let operations = operations.route(SUPABASE_PATH, again.merge(options(cors::preflight)));
    let preflights = PREFLIGHT_PATHS
        .into_iter()
        .fold(operations, |router, path| router.route(path, options(cors::preflight)));
    preflights
        .layer(middleware::from_fn(cors::add_cors_headers))
        .layer(middleware::from_fn(log::log_requests))
}
