//! Preconditions of changes to tables, which the row store checks with the change.

use std::sync::Arc;

use backend_data::Engine;

use crate::http::{
    conditional::IfMatch,
    table_view::{column_tag, table_tag},
};

/// Returns the engine that changes a table only if it is as the request requires.
pub(super) fn with_table_if_match(rows: &Engine, if_match: IfMatch) -> Engine {
    if if_match.permits_any_state() {
        return rows.clone();
    }
    rows.with_table_precondition(Arc::new(move |table| {
        table_tag(table).is_ok_and(|tag| if_match.permits(&tag))
    }))
}

/// Returns the engine that changes a column only if it is as the request requires. A column that does not exist passes, so
/// that the change says that there is none.
pub(super) fn with_column_if_match(rows: &Engine, if_match: IfMatch, column: &str) -> Engine {
    if if_match.permits_any_state() {
        return rows.clone();
    }
    let column = column.to_owned();
    rows.with_table_precondition(Arc::new(move |table| {
        column_tag(table, &column).is_ok_and(|tag| tag.is_none_or(|tag| if_match.permits(&tag)))
    }))
}
