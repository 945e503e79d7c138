//! Statements on an open file: binding, stepping, writing rows as JSON.

use std::cmp::Ordering;

use backend_data::{
    Catalog, ColumnType, OutputColumn, RowWriter, StoreError, Value,
    functions::CannotCast,
    store::{Answer, Direction, Estimate, Format, Read, SchemaChange, Write},
};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, Row, Rows,
    ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    types::{Null, Value as Found, ValueRef},
};

use super::{internal, unavailable};

/// The size of a page: SQLite's own choice, which no file of ours changes.
const PAGE_BYTES: u64 = 4096;

pub(super) fn catalog(connection: &Connection) -> Result<Option<Catalog>, StoreError> {
    let found: Option<(i64, String)> = connection
        .query_row("SELECT \"version\", \"body\" FROM \"_catalog\"", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(failed)?;
    let Some((version, body)) = found else { return Ok(None) };
    let version = u64::try_from(version).map_err(internal)?;
    Catalog::from_json(version, &body).map(Some).map_err(internal)
}

/// Runs the statements of a change and puts the new catalog in place. The caller holds the transaction.
pub(super) fn change(connection: &Connection, change: &SchemaChange) -> Result<(), StoreError> {
    if let Some(table) = &change.only_if_empty {
        let empty = format!("SELECT NOT EXISTS (SELECT 1 FROM \"{table}\")");
        if !connection.query_row(&empty, [], |row| row.get::<_, bool>(0)).map_err(failed)? {
            return Err(StoreError::TableNotEmpty);
        }
    }
    for statement in &change.statements {
        connection.execute_batch(statement).map_err(failed)?;
    }
    let body = change.catalog.to_json().map_err(internal)?;
    let (to, from) = (signed(change.catalog.version)?, signed(change.from_version)?);
    let changed = connection
        .execute(
            "UPDATE \"_catalog\" SET \"version\" = ?1, \"body\" = ?2 WHERE \"version\" = ?3",
            (to, body, from),
        )
        .map_err(failed)?;
    if changed == 1 { Ok(()) } else { Err(StoreError::Stale) }
}

fn signed(version: u64) -> Result<i64, StoreError> {
    i64::try_from(version).map_err(internal)
}

/// Runs a read that counts nothing and whose answer is at most so large.
pub(super) fn small(connection: &Connection, read: &Read, limit: usize) -> Result<Answer, StoreError> {
    rows(connection, read, limit)
}

pub(super) fn read(connection: &Connection, read: &Read) -> Result<Answer, StoreError> {
    let Some(count) = &read.count else { return rows(connection, read, read.max_bytes) };
    // The rows and their count must be of the same moment.
    connection.execute_batch("BEGIN").map_err(failed)?;
    let answer = rows(connection, read, read.max_bytes).and_then(|answer| {
        let sql = match &count.estimate {
            Some(Estimate::Bounded(sql)) => sql,
            _ => &count.sql,
        };
        let mut statement = connection.prepare_cached(sql).map_err(failed)?;
        bind(&mut statement, 0, read.params.iter().take(count.params))?;
        let mut found = statement.raw_query();
        let row = found.next().map_err(failed)?.ok_or_else(|| internal("a count gave no row"))?;
        let total: i64 = row.get(0).map_err(failed)?;
        Ok(Answer { total: u64::try_from(total).ok(), ..answer })
    });
    let ended = connection.execute_batch("COMMIT").map_err(failed);
    let answer = answer?;
    ended?;
    Ok(answer)
}

fn rows(connection: &Connection, read: &Read, limit: usize) -> Result<Answer, StoreError> {
    let mut statement = connection.prepare_cached(&read.sql).map_err(failed)?;
    bind(&mut statement, 0, read.params.iter())?;
    let mut writer = RowWriter::new(&read.output, read.format).limited(limit);
    let mut keys = RowWriter::new(&read.keys, Format::Json);
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(failed)? {
        write_row(&mut writer, row, 0, &read.output)?;
        if !read.keys.is_empty() {
            keys.restart();
            write_row(&mut keys, row, read.output.len(), &read.keys)?;
        }
        if writer.is_full() {
            return Err(StoreError::AnswerTooLarge { limit });
        }
    }
    let keys = (keys.rows() > 0).then(|| keys.finish());
    Ok(Answer { rows: writer.rows(), body: writer.finish(), keys, ..Answer::default() })
}

/// Refuses what adds to a file whose rows take as many bytes as they may.
pub(super) fn has_room(connection: &Connection, limit: Option<u64>) -> Result<(), StoreError> {
    match limit {
        // Pages that are in use are no more than pages: most files are looked at once.
        Some(limit) if pages(connection, "PRAGMA page_count")? >= limit && stored(connection)? >= limit => {
            Err(StoreError::Full { limit })
        }
        _ => Ok(()),
    }
}

/// How many bytes the pages take that are in use.
pub(super) fn stored(connection: &Connection) -> Result<u64, StoreError> {
    let [all, free] = ["PRAGMA page_count", "PRAGMA freelist_count"].map(|sql| pages(connection, sql));
    Ok(all?.saturating_sub(free?))
}

/// A number of pages in bytes. SQLite keeps it in memory and counts nothing.
fn pages(connection: &Connection, sql: &str) -> Result<u64, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let pages: i64 = statement.query_row([], |row| row.get(0)).map_err(failed)?;
    Ok(u64::try_from(pages).map_err(internal)?.saturating_mul(PAGE_BYTES))
}

/// Runs a write. The caller holds the transaction or savepoint and undoes it when this fails.
pub(super) fn write(connection: &Connection, write: &Write) -> Result<Answer, StoreError> {
    let mut statement = connection.prepare_cached(&write.sql).map_err(failed)?;
    let sorted = !write.order.is_empty();
    let writer = if sorted { RowWriter::sortable } else { RowWriter::new };
    let mut writer = writer(&write.output, write.format).limited(write.max_bytes);
    let mut touched = Touched::default();
    match &write.rows {
        None => {
            bind(&mut statement, 0, write.params.iter())?;
            touched = step(&mut statement, write, &mut writer, touched)?;
        }
        Some(rows) => {
            for row in rows {
                bind(&mut statement, 0, row.iter())?;
                bind(&mut statement, row.len(), write.params.iter())?;
                let before = touched.rows;
                touched = step(&mut statement, write, &mut writer, touched)?;
                if write.every_row && touched.rows == before {
                    return Err(StoreError::CheckFailed);
                }
            }
        }
    }
    let Touched { rows, inserted, keys } = touched;
    if write.exactly_one && rows != 1 {
        return Err(StoreError::WrongRowCount { rows });
    }
    let body =
        if write.output.is_empty() { Vec::new() } else { writer.finish_sorted(&ranks(&keys, &write.order)) };
    let inserted = write.tells_inserted.then_some(inserted);
    Ok(Answer { body, rows, inserted, ..Answer::default() })
}

/// How many rows a write touched.
#[derive(Default)]
struct Touched {
    rows: u64,
    inserted: u64,
    /// What each is ordered by.
    keys: Vec<Vec<Found>>,
}

/// The place of each row in the order of their keys.
fn ranks(keys: &[Vec<Found>], order: &[Direction]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    let compare = |one: &usize, other: &usize| {
        let pairs = keys[*one].iter().zip(&keys[*other]).zip(order);
        pairs.map(|((one, other), direction)| compared(one, other, *direction)).find(|by| by.is_ne())
    };
    places.sort_by(|one, other| compare(one, other).unwrap_or(Ordering::Equal));
    let mut ranks = vec![0; places.len()];
    for (rank, place) in places.into_iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

/// Values of one expression as SQLite compares them.
fn compared(one: &Found, other: &Found, direction: Direction) -> Ordering {
    let by = match (one, other) {
        (Found::Null, Found::Null) => return Ordering::Equal,
        (Found::Null, _) if direction.nulls_first => return Ordering::Less,
        (Found::Null, _) => return Ordering::Greater,
        (_, Found::Null) => return compared(other, one, direction).reverse(),
        (Found::Integer(one), Found::Integer(other)) => one.cmp(other),
        (Found::Real(one), Found::Real(other)) => one.total_cmp(other),
        // Whole numbers of a column of reals.
        (Found::Real(one), Found::Integer(other)) => one.total_cmp(&(*other as f64)),
        (Found::Integer(one), Found::Real(other)) => (*one as f64).total_cmp(other),
        (Found::Text(one), Found::Text(other)) => one.cmp(other),
        (Found::Blob(one), Found::Blob(other)) => one.cmp(other),
        _ => Ordering::Equal,
    };
    if direction.descending { by.reverse() } else { by }
}

/// Runs the bound statement to its end and keeps count.
fn step(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    writer: &mut RowWriter<'_>,
    mut touched: Touched,
) -> Result<Touched, StoreError> {
    let too_many = |touched| match write.max_rows {
        Some(limit) if touched > limit => Err(StoreError::TooManyRows { limit }),
        _ => Ok(()),
    };
    if write.output.is_empty() && !write.checked && !write.tells_inserted {
        touched.rows += u64::try_from(statement.raw_execute().map_err(failed)?).map_err(internal)?;
        too_many(touched.rows)?;
        return Ok(touched);
    }
    let mut found: Rows<'_> = statement.raw_query();
    while let Some(row) = found.next().map_err(failed)? {
        touched.rows += 1;
        too_many(touched.rows)?;
        if write.checked && !row.get::<_, bool>(write.output.len()).map_err(failed)? {
            return Err(StoreError::CheckFailed);
        }
        if write.tells_inserted {
            let at = write.output.len() + usize::from(write.checked);
            touched.inserted += u64::from(row.get::<_, bool>(at).map_err(failed)?);
        }
        if !write.order.is_empty() {
            let first = write.output.len() + usize::from(write.checked) + usize::from(write.tells_inserted);
            let keys = (first..first + write.order.len()).map(|at| row.get(at).map_err(failed));
            touched.keys.push(keys.collect::<Result<_, _>>()?);
        }
        if !write.output.is_empty() {
            write_row(writer, row, 0, &write.output)?;
            if writer.is_full() {
                return Err(StoreError::AnswerTooLarge { limit: write.max_bytes });
            }
        }
    }
    Ok(touched)
}

fn bind<'v>(
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
        .map_err(failed)?;
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
        let value = row.get_ref(first + at).map_err(failed)?;
        let text = |bytes| std::str::from_utf8(bytes).map_err(internal);
        match (column.kind, value) {
            (_, ValueRef::Null) => writer.null(),
            (ColumnType::Integer, ValueRef::Integer(value)) => writer.integer(value),
            (ColumnType::Boolean, ValueRef::Integer(value)) => writer.boolean(value != 0),
            (ColumnType::Real, ValueRef::Real(value)) => writer.real(value),
            // Whole numbers are kept as integers, and inside an expression RETURNING shows them so.
            (ColumnType::Real, ValueRef::Integer(value)) => writer.real(value as f64),
            (ColumnType::Text | ColumnType::Timestamp, ValueRef::Text(bytes)) => writer.text(text(bytes)?),
            (ColumnType::Json, ValueRef::Text(bytes)) => writer.canonical_json(text(bytes)?),
            _ => return Err(internal("a stored value has another type than its column")),
        }
    }
    writer.end_row();
    Ok(())
}

/// What an error of SQLite means to a caller.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match &error {
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::OperationInterrupted => StoreError::Timeout,
            ErrorCode::ConstraintViolation if failure.extended_code == SQLITE_CONSTRAINT_PRIMARYKEY => {
                StoreError::RowExists
            }
            ErrorCode::ConstraintViolation if failure.extended_code == SQLITE_CONSTRAINT_UNIQUE => {
                StoreError::ValueExists
            }
            // SQLite waited for the lock as long as a statement may take.
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Contended(error.into()),
            ErrorCode::DiskFull
            | ErrorCode::OutOfMemory
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen => unavailable(error),
            _ if message.as_deref().is_some_and(names_nothing) => StoreError::Stale,
            _ if message.as_deref().is_some_and(misfit) => StoreError::Misfit,
            _ => internal(error),
        },
        rusqlite::Error::SqlInputError { msg, .. } if names_nothing(msg) => StoreError::Stale,
        _ => internal(error),
    }
}

/// Whether a value did not fit a cast, or a sum its type.
fn misfit(message: &str) -> bool {
    message == "integer overflow" || message == CannotCast.to_string()
}

/// Whether a statement named what a schema change has taken away.
fn names_nothing(message: &str) -> bool {
    message.contains("no such table")
        || message.contains("no such column")
        || message.contains("has no column")
}
