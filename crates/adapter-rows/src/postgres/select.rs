//! Reading rows.

use backend_data::{
    RowWriter, StoreError, Value,
    store::{CountEstimate, Format, Read, StatementResult, TableScope},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{
    bind,
    error::{internal_error, to_store_error},
    row_json::write_row,
    version_check::{catalog_version_check, ensure_current_catalog, has_row},
};

pub(super) async fn select_rows(
    connection: &mut PgConnection,
    scope: &TableScope,
    read: &Read,
    is_persistent: bool,
) -> Result<StatementResult, StoreError> {
    let (counts, planned) = match &read.count {
        None => (None, None),
        Some(count) => match &count.estimate {
            Some(CountEstimate::Planned { sql, exact_up_to }) => {
                let planned =
                    planned_row_count(connection, sql, read.params.iter().take(count.params), is_persistent)
                        .await?;
                if planned <= *exact_up_to { (Some(count), None) } else { (None, Some(planned)) }
            }
            _ => (Some(count), None),
        },
    };
    let count = counts.map_or_else(|| "NULL::bigint".to_owned(), |count| format!("({})", count.sql));
    // The outer join always yields a row, so that an empty result still reports the version of the catalog.
    let sql = format!(
        "SELECT {version_check}, q.\"hit\", {count}, q.* FROM (VALUES (1)) AS o(x) \
         LEFT JOIN (SELECT TRUE AS \"hit\", s.* FROM ({rows}) AS s) AS q ON TRUE",
        version_check = catalog_version_check(scope, read.version),
        rows = read.sql,
    );
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(is_persistent);
    for value in &read.params {
        query = bind::value(query, value);
    }
    let mut writer = RowWriter::new(&read.output, read.format).with_limit(read.max_bytes);
    let mut keys = RowWriter::new(&read.cursor_keys, Format::Json);
    let mut cooperative_yield = CooperativeYield::default();
    let mut total = None;
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(to_store_error)? {
        ensure_current_catalog(&row)?;
        if writer.rows() == 0 {
            let counted: Option<i64> = row.try_get(2).map_err(to_store_error)?;
            total = counted.and_then(|counted| u64::try_from(counted).ok()).or(planned);
        }
        if has_row(&row)? {
            write_row(&mut writer, &row, 4, &read.output)?;
            cooperative_yield.yield_after(writer.len()).await;
            if !read.cursor_keys.is_empty() {
                keys.clear();
                write_row(&mut keys, &row, 4 + read.output.len(), &read.cursor_keys)?;
            }
        }
        if writer.is_full() {
            return Err(StoreError::ResultTooLarge { limit: read.max_bytes });
        }
    }
    let keys = (keys.rows() > 0).then(|| keys.finish());
    Ok(StatementResult {
        rows: writer.rows(),
        body: writer.finish(),
        total,
        inserted: None,
        cursor_keys: keys,
    })
}

/// Returns the number of rows that the planner expects of a statement, without running it.
async fn planned_row_count<'v>(
    connection: &mut PgConnection,
    sql: &str,
    params: impl Iterator<Item = &'v Value>,
    is_persistent: bool,
) -> Result<u64, StoreError> {
    let explain = AssertSqlSafe(format!("EXPLAIN (FORMAT TEXT) {sql}"));
    let mut query = sqlx::query(explain).persistent(is_persistent);
    for value in params {
        query = bind::value(query, value);
    }
    let first = query.fetch_all(connection).await.map_err(to_store_error)?;
    let line: &str =
        first.first().ok_or_else(|| internal_error("a plan is empty"))?.try_get(0).map_err(to_store_error)?;
    // `Seq Scan on notes  (cost=0.00..1.01 rows=1 width=4)`: parsed from the end, since the name may contain ` rows=`.
    let rows = line.rsplit_once(" rows=").and_then(|(_, rest)| rest.split_once(' ')).map(|(rows, _)| rows);
    rows.and_then(|rows| rows.parse().ok()).ok_or_else(|| internal_error("a plan has no number of rows"))
}

/// Yields to the executor while a large result is written: if its rows have arrived already, nothing else awaits.
#[derive(Default)]
struct CooperativeYield {
    written: usize,
}

impl CooperativeYield {
    /// Bytes that are written between two yields.
    const YIELD_BYTES: usize = 256 * 1024;

    async fn yield_after(&mut self, written: usize) {
        if written - self.written > Self::YIELD_BYTES {
            self.written = written;
            tokio::task::yield_now().await;
        }
    }
}
