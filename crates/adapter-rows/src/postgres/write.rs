//! Writing rows.

use backend_data::{
    RowWriter, StoreError,
    store::{SortDirection, StatementResult, TableScope, Write},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{
    bind,
    error::{internal_error, to_store_error},
    lock_order::LockOrderedRows,
    row_json::write_row,
    version_check::{catalog_version_check, ensure_current_catalog, has_row},
};

pub(super) async fn execute_write(
    connection: &mut PgConnection,
    scope: &TableScope,
    write: &Write,
    is_persistent: bool,
) -> Result<StatementResult, StoreError> {
    let version_check = catalog_version_check(scope, write.version);
    let counts = write.output.is_empty() && !write.has_check_column && !write.has_inserted_column;
    let sent = write.rows.as_deref().map(|rows| LockOrderedRows::new(rows, write)).unwrap_or_default();
    // Rows that are written in another order are returned in the one in which they were sent, unless the query has an
    // order.
    let ranked = sent.is_reordered() && !write.output.is_empty() && write.order.is_empty();
    let id = if ranked && sent.positions.is_empty() { ", \"id\" AS \"sent id\"" } else { "" };
    let sql = if counts {
        format!("WITH w AS ({}) SELECT {version_check}, (SELECT count(*) FROM w)", write.sql)
    } else {
        format!(
            "WITH w AS ({}{id}) SELECT {version_check}, q.\"hit\", q.* FROM (VALUES (1)) AS o(x) \
             LEFT JOIN (SELECT TRUE AS \"hit\", w.* FROM w) AS q ON TRUE{}",
            write.sql,
            order_by(&write.order)
        )
    };
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(is_persistent);
    if write.rows.is_some() {
        for (at, kind) in write.row_types.iter().enumerate() {
            query = bind::column(query, *kind, &sent.rows, at);
        }
    }
    for value in &write.params {
        query = bind::value(query, value);
    }
    let mut writer = if ranked { RowWriter::sortable } else { RowWriter::new }(&write.output, write.format);
    // Without a transaction, a write cannot be undone, so its one row is returned however large it is.
    writer = writer.with_limit(if write.needs_transaction() { write.max_bytes } else { usize::MAX });
    let mut ranks = Vec::new();
    let (mut touched, mut inserted) = (0, 0);
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(to_store_error)? {
        ensure_current_catalog(&row)?;
        if counts {
            let counted: i64 = row.try_get(1).map_err(to_store_error)?;
            touched = u64::try_from(counted).map_err(internal_error)?;
        } else if has_row(&row)? {
            touched += 1;
            if write.has_check_column
                && !row.try_get::<bool, _>(3 + write.output.len()).map_err(to_store_error)?
            {
                return Err(StoreError::CheckFailed);
            }
            if write.has_inserted_column {
                let at = 3 + write.output.len() + usize::from(write.has_check_column);
                inserted += u64::from(row.try_get::<bool, _>(at).map_err(to_store_error)?);
            }
            write_row(&mut writer, &row, 3, &write.output)?;
            if ranked && let Some(position) = sent.positions.get(ranks.len()) {
                ranks.push(*position);
            } else if ranked {
                let at = 3
                    + write.output.len()
                    + usize::from(write.has_check_column)
                    + usize::from(write.has_inserted_column);
                let id: &str = row.try_get(at).map_err(to_store_error)?;
                ranks.push(sent.ranks.get(id).copied().unwrap_or(usize::MAX));
            }
        }
        if let Some(limit) = write.max_rows
            && touched > limit
        {
            return Err(StoreError::TooManyRows { limit });
        }
        if writer.is_full() {
            return Err(StoreError::ResultTooLarge { limit: write.max_bytes });
        }
    }
    let given = write.rows.as_ref().map_or(0, Vec::len) as u64;
    if write.requires_every_row && touched < given {
        return Err(StoreError::CheckFailed);
    }
    if write.exactly_one && touched != 1 {
        return Err(StoreError::WrongRowCount { rows: touched });
    }
    let body = if write.output.is_empty() { Vec::new() } else { writer.finish_sorted(&ranks) };
    let inserted = write.has_inserted_column.then_some(inserted);
    Ok(StatementResult { body, rows: touched, inserted, ..StatementResult::default() })
}

/// Returns the `ORDER BY` of the result.
fn order_by(order: &[SortDirection]) -> String {
    let terms: Vec<String> = order
        .iter()
        .enumerate()
        .map(|(at, direction)| {
            let way = if direction.descending { "DESC" } else { "ASC" };
            let nulls = if direction.nulls_first { "FIRST" } else { "LAST" };
            format!("q.\"o{at}\" {way} NULLS {nulls}")
        })
        .collect();
    if terms.is_empty() { String::new() } else { format!(" ORDER BY {}", terms.join(", ")) }
}
