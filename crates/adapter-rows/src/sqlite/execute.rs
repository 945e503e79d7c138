//! Running statements on a connection: binding values, stepping, and writing rows.

use std::cmp::Ordering;

use backend_data::{
    Catalog, ColumnType, OutputColumn, RowWriter, StoreError, Value,
    functions::CannotCast,
    store::{CountEstimate, Format, Read, SchemaChange, SortDirection, StatementResult, Write},
};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, Row, Rows,
    ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    types::{Null, Value as Found, ValueRef},
};

use super::{internal_error, unavailable_error};

/// Size of a page in bytes: SQLite's default, which no file of this store changes.
const PAGE_BYTES: u64 = 4096;

pub(super) fn catalog(connection: &Connection) -> Result<Option<Catalog>, StoreError> {
    let found: Option<(i64, String)> = connection
        .query_row("SELECT \"version\", \"body\" FROM \"_catalog\"", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(to_store_error)?;
    let Some((version, body)) = found else { return Ok(None) };
    let version = u64::try_from(version).map_err(internal_error)?;
    Catalog::from_json(version, &body).map(Some).map_err(internal_error)
}

/// Stores the new catalog and runs the statements of a change, within the caller's transaction.
pub(super) fn apply_schema_change(connection: &Connection, change: &SchemaChange) -> Result<(), StoreError> {
    let body = change.catalog.to_json().map_err(internal_error)?;
    let (to, from) = (to_i64(change.catalog.version)?, to_i64(change.from_version)?);
    // First: the statements of a change that another one overtook do not fit the tables.
    let changed = connection
        .execute(
            "UPDATE \"_catalog\" SET \"version\" = ?1, \"body\" = ?2 WHERE \"version\" = ?3",
            (to, body, from),
        )
        .map_err(to_store_error)?;
    if changed != 1 {
        return Err(StoreError::Stale);
    }
    if let Some(table) = &change.only_if_empty {
        let empty = format!("SELECT NOT EXISTS (SELECT 1 FROM \"{table}\")");
        if !connection.query_row(&empty, [], |row| row.get::<_, bool>(0)).map_err(to_store_error)? {
            return Err(StoreError::TableNotEmpty);
        }
    }
    for statement in &change.statements {
        connection.execute_batch(statement).map_err(to_store_error)?;
    }
    Ok(())
}

fn to_i64(version: u64) -> Result<i64, StoreError> {
    i64::try_from(version).map_err(internal_error)
}

/// Runs a read without a count whose result has at most `limit` bytes.
pub(super) fn read_small(
    connection: &Connection,
    read: &Read,
    limit: usize,
) -> Result<StatementResult, StoreError> {
    select_rows(connection, read, limit)
}

pub(super) fn read(connection: &Connection, read: &Read) -> Result<StatementResult, StoreError> {
    let Some(count) = &read.count else { return select_rows(connection, read, read.max_bytes) };
    // One transaction, so that the rows and their count are of the same state.
    connection.execute_batch("BEGIN").map_err(to_store_error)?;
    let result = select_rows(connection, read, read.max_bytes).and_then(|result| {
        let sql = match &count.estimate {
            Some(CountEstimate::Bounded(sql)) => sql,
            _ => &count.sql,
        };
        let mut statement = connection.prepare_cached(sql).map_err(to_store_error)?;
        bind_values(&mut statement, 0, read.params.iter().take(count.params))?;
        let mut found = statement.raw_query();
        let row =
            found.next().map_err(to_store_error)?.ok_or_else(|| internal_error("a count returned no row"))?;
        let total: i64 = row.get(0).map_err(to_store_error)?;
        Ok(StatementResult { total: u64::try_from(total).ok(), ..result })
    });
    let ended = connection.execute_batch("COMMIT").map_err(to_store_error);
    let result = result?;
    ended?;
    Ok(result)
}

fn select_rows(connection: &Connection, read: &Read, limit: usize) -> Result<StatementResult, StoreError> {
    let mut statement = connection.prepare_cached(&read.sql).map_err(to_store_error)?;
    bind_values(&mut statement, 0, read.params.iter())?;
    let mut writer = RowWriter::new(&read.output, read.format).with_limit(limit);
    let mut keys = RowWriter::new(&read.cursor_keys, Format::Json);
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(to_store_error)? {
        write_row(&mut writer, row, 0, &read.output)?;
        if !read.cursor_keys.is_empty() {
            keys.clear();
            write_row(&mut keys, row, read.output.len(), &read.cursor_keys)?;
        }
        if writer.is_full() {
            return Err(StoreError::ResultTooLarge { limit });
        }
    }
    let keys = (keys.rows() > 0).then(|| keys.finish());
    Ok(StatementResult {
        rows: writer.rows(),
        body: writer.finish(),
        cursor_keys: keys,
        ..StatementResult::default()
    })
}

/// Refuses a change that adds to a file whose rows take `limit` bytes or more.
pub(super) fn ensure_capacity(connection: &Connection, limit: Option<u64>) -> Result<(), StoreError> {
    match limit {
        // Pages in use are never more than all pages, so one pragma is enough for most files.
        Some(limit)
            if pragma_page_bytes(connection, "PRAGMA page_count")? >= limit
                && stored_bytes(connection)? >= limit =>
        {
            Err(StoreError::StorageFull { limit })
        }
        _ => Ok(()),
    }
}

/// Returns the bytes of the pages in use.
pub(super) fn stored_bytes(connection: &Connection) -> Result<u64, StoreError> {
    let [all, free] =
        ["PRAGMA page_count", "PRAGMA freelist_count"].map(|sql| pragma_page_bytes(connection, sql));
    Ok(all?.saturating_sub(free?))
}

/// Returns a number of pages in bytes. SQLite has it in memory.
fn pragma_page_bytes(connection: &Connection, sql: &str) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(to_store_error)?;
    let pages: i64 = statement.query_row([], |row| row.get(0)).map_err(to_store_error)?;
    Ok(u64::try_from(pages).map_err(internal_error)?.saturating_mul(PAGE_BYTES))
}

/// Runs a write within the caller's transaction or savepoint. If this fails, the caller undoes it.
pub(super) fn write(connection: &Connection, write: &Write) -> Result<StatementResult, StoreError> {
    let mut statement = connection.prepare_cached(&write.sql).map_err(to_store_error)?;
    let sorted = !write.order.is_empty();
    let writer = if sorted { RowWriter::sortable } else { RowWriter::new };
    let mut writer = writer(&write.output, write.format).with_limit(write.max_bytes);
    let mut touched = WriteTally::default();
    match &write.rows {
        None => {
            bind_values(&mut statement, 0, write.params.iter())?;
            touched = run_bound_statement(&mut statement, write, &mut writer, touched)?;
        }
        Some(rows) => {
            for row in rows {
                bind_values(&mut statement, 0, row.iter())?;
                bind_values(&mut statement, row.len(), write.params.iter())?;
                let before = touched.rows;
                touched = run_bound_statement(&mut statement, write, &mut writer, touched)?;
                if write.requires_every_row && touched.rows == before {
                    return Err(StoreError::CheckFailed);
                }
            }
        }
    }
    let WriteTally { rows, inserted, keys } = touched;
    if write.exactly_one && rows != 1 {
        return Err(StoreError::WrongRowCount { rows });
    }
    let body = if write.output.is_empty() {
        Vec::new()
    } else {
        writer.finish_sorted(&rank_rows(&keys, &write.order))
    };
    let inserted = write.has_inserted_column.then_some(inserted);
    Ok(StatementResult { body, rows, inserted, ..StatementResult::default() })
}

/// The rows that a write touched so far.
#[derive(Default)]
struct WriteTally {
    rows: u64,
    inserted: u64,
    /// The values that each row is ordered by.
    keys: Vec<Vec<Found>>,
}

/// Returns the rank of each row in the order of their keys.
fn rank_rows(keys: &[Vec<Found>], order: &[SortDirection]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..keys.len()).collect();
    let compare = |one: &usize, other: &usize| {
        let pairs = keys[*one].iter().zip(&keys[*other]).zip(order);
        pairs.map(|((one, other), direction)| compare_values(one, other, *direction)).find(|by| by.is_ne())
    };
    positions.sort_by(|one, other| compare(one, other).unwrap_or(Ordering::Equal));
    let mut ranks = vec![0; positions.len()];
    for (rank, position) in positions.into_iter().enumerate() {
        ranks[position] = rank;
    }
    ranks
}

/// Compares two values of one expression as SQLite does.
fn compare_values(one: &Found, other: &Found, direction: SortDirection) -> Ordering {
    let by = match (one, other) {
        (Found::Null, Found::Null) => return Ordering::Equal,
        (Found::Null, _) if direction.nulls_first => return Ordering::Less,
        (Found::Null, _) => return Ordering::Greater,
        (_, Found::Null) => return compare_values(other, one, direction).reverse(),
        (Found::Integer(one), Found::Integer(other)) => one.cmp(other),
        (Found::Real(one), Found::Real(other)) => one.total_cmp(other),
        // SQLite may have whole numbers of a real column as integers.
        (Found::Real(one), Found::Integer(other)) => one.total_cmp(&(*other as f64)),
        (Found::Integer(one), Found::Real(other)) => (*one as f64).total_cmp(other),
        (Found::Text(one), Found::Text(other)) => one.cmp(other),
        (Found::Blob(one), Found::Blob(other)) => one.cmp(other),
        _ => Ordering::Equal,
    };
    if direction.descending { by.reverse() } else { by }
}

/// Runs the bound statement to its end and adds its rows to the tally.
fn run_bound_statement(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    writer: &mut RowWriter<'_>,
    mut touched: WriteTally,
) -> Result<WriteTally, StoreError> {
    let too_many = |touched| match write.max_rows {
        Some(limit) if touched > limit => Err(StoreError::TooManyRows { limit }),
        _ => Ok(()),
    };
    if write.output.is_empty() && !write.has_check_column && !write.has_inserted_column {
        touched.rows +=
            u64::try_from(statement.raw_execute().map_err(to_store_error)?).map_err(internal_error)?;
        too_many(touched.rows)?;
        return Ok(touched);
    }
    let mut found: Rows<'_> = statement.raw_query();
    while let Some(row) = found.next().map_err(to_store_error)? {
        touched.rows += 1;
        too_many(touched.rows)?;
        if write.has_check_column && !row.get::<_, bool>(write.output.len()).map_err(to_store_error)? {
            return Err(StoreError::CheckFailed);
        }
        if write.has_inserted_column {
            let at = write.output.len() + usize::from(write.has_check_column);
            touched.inserted += u64::from(row.get::<_, bool>(at).map_err(to_store_error)?);
        }
        if !write.order.is_empty() {
            let first = write.output.len()
                + usize::from(write.has_check_column)
                + usize::from(write.has_inserted_column);
            let keys = (first..first + write.order.len()).map(|at| row.get(at).map_err(to_store_error));
            touched.keys.push(keys.collect::<Result<_, _>>()?);
        }
        if !write.output.is_empty() {
            write_row(writer, row, 0, &write.output)?;
            if writer.is_full() {
                return Err(StoreError::ResultTooLarge { limit: write.max_bytes });
            }
        }
    }
    Ok(touched)
}

fn bind_values<'v>(
    statement: &mut CachedStatement<'_>,
    before: usize,
    values: impl Iterator<Item = &'v Value>,
) -> Result<(), StoreError> {
    for (index, value) in values.enumerate() {
        let at = before + index + 1;
        match value {
            Value::Null(_) => statement.raw_bind_parameter(at, Null),
            Value::Text(text) | Value::Json(text) => statement.raw_bind_parameter(at, text.as_str()),
            Value::Integer(value) => statement.raw_bind_parameter(at, value),
            Value::Real(value) => statement.raw_bind_parameter(at, value),
            Value::Boolean(value) => statement.raw_bind_parameter(at, value),
            Value::Timestamp(value) => statement.raw_bind_parameter(at, value.to_text()),
            Value::List(_, values) => statement.raw_bind_parameter(at, Value::list_json(values)),
        }
        .map_err(to_store_error)?;
    }
    Ok(())
}

/// Writes the columns of a row that start at `first`.
fn write_row(
    writer: &mut RowWriter<'_>,
    row: &Row<'_>,
    first: usize,
    output: &[OutputColumn],
) -> Result<(), StoreError> {
    for (at, column) in output.iter().enumerate() {
        if writer.is_full() {
            return Ok(());
        }
        let value = row.get_ref(first + at).map_err(to_store_error)?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(internal_error);
        match (column.kind, value) {
            (_, ValueRef::Null) => writer.null(),
            (ColumnType::Integer, ValueRef::Integer(value)) => writer.integer(value),
            (ColumnType::Boolean, ValueRef::Integer(value)) => writer.boolean(value != 0),
            (ColumnType::Real, ValueRef::Real(value)) => writer.real(value),
            // SQLite stores whole numbers of a real column as integers, and an expression in RETURNING has them as
            // such.
            (ColumnType::Real, ValueRef::Integer(value)) => writer.real(value as f64),
            (ColumnType::Text | ColumnType::Timestamp, ValueRef::Text(bytes)) => writer.text(text(bytes)?),
            (ColumnType::Json, ValueRef::Text(bytes)) => writer.canonical_json(text(bytes)?),
            _ => return Err(internal_error("a stored value has another type than its column")),
        }
    }
    writer.end_row();
    Ok(())
}

/// Converts an error of SQLite.
pub(super) fn to_store_error(error: rusqlite::Error) -> StoreError {
    match &error {
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::OperationInterrupted => StoreError::Timeout,
            ErrorCode::ConstraintViolation if failure.extended_code == SQLITE_CONSTRAINT_PRIMARYKEY => {
                StoreError::RowExists
            }
            ErrorCode::ConstraintViolation if failure.extended_code == SQLITE_CONSTRAINT_UNIQUE => {
                StoreError::UniqueViolation
            }
            // SQLite waited for the lock until its busy timeout.
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::WriteConflict(error.into()),
            ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen => unavailable_error(error),
            _ if message.as_deref().is_some_and(is_missing_object) => StoreError::Stale,
            _ if message.as_deref().is_some_and(is_data_exception) => StoreError::DataException,
            _ => internal_error(error),
        },
        rusqlite::Error::SqlInputError { msg, .. } if is_missing_object(msg) => StoreError::Stale,
        _ => internal_error(error),
    }
}

/// Returns true if a value did not fit a cast, or a sum its type.
fn is_data_exception(message: &str) -> bool {
    message == "integer overflow" || message == CannotCast.to_string()
}

/// Returns true if a statement named a table or column that a schema change has removed.
fn is_missing_object(message: &str) -> bool {
    message.contains("no such table")
        || message.contains("no such column")
        || message.contains("has no column")
}
