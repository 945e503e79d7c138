//! Schemas of bodies without a Rust type: rows have the columns of their table.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, OneOfBuilder, RefOr, Schema,
        schema::{AdditionalProperties, Type},
    },
};

/// Maximum number of rows that one request may write.
const MAX_ROWS: usize = 500;

fn row() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("A row: column names and their values."))
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
}

/// One row, or an array of at most 500 rows.
pub(crate) struct RowOrRows;

impl PartialSchema for RowOrRows {
    fn schema() -> RefOr<Schema> {
        let rows = ArrayBuilder::new().items(row()).max_items(Some(MAX_ROWS));
        OneOfBuilder::new().description(Some("A row, or an array of rows.")).item(row()).item(rows).into()
    }
}

impl ToSchema for RowOrRows {}
