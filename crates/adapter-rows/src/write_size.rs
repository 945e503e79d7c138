//! Estimates of the bytes that a write adds.

use backend_data::{Value, store::Write};

/// Bytes that a row takes besides its values.
pub(crate) const ROW_OVERHEAD_BYTES: u64 = 36;

/// Estimates the bytes that a write adds to a table, without its indexes. An update counts as one row.
pub(crate) fn estimate_write_bytes(write: &Write) -> u64 {
    fn size(value: &Value) -> u64 {
        match value {
            Value::Text(text) | Value::Json(text) => text.len() as u64,
            _ => 8,
        }
    }
    match &write.rows {
        Some(rows) => rows.iter().map(|row| ROW_OVERHEAD_BYTES + row.iter().map(size).sum::<u64>()).sum(),
        None => ROW_OVERHEAD_BYTES + write.params.iter().map(size).sum::<u64>(),
    }
}
