//! Cursors: the values of the last row of a page that its order uses, as opaque text.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::value::RawValue;

use super::OrderTerm;
use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Result},
    value::Value,
};

/// Maximum length of a cursor in bytes.
const MAX_CURSOR: usize = 8 * 1024;

/// Encodes the cursor after a row, whose keys the store wrote as a JSON array of one object.
///
/// # Errors
/// `invalid_value` if the cursor would be longer than [`MAX_CURSOR`].
pub(crate) fn encode(table: &str, order: &[OrderTerm], keys: &[u8]) -> Result<String> {
    let keys = keys.strip_prefix(b"[").and_then(|keys| keys.strip_suffix(b"]"));
    let keys = keys.ok_or_else(|| Error::internal("the keys of a row are not an array"))?;
    if keys.len() > MAX_CURSOR / 4 * 3 - 16 {
        return Err(Error::invalid_value("a value of the order is too long for a cursor")
            .with_hint("Order by a shorter column, or page with `offset`."));
    }
    let mut text = format!("{:016x}", order_fingerprint(table, order)).into_bytes();
    text.extend_from_slice(keys);
    Ok(URL_SAFE_NO_PAD.encode(text))
}

/// Decodes the values of a cursor as values of the columns of the order.
pub(crate) fn decode(
    cursor: &str,
    table: &str,
    order: &[OrderTerm],
    columns: &[Column],
) -> Result<Vec<Value>> {
    let invalid = || Error::invalid_request("`cursor` does not belong to this query");
    if cursor.len() > MAX_CURSOR {
        return Err(invalid());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
    let text = std::str::from_utf8(&bytes).map_err(|_| invalid())?;
    let (fingerprint, keys) = text.split_at_checked(16).ok_or_else(invalid)?;
    if u64::from_str_radix(fingerprint, 16).ok() != Some(order_fingerprint(table, order)) {
        return Err(invalid());
    }
    let keys: std::collections::HashMap<&str, &RawValue> =
        serde_json::from_str(keys).map_err(|_| invalid())?;
    columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let raw = keys.get(at.to_string().as_str()).ok_or_else(invalid)?;
            // A document is in the cursor as text.
            if column.kind == ColumnType::Json && raw.get() != "null" {
                let text: String = serde_json::from_str(raw.get()).map_err(|_| invalid())?;
                return Value::from_text(column, &text).map_err(|_| invalid());
            }
            Value::from_json(column, raw.get()).map_err(|_| invalid())
        })
        .collect()
}

/// Distinguishes the cursors of one table and order from others (FNV-1a). It proves nothing and need not: a forged
/// cursor starts a page elsewhere and shows no row that the caller may not see.
fn order_fingerprint(table: &str, order: &[OrderTerm]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in format!("{table} {order:?}").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
