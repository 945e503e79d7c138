//! The keys of the first object of a JSON file.

use super::{CreatedAt, IgnoredColumns};
use crate::{
    catalog::{Column, Table},
    engine::body::{RowDefaults, RowObject, column_positions, row_values},
    error::{Error, Result},
    record_splitter::TextRecord,
    value::Value,
};

/// The columns of the first object of a file, which all other objects must have.
pub(crate) struct JsonKeys {
    names: Vec<String>,
    created_at: CreatedAt,
}

impl JsonKeys {
    pub(crate) fn new(table: &Table, object: &[u8], created_at: CreatedAt) -> Result<Self> {
        let RowObject(first) = serde_json::from_slice(object).map_err(|error| not_an_object_error(&error))?;
        let mut names = Vec::with_capacity(first.len());
        for (name, _) in &first {
            if let Some(column) = created_at.find_column(table, name)? {
                names.push(column.name.clone());
            }
        }
        Ok(Self { names, created_at })
    }

    /// Returns the names of the columns.
    pub(crate) fn given_columns<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        self.columns(table).into_iter().map(|column| column.name.as_str()).collect()
    }

    fn columns<'t>(&self, table: &'t Table) -> Vec<&'t Column> {
        self.names.iter().filter_map(|name| table.column(name)).collect()
    }

    /// Returns the values of some objects in the order of the table's columns, and adds a `created_at` that is left out.
    pub(crate) fn values(
        &self,
        table: &Table,
        objects: &[TextRecord],
        fill: &RowDefaults<'_>,
        ignored: &mut IgnoredColumns,
    ) -> Result<Vec<Vec<Value>>> {
        let (positions, given) = (column_positions(table), self.columns(table));
        let rows = objects.iter().map(|object| {
            let row = serde_json::from_slice(&object.text).map_err(|error| not_an_object_error(&error));
            let values = row.and_then(|RowObject(mut row)| {
                if self.created_at == CreatedAt::Ignore {
                    let sent = row.len();
                    row.retain(|(name, _)| name != "created_at");
                    if row.len() < sent {
                        // It is the only key that may be left out, so its position is of no importance.
                        ignored.0.entry(0).or_insert_with(|| "created_at".to_owned());
                    }
                }
                row_values(table, &positions, &row, &given, true, fill)
            });
            values.map_err(|error| error.in_position(object.position))
        });
        rows.collect()
    }
}

fn not_an_object_error(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    // The line is one of the row, not of the file.
    let reason = text.split(" at line ").next().unwrap_or_default();
    Error::invalid_body("each row must be a JSON object of column values").with_details(reason)
}
