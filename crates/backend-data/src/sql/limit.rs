//! Limits and offsets.

use super::Params;
use crate::value::Value;

pub(super) fn push_limit(sql: &mut String, limit: u64, offset: u64, params: &mut Params) {
    let limit = params.bind(integer_value(limit));
    sql.push_str(&format!(" LIMIT {limit}"));
    if offset > 0 {
        let offset = params.bind(integer_value(offset));
        sql.push_str(&format!(" OFFSET {offset}"));
    }
}

pub(super) fn integer_value(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
