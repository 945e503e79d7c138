//! Reading the schema that a caller can use.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    RestResult,
    caller::{AnyScope, Keyed},
};
use crate::{http::table_view::TableView, state::Api};

/// The tables and columns that you can use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DataSchema)]
pub(crate) struct Schema {
    tables: Vec<TableView>,
}

/// List the tables and columns that you can use
///
/// For a publishable key, these are what policies allow. Policies and counts are shown only in the console.
#[utoipa::path(
    get, path = "/v1/projects/{projectId}/schema", tag = "backend-data",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project of the key.")),
    responses((status = 200, body = Schema))
)]
pub(crate) async fn read_schema(State(api): State<Api>, caller: Keyed<AnyScope>) -> RestResult<Json<Schema>> {
    let tables = api.rows().schema(caller.project_ref(), caller.access()).await;
    let tables = tables.map_err(|error| caller.map_error(error))?;
    Ok(Json(Schema { tables: tables.into_iter().map(TableView::from).collect() }))
}
