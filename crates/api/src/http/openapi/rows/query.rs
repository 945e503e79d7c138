//! The query parameters of operations on rows.

use backend_data::query::MAX_LIMIT;
use serde_json::json;
use utoipa::{
    ToSchema as _,
    openapi::{
        ObjectBuilder, RefOr, Required, Schema,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn, ParameterStyle},
        schema::{AdditionalProperties, KnownFormat, SchemaFormat, Type},
    },
};

use super::error_response;
use crate::http::error::{DataErrorEnvelope, ErrorEnvelope};

/// Adds the parameters of an operation.
pub(super) fn describe(operation: &mut Operation) {
    let id = operation.operation_id.clone().unwrap_or_default();
    let parameters = match id.as_str() {
        "list_rows" | "list_project_rows" => [list_parameters(), vec![cursor()], filters()].concat(),
        "update_rows" | "delete_rows" => [list_parameters(), filters()].concat(),
        "insert_rows" => vec![select(), columns(), on_conflict()],
        "read_row" | "put_row" | "update_row" | "delete_row" => vec![select()],
        _ => return,
    };
    let limited = parameters.iter().any(|parameter| parameter.name == "limit");
    operation.parameters.get_or_insert_default().extend(parameters.into_iter().map(RefOr::T));
    if limited {
        let envelope =
            if id == "list_project_rows" { ErrorEnvelope::name() } else { DataErrorEnvelope::name() };
        let refusal = error_response(
            "The limit is negative, or the requested range begins after the last row.",
            &envelope,
        );
        operation.responses.responses.entry("416".to_owned()).or_insert_with(|| refusal.into());
    }
}

fn parameter(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn integer() -> ObjectBuilder {
    let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(format))
}

fn select() -> Parameter {
    let what = "Columns in the response, as in `id,title`, `name:title` or `data->tags`.";
    parameter("select", what, text()).build()
}

fn list_parameters() -> Vec<Parameter> {
    let limit = format!("Maximum number of rows, {MAX_LIMIT} at most in a list.");
    vec![
        select(),
        parameter("order", "Order of the rows, as in `created_at.desc.nullslast,title`.", text()).build(),
        parameter("limit", &limit, integer().minimum(Some(0))).build(),
        parameter("offset", "Number of rows to skip; a negative number skips none.", integer()).build(),
    ]
}

fn cursor() -> Parameter {
    let what =
        "Position in the pages: empty for the first page, then the `Next-Cursor` of the previous page.";
    parameter("cursor", what, text()).build()
}

fn columns() -> Parameter {
    let what =
        "Columns to read from each row, as in `id,title`; without it, all rows must have the same columns.";
    parameter("columns", what, text()).build()
}

fn on_conflict() -> Parameter {
    let what =
        "Column by which `Prefer: resolution=…` finds existing rows; it needs a unique index. Default: `id`.";
    parameter("on_conflict", what, text()).build()
}

fn filters() -> Vec<Parameter> {
    let tree = |name: &str, what: &str| parameter(name, what, text()).build();
    let columns = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::RefOr(text().into())));
    let what = "A column, or a path into a document, and the condition for its value: `column=operator.value`, as in \
                `price=gt.10` or `data->tags=cs.[\"new\"]`. All conditions must hold. For several conditions on one \
                column, use `and`.";
    let filters = parameter("filters", what, columns)
        .style(Some(ParameterStyle::Form))
        .explode(Some(true))
        .example(Some(json!({"title": "like.Buy*", "done": "is.false"})));
    vec![
        tree(
            "and",
            "Conditions that must all hold, as in `(price.gt.10,price.lt.20)`; `not.and` negates them.",
        ),
        tree(
            "or",
            "Conditions of which one must hold, as in `(price.lt.10,title.like.Buy*)`; `not.or` negates them.",
        ),
        filters.build(),
    ]
}
