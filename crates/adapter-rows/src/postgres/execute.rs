//! Running statements, wrapped so that they also report if the catalog has the version that they were compiled for.

use std::{cmp::Ordering, collections::HashMap, sync::Arc};

use backend_data::{
    Catalog, ProjectRef, RowWriter, StoreError, Value,
    store::{CountEstimate, Format, Import, Read, SortDirection, StatementResult, TableScope, Write},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Row, Transaction, postgres::PgRow};

use super::{
    bind, lookup, outbox,
    pool::Pool,
    row_json::write_row,
    schema,
    storage_usage::{self, CapacityCheck, StorageUsage},
};
use crate::write_size;

/// A runner of statements on one project.
pub(super) struct Runner<'s> {
    pub(super) pool: &'s Pool,
    pub(super) scope: &'s TableScope,
    pub(super) project: &'s ProjectRef,
    /// The statement that sets the time limits in a transaction; `None` if the session has them.
    pub(super) set_timeouts_sql: Option<&'s Arc<str>>,
    pub(super) storage_usage: &'s StorageUsage,
}

impl Runner<'_> {
    /// Returns true if a statement stays prepared on its connection. Behind a pooler, the next one may be in another
    /// session.
    fn can_persist_statements(&self) -> bool {
        self.set_timeouts_sql.is_none()
    }

    async fn begin<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<Transaction<'c, Postgres>, StoreError> {
        let mut transaction = connection.begin().await.map_err(to_store_error)?;
        if let Some(limit) = self.set_timeouts_sql {
            let set = sqlx::raw_sql(AssertSqlSafe(&**limit)).execute(&mut *transaction).await;
            set.map_err(to_store_error)?;
        }
        Ok(transaction)
    }

    pub(super) async fn read(&self, read: &Read) -> Result<StatementResult, StoreError> {
        self.with_connection(async |connection| {
            select_rows(connection, self.scope, read, self.can_persist_statements()).await
        })
        .await
    }

    /// Returns the catalog of a project, or `None` if there is no such project.
    pub(super) async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.with_connection(async |connection| {
            schema::catalog(connection, project, self.can_persist_statements()).await
        })
        .await
    }

    /// Reads rows by their ids in one statement. The reads have one
    /// [`LookupShape`](super::lookup_batcher::LookupShape).
    pub(super) async fn look_up(
        &self,
        reads: &[&Read],
    ) -> Result<Vec<Result<StatementResult, StoreError>>, StoreError> {
        self.with_connection(async |connection| {
            lookup::look_up_rows(connection, self.scope, reads, self.can_persist_statements()).await
        })
        .await
    }

    /// Runs `read` on a connection with a time limit for statements.
    async fn with_connection<T>(
        &self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut conn = self.pool.acquire(Some(&self.project.id)).await?;
        let done = async {
            let mut limited = self.with_timeouts(&mut conn.connection).await?;
            let result = read(limited.connection()).await?;
            limited.finish().await?;
            Ok(result)
        };
        // Reads lock no rows: a conflict means that they waited too long for a change of the schema.
        let done = done
            .await
            .map_err(|error: StoreError| if error.is_write_conflict() { StoreError::Timeout } else { error });
        conn.release(done).await
    }

    /// Returns the connection with a time limit for statements.
    async fn with_timeouts<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<TimeoutScope<'c>, StoreError> {
        Ok(match self.set_timeouts_sql {
            None => TimeoutScope::Session(connection),
            Some(_) => TimeoutScope::Transaction(self.begin(connection).await?),
        })
    }

    pub(super) async fn write(&self, write: &Write) -> Result<StatementResult, StoreError> {
        let mut conn = self.pool.acquire(Some(&self.project.id)).await?;
        let done = async {
            self.ensure_capacity_for(&mut conn.connection, write).await?;
            let result = if !write.needs_transaction() && self.set_timeouts_sql.is_none() {
                execute_write(&mut conn.connection, self.scope, write, self.can_persist_statements()).await?
            } else {
                self.write_in_transaction(&mut conn.connection, write).await?
            };
            self.storage_usage.record_write(self.project, write, &result);
            Ok(result)
        };
        let done = done.await;
        conn.release(done).await
    }

    /// Refuses a write if the rows of the project take as many bytes as they may.
    async fn ensure_capacity_for(
        &self,
        connection: &mut PgConnection,
        write: &Write,
    ) -> Result<(), StoreError> {
        match write.max_stored_bytes {
            Some(_) => {
                self.ensure_capacity(
                    connection,
                    write.max_stored_bytes,
                    write_size::estimate_write_bytes(write),
                )
                .await
            }
            None => Ok(()),
        }
    }

    /// Refuses to add this number of bytes if the project has no storage left for them. Measures on this connection if
    /// the usage is not known.
    pub(super) async fn ensure_capacity(
        &self,
        connection: &mut PgConnection,
        limit: Option<u64>,
        bytes: u64,
    ) -> Result<(), StoreError> {
        let Some(limit) = limit else { return Ok(()) };
        match self.storage_usage.reserve(self.project, limit, bytes) {
            CapacityCheck::Fits => Ok(()),
            CapacityCheck::Full => Err(StoreError::StorageFull { limit }),
            CapacityCheck::FitsStale => {
                self.refresh_usage(limit);
                Ok(())
            }
            CapacityCheck::Unknown => {
                let begun = self.storage_usage.begin_measurement(self.project);
                // Within a transaction, this is a savepoint.
                let mut transaction = self.begin(connection).await?;
                let measured = storage_usage::measure_bytes(
                    &mut transaction,
                    self.project,
                    limit,
                    self.can_persist_statements(),
                )
                .await?;
                transaction.commit().await.map_err(to_store_error)?;
                self.storage_usage.record_measurement(self.project, begun, Some(measured));
                match self.storage_usage.reserve(self.project, limit, bytes) {
                    CapacityCheck::Full => Err(StoreError::StorageFull { limit }),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Measures the usage in the background, while the write goes on.
    fn refresh_usage(&self, limit: u64) {
        let (pool, project, usage) = (self.pool.clone(), self.project.clone(), self.storage_usage.clone());
        let (scope, set) = (self.scope.clone(), self.set_timeouts_sql.cloned());
        tokio::spawn(async move {
            let runner = Runner {
                pool: &pool,
                scope: &scope,
                project: &project,
                set_timeouts_sql: set.as_ref(),
                storage_usage: &usage,
            };
            // If the measurement fails, the next write starts another one.
            let begun = usage.begin_measurement(&project);
            let measured = runner.measure(limit).await.ok();
            usage.record_measurement(&project, begun, measured);
        });
    }

    async fn measure(&self, enough: u64) -> Result<u64, StoreError> {
        let measure = async |connection: &mut PgConnection| {
            storage_usage::measure_bytes(connection, self.project, enough, self.can_persist_statements())
                .await
        };
        self.with_connection(measure).await
    }

    /// Measures the bytes that the rows take.
    pub(super) async fn stored_bytes(&self) -> Result<u64, StoreError> {
        self.measure(0).await
    }

    async fn write_in_transaction(
        &self,
        connection: &mut PgConnection,
        write: &Write,
    ) -> Result<StatementResult, StoreError> {
        let mut transaction = self.begin(connection).await?;
        // An error drops the transaction, which undoes it.
        let result =
            execute_write(&mut transaction, self.scope, write, self.can_persist_statements()).await?;
        outbox::add(&mut transaction, self.project, &write.outbox, Some(result.rows)).await?;
        transaction.commit().await.map_err(to_store_error)?;
        Ok(result)
    }

    pub(super) async fn write_all(&self, writes: &[Write]) -> Result<Vec<StatementResult>, StoreError> {
        let mut conn = self.pool.acquire(Some(&self.project.id)).await?;
        let done = self.write_all_in_transaction(&mut conn.connection, writes).await;
        if !matches!(&done, Ok(_) | Err(StoreError::BatchWriteFailed { at: 0, .. })) {
            self.storage_usage.record_rollback(self.project);
        }
        conn.release(done).await
    }

    async fn write_all_in_transaction(
        &self,
        connection: &mut PgConnection,
        writes: &[Write],
    ) -> Result<Vec<StatementResult>, StoreError> {
        let mut transaction = self.begin(connection).await?;
        let mut results: Vec<StatementResult> = Vec::with_capacity(writes.len());
        let mut size = 0;
        for (at, write) in writes.iter().enumerate() {
            let failed = |source| StoreError::BatchWriteFailed { at, source: Box::new(source) };
            // An error drops the transaction, which undoes it.
            self.ensure_capacity_for(&mut transaction, write).await.map_err(failed)?;
            let result = execute_write(&mut transaction, self.scope, write, self.can_persist_statements())
                .await
                .map_err(failed)?;
            size += result.body.len();
            if size > write.max_bytes {
                return Err(failed(StoreError::ResultTooLarge { limit: write.max_bytes }));
            }
            outbox::add(&mut transaction, self.project, &write.outbox, Some(result.rows)).await?;
            results.push(result);
        }
        transaction.commit().await.map_err(to_store_error)?;
        for (write, result) in writes.iter().zip(&results) {
            self.storage_usage.record_write(self.project, write, result);
        }
        Ok(results)
    }

    pub(super) async fn import(&self, import: &Import) -> Result<u64, StoreError> {
        let mut conn = self.pool.acquire(Some(&self.project.id)).await?;
        let done = self.import_in_transaction(&mut conn.connection, import).await;
        if done.is_err() {
            self.storage_usage.record_rollback(self.project);
        }
        conn.release(done).await
    }

    async fn import_in_transaction(
        &self,
        connection: &mut PgConnection,
        import: &Import,
    ) -> Result<u64, StoreError> {
        let refused = |error| StoreError::ImportRejected(Box::new(error));
        let (mut write, batches) = (import.write.clone(), (import.batches)().map_err(refused)?);
        let mut transaction = self.begin(connection).await?;
        let mut rows = 0;
        // An error drops the transaction, which undoes it.
        for batch in batches {
            write.rows = Some(batch.map_err(refused)?);
            self.ensure_capacity_for(&mut transaction, &write).await?;
            rows += execute_write(&mut transaction, self.scope, &write, self.can_persist_statements())
                .await?
                .rows;
        }
        outbox::add(&mut transaction, self.project, &import.outbox, Some(rows)).await?;
        transaction.commit().await.map_err(to_store_error)?;
        Ok(rows)
    }
}

/// The scope of the time limit of statements.
enum TimeoutScope<'c> {
    Session(&'c mut PgConnection),
    Transaction(Transaction<'c, Postgres>),
}

impl TimeoutScope<'_> {
    fn connection(&mut self) -> &mut PgConnection {
        match self {
            Self::Session(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }

    async fn finish(self) -> Result<(), StoreError> {
        match self {
            Self::Session(_) => Ok(()),
            Self::Transaction(transaction) => transaction.commit().await.map_err(to_store_error),
        }
    }
}

async fn select_rows(
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

async fn execute_write(
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

/// Rows in the order of their ids, or of the values by which existing rows are found: two statements that lock the same
/// rows in one order cannot deadlock.
#[derive(Default)]
struct LockOrderedRows<'w> {
    rows: Vec<&'w Vec<Value>>,
    /// The position of each row as it was sent, by its id; empty if they were sent in this order.
    ranks: HashMap<&'w str, usize>,
    /// The same by position, for a statement that returns its rows in this order, with ids that need not be those sent.
    positions: Vec<usize>,
}

impl<'w> LockOrderedRows<'w> {
    fn new(rows: &'w [Vec<Value>], write: &Write) -> Self {
        fn id(row: &[Value]) -> &str {
            if let Some(Value::Text(id)) = row.first() { id } else { "" }
        }
        if !write.conflict_positions.is_empty() {
            return Self::by_conflict_columns(rows, write);
        }
        let mut sent: Vec<&Vec<Value>> = rows.iter().collect();
        if sent.is_sorted_by_key(|row| id(row)) {
            return Self { rows: sent, ..Self::default() };
        }
        // Of rows with the same id, the first one counts, as in the order in which they were sent.
        sent.sort_by_key(|row| id(row));
        let ranks = rows.iter().enumerate().rev().map(|(at, row)| (id(row), at)).collect();
        Self { rows: sent, ranks, positions: Vec::new() }
    }

    /// Orders the rows of a merge, which touches each of its rows or is undone. Other inserts may skip rows, so they
    /// keep the order in which they were sent.
    fn by_conflict_columns(rows: &'w [Vec<Value>], write: &Write) -> Self {
        let mut positions: Vec<usize> = (0..rows.len()).collect();
        if write.has_inserted_column {
            let value = |at: usize, column: usize| rows.get(at).and_then(|row| row.get(column));
            positions.sort_by(|one, other| {
                let by = write
                    .conflict_positions
                    .iter()
                    .map(|at| compare_values(value(*one, *at), value(*other, *at)));
                by.fold(Ordering::Equal, Ordering::then)
            });
        }
        Self {
            rows: positions.iter().filter_map(|at| rows.get(*at)).collect(),
            ranks: HashMap::new(),
            positions,
        }
    }

    /// Returns true if the rows were sent in another order.
    fn is_reordered(&self) -> bool {
        !self.ranks.is_empty() || !self.positions.is_sorted()
    }
}

/// Compares two values of one column in some order that is always the same.
fn compare_values(one: Option<&Value>, other: Option<&Value>) -> Ordering {
    match (one, other) {
        (Some(Value::Text(one)), Some(Value::Text(other))) => one.cmp(other),
        (Some(Value::Integer(one)), Some(Value::Integer(other))) => one.cmp(other),
        (Some(Value::Real(one)), Some(Value::Real(other))) => one.total_cmp(other),
        (Some(Value::Boolean(one)), Some(Value::Boolean(other))) => one.cmp(other),
        (Some(Value::Timestamp(one)), Some(Value::Timestamp(other))) => one.get().cmp(&other.get()),
        (Some(Value::Null(_)), Some(Value::Null(_))) => Ordering::Equal,
        (Some(Value::Null(_)), _) => Ordering::Less,
        (_, Some(Value::Null(_))) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Returns the expression that is true if the catalog has this version. The number in the text also prevents the use of
/// a statement that was prepared for another version.
pub(super) fn catalog_version_check(scope: &TableScope, version: u64) -> String {
    scope
        .schema_version_check
        .as_ref()
        .map_or_else(|| "TRUE".to_owned(), |guard| format!("{guard} = {version}"))
}

pub(super) fn ensure_current_catalog(row: &PgRow) -> Result<(), StoreError> {
    let fresh: Option<bool> = row.try_get(0).map_err(to_store_error)?;
    if fresh == Some(true) { Ok(()) } else { Err(StoreError::Stale) }
}

fn has_row(row: &PgRow) -> Result<bool, StoreError> {
    Ok(row.try_get::<Option<bool>, _>(1).map_err(to_store_error)?.unwrap_or(false))
}

pub(super) fn internal_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Internal(error.into())
}

pub(super) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(Into::into)
}

fn constraint(error: &sqlx::Error) -> Option<&str> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::constraint)
}

/// Converts an error of PostgreSQL, by its SQLSTATE (PostgreSQL documentation, appendix A).
pub(super) fn to_store_error(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
            return StoreError::Unavailable(error.into());
        }
        _ => {}
    }
    let Some(state) = sqlstate(&error) else { return internal_error(error) };
    match state.as_str() {
        // The names of indexes begin with an underscore; that of a primary key is derived from its table, whose name
        // does not.
        "23505" if constraint(&error).is_some_and(|name| name.starts_with('_')) => {
            StoreError::UniqueViolation
        }
        "23505" => StoreError::RowExists,
        "54000" => StoreError::TooLongForIndex,
        // A cast or a sum that does not fit, a document of the wrong type, a regular expression that is too large.
        "2201B" | "22P02" | "22P05" | "22003" | "22007" | "22008" | "22023" => StoreError::DataException,
        // An unknown schema, table or column, or a prepared statement whose table has changed.
        "3F000" | "42P01" | "42703" | "0A000" => StoreError::Stale,
        "57014" => StoreError::Timeout,
        // A deadlock, a serialization failure or a lock timeout: the transaction was undone and may be run again.
        "40P01" | "40001" | "55P03" => StoreError::WriteConflict(error.into()),
        // Other rollbacks, connections, resources, interventions of the operator.
        other if ["40", "08", "53", "57"].iter().any(|class| other.starts_with(class)) => {
            StoreError::Unavailable(error.into())
        }
        _ => internal_error(error),
    }
}
