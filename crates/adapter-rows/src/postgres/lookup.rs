//! The statement that looks up several rows by their ids.

use std::{fmt::Write as _, iter};

use backend_data::{
    RowWriter, StoreError,
    store::{Read, StatementResult, TableScope},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::{
    bind,
    error::{internal_error, to_store_error},
    row_json::write_row,
    version_check::{catalog_version_check, ensure_current_catalog},
};

/// Maximum number of ids of one statement.
pub(super) const MAX_IDS: usize = 16;

/// Numbers of ids that statements have. A few prepared statements serve any number of reads.
const BATCH_SIZES: [usize; 2] = [4, MAX_IDS];

/// Runs reads by id of one shape, at most [`MAX_IDS`], and returns their results in order.
///
/// The ids are joined laterally, with a `LIMIT 1` that allows no other plan: a server must not reuse a cached plan from
/// when the table was small, which scans all of it.
pub(super) async fn look_up_rows(
    connection: &mut PgConnection,
    scope: &TableScope,
    reads: &[&Read],
    is_persistent: bool,
) -> Result<Vec<Result<StatementResult, StoreError>>, StoreError> {
    let Some(first) = reads.first() else { return Ok(Vec::new()) };
    let size = BATCH_SIZES.into_iter().find(|size| reads.len() <= *size);
    let size = size.ok_or_else(|| internal_error("too many reads for one statement"))?;
    let mut query = sqlx::query(AssertSqlSafe(lookup_sql(scope, first, size)?)).persistent(is_persistent);
    for value in &first.params {
        query = bind::value(query, value);
    }
    let others = reads.iter().skip(1).map(|read| read.params.first());
    for value in others.chain(iter::repeat(None)).take(size - 1) {
        query = match value {
            Some(value) => bind::value(query, value),
            None => query.bind(None::<&str>),
        };
    }
    let mut results: Vec<Option<Result<StatementResult, StoreError>>> = reads.iter().map(|_| None).collect();
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(to_store_error)? {
        ensure_current_catalog(&row)?;
        let at: i32 = row.try_get(1).map_err(to_store_error)?;
        let at = usize::try_from(at).map_err(internal_error)?;
        let (Some(read), Some(result)) = (reads.get(at), results.get_mut(at)) else { continue };
        if row.try_get::<Option<bool>, _>(2).map_err(to_store_error)? == Some(true) {
            let mut writer = RowWriter::new(&read.output, read.format).with_limit(read.max_bytes);
            write_row(&mut writer, &row, 3, &read.output)?;
            *result = Some(if writer.is_full() {
                Err(StoreError::ResultTooLarge { limit: read.max_bytes })
            } else {
                Ok(finish_result(writer))
            });
        }
    }
    let empty = |read: &Read| Ok(finish_result(RowWriter::new(&read.output, read.format)));
    Ok(results.into_iter().zip(reads).map(|(result, read)| result.unwrap_or_else(|| empty(read))).collect())
}

/// Returns the statement, whose ids are the first parameter and the last `size - 1`.
fn lookup_sql(scope: &TableScope, read: &Read, size: usize) -> Result<String, StoreError> {
    let parts = read.id_placeholder.clone().and_then(|range| {
        let (before, after) = (read.sql.get(..range.start)?, read.sql.get(range.end..)?);
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| internal_error("the read is not by id"))?;
    let mut ids = "($1::text, 0)".to_owned();
    for at in 1..size {
        // Writing to a string does not fail.
        let _ = write!(ids, ", (${}, {at})", read.params.len() + at);
    }
    // No table of a project has a blank in its name, so none can be confused with this one.
    Ok(format!(
        "SELECT {version_check}, \"asked ids\".\"at\", q.* FROM (VALUES {ids}) AS \"asked ids\"(\"id\", \"at\") \
         LEFT JOIN LATERAL (SELECT TRUE AS \"hit\", s.* FROM \
         ({before}\"asked ids\".\"id\"{after} LIMIT 1) AS s) AS q ON TRUE \
         WHERE \"asked ids\".\"id\" IS NOT NULL",
        version_check = catalog_version_check(scope, read.version),
    ))
}

fn finish_result(writer: RowWriter<'_>) -> StatementResult {
    StatementResult { rows: writer.rows(), body: writer.finish(), ..StatementResult::default() }
}
