//! Media types and query parameters of operations on rows. They are the same for all of these operations, so they are
//! added here.

mod query;

use utoipa::{
    ToSchema as _,
    openapi::{
        ContentBuilder, ObjectBuilder, RefOr,
        path::Operation,
        schema::{AdditionalProperties, Type},
    },
};

use super::error_response;
use crate::http::error::DataErrorEnvelope;

const JSON: &str = "application/json";
const ONE_ROW: &str = "application/vnd.pgrst.object+json";
const CSV: &str = "text/csv";

/// Adds the query parameters; to the operations for project keys also the media types of rows, and the 406 response.
pub(super) fn describe(path: &str, operation: &mut Operation) {
    query::describe(operation);
    if !path.contains("/rest/{table}") {
        return;
    }
    let csv = || ContentBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::String))).build();
    let row = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .build();
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if status.starts_with('2') && response.content.contains_key(JSON) {
            let one = ContentBuilder::new().schema(Some(row.clone())).build();
            response.content.insert(ONE_ROW.to_owned(), one.into());
            response.content.insert(CSV.to_owned(), csv().into());
        }
    }
    if operation.operation_id.as_deref() == Some("insert_rows")
        && let Some(RefOr::T(body)) = operation.request_body.as_mut()
    {
        let mut rows = csv();
        rows.example = Some("id,title\ntea,Buy tea\njam,Buy jam\n".into());
        body.content.insert(CSV.to_owned(), rows.into());
    }
    let refusal = error_response(
        "The operation supports none of the types in `Accept`, or `Accept` requests exactly one row and there is none or more.",
        &DataErrorEnvelope::name(),
    );
    operation.responses.responses.entry("406".to_owned()).or_insert_with(|| refusal.into());
}
