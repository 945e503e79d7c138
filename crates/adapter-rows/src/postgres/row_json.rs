//! Writing of rows in PostgreSQL's binary format.

use backend_data::{ColumnType, Micros, OutputColumn, RowWriter, StoreError};
use sqlx::{
    Row, ValueRef,
    postgres::{PgRow, PgValueFormat, PgValueRef},
};

use super::{
    bind::PG_EPOCH_MICROS,
    error::{internal_error, to_store_error},
};

/// Writes the columns of a row that start at `first`.
pub(super) fn write_row(
    writer: &mut RowWriter<'_>,
    row: &PgRow,
    first: usize,
    output: &[OutputColumn],
) -> Result<(), StoreError> {
    for (at, column) in output.iter().enumerate() {
        if writer.is_full() {
            return Ok(());
        }
        let value = row.try_get_raw(first + at).map_err(to_store_error)?;
        if value.is_null() {
            writer.null();
            continue;
        }
        if value.format() != PgValueFormat::Binary {
            return Err(internal_error("a value is in text format"));
        }
        match column.kind {
            ColumnType::Text => writer.text(text(&value)?),
            ColumnType::Integer => writer.integer(i64::from_be_bytes(fixed_bytes(&value)?)),
            ColumnType::Real => writer.real(f64::from_be_bytes(fixed_bytes(&value)?)),
            ColumnType::Boolean => writer.boolean(bytes(&value)?.first().is_some_and(|byte| *byte != 0)),
            ColumnType::Timestamp => {
                let micros = i64::from_be_bytes(fixed_bytes(&value)?).saturating_add(PG_EPOCH_MICROS);
                // No column has a time outside the years 1 to 9999, but a cast may yield one.
                writer.timestamp(Micros::new(micros).ok_or(StoreError::DataException)?);
            }
            ColumnType::Json => {
                // The first byte is the version of the binary format.
                let document = text(&value)?.strip_prefix('\u{1}');
                writer.json(document.ok_or_else(|| internal_error("a jsonb value has an unknown format"))?);
            }
        }
    }
    writer.end_row();
    Ok(())
}

fn bytes<'r>(value: &PgValueRef<'r>) -> Result<&'r [u8], StoreError> {
    value.as_bytes().map_err(StoreError::Internal)
}

fn text<'r>(value: &PgValueRef<'r>) -> Result<&'r str, StoreError> {
    value.as_str().map_err(StoreError::Internal)
}

fn fixed_bytes(value: &PgValueRef<'_>) -> Result<[u8; 8], StoreError> {
    bytes(value)?.try_into().map_err(internal_error)
}
