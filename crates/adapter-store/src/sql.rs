//! SQL as text, for the queue and the group commit: their connection to SQLite is not one of sea-orm's. Both databases
//! read it: `$1`, `$2`, … are the values.

mod bulk;

use std::collections::BTreeSet;

use kernel::StoreError;
use rusqlite::types::FromSql;
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement, TryGetable, Value, sea_query::ArrayType};
use uuid::Uuid;

pub(crate) use bulk::{Fields, insert_rows};

use crate::error::OrStoreError as _;

/// Rows of one statement that is sent to a database; at most.
const MAX_ROWS: usize = 64;

/// A connection that statements run on: one of the pools', or the group commit's own.
pub(crate) trait SqlExecutor {
    /// The SQL dialect.
    fn backend(&self) -> DbBackend;

    /// `true` when a statement costs no more than its rows, so that one row at a time is best. Elsewhere a statement costs a
    /// round trip.
    fn prefers_single_rows(&self) -> bool {
        false
    }

    /// `true` when many rows are bound as one array for each column, so that a statement has one shape whatever their number.
    fn takes_arrays(&self) -> bool {
        false
    }

    /// Runs a statement; returns the number of rows it changed.
    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError>;

    /// Runs a statement; returns its rows.
    async fn fetch_all(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError>;

    /// Runs a statement for each row of values; returns for each whether it changed anything.
    async fn execute_many(&self, text: String, rows: &[Fields<'_>]) -> Result<Vec<bool>, StoreError> {
        let mut changed = Vec::with_capacity(rows.len());
        for fields in rows {
            let values = fields.iter().map(Value::from).collect();
            changed.push(self.execute(text.clone(), values).await? > 0);
        }
        Ok(changed)
    }
}

impl<C: ConnectionTrait> SqlExecutor for C {
    fn backend(&self) -> DbBackend {
        self.get_database_backend()
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let statement = Statement::from_sql_and_values(self.backend(), text, values);
        Ok(self.execute_raw(statement).await.or_store_error()?.rows_affected())
    }

    async fn fetch_all(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let statement = Statement::from_sql_and_values(self.backend(), text, values);
        let rows = self.query_all_raw(statement).await.or_store_error()?;
        Ok(rows.into_iter().map(SqlRow::Pooled).collect())
    }
}

/// A row of a result. Its values are read by position.
pub(crate) enum SqlRow {
    /// Found by a connection of the pools.
    Pooled(QueryResult),
    /// Found by the group commit's own connection.
    Sqlite(Vec<rusqlite::types::Value>),
}

/// A statement under construction.
pub(crate) struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    pub(crate) fn new(text: &str) -> Self {
        // Room for what nearly every statement comes to.
        let mut sql = Self { text: String::with_capacity(512), values: Vec::with_capacity(16) };
        sql.push(text);
        sql
    }

    /// Adds text that stands in this program; never anything from outside.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a value.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        self.text.push('$');
        push_number(&mut self.text, self.values.len());
        self
    }

    /// Adds `count` placeholders, whose values are bound later.
    fn push_placeholders(&mut self, count: usize) -> &mut Self {
        for number in 1..=count {
            self.push(if number > 1 { ", $" } else { "$" });
            push_number(&mut self.text, number);
        }
        self
    }

    /// Adds values, separated by commas.
    pub(crate) fn bind_all<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.bind(value);
        }
        self
    }

    /// Adds one parenthesised row of values for each item, separated by commas.
    pub(crate) fn push_values<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut row: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        for (index, item) in items.into_iter().enumerate() {
            self.push(if index > 0 { ", (" } else { "(" });
            row(self, item);
            self.push(")");
        }
        self
    }

    /// Adds a comparison with any of these ids, after a column.
    pub(crate) fn push_any<D: SqlExecutor>(
        &mut self,
        db: &D,
        ids: impl IntoIterator<Item = Uuid>,
    ) -> &mut Self {
        if db.takes_arrays() {
            let ids = ids.into_iter().map(Value::from).collect();
            return self.push(" = ANY(").bind(Value::Array(ArrayType::Uuid, Some(Box::new(ids)))).push(")");
        }
        self.push(" IN (").bind_all(ids).push(")")
    }

    /// Runs the statement; returns the number of rows it changed.
    pub(crate) async fn execute<D: SqlExecutor>(self, db: &D) -> Result<u64, StoreError> {
        db.execute(self.text, self.values).await
    }

    /// Runs a statement over `rows`; returns the keys of those that it changed, read by `key` from the columns
    /// `returning`.
    pub(crate) async fn execute_returning_keys<D: SqlExecutor, T, K: Ord>(
        mut self,
        db: &D,
        rows: &[T],
        (returning, key): (&str, impl Fn(&SqlRow) -> Result<K, StoreError>),
        key_of: impl Fn(&T) -> K,
    ) -> Result<BTreeSet<K>, StoreError> {
        // For one row the count is enough: `RETURNING` costs SQLite a temporary table for each statement.
        if let [row] = rows {
            let changed = self.execute(db).await? > 0;
            return Ok(changed.then(|| key_of(row)).into_iter().collect());
        }
        self.push(" RETURNING ").push(returning);
        self.fetch_all(db).await?.iter().map(key).collect()
    }

    pub(crate) async fn fetch_all<D: SqlExecutor>(self, db: &D) -> Result<Vec<SqlRow>, StoreError> {
        db.fetch_all(self.text, self.values).await
    }

    pub(crate) async fn fetch_optional<D: SqlExecutor>(self, db: &D) -> Result<Option<SqlRow>, StoreError> {
        Ok(self.fetch_all(db).await?.into_iter().next())
    }
}

/// Appends a number. Avoids `format!`, since this runs for every bound value.
fn push_number(text: &mut String, number: usize) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Returns column `index` of a row.
pub(crate) fn column<T: TryGetable + FromSql>(row: &SqlRow, index: usize) -> Result<T, StoreError> {
    match row {
        SqlRow::Pooled(row) => row.try_get_by_index(index).or_store_error(),
        SqlRow::Sqlite(values) => {
            let value = values.get(index).unwrap_or(&rusqlite::types::Value::Null);
            T::column_result(value.into()).map_err(|error| StoreError::Failed(error.into()))
        }
    }
}

/// Cuts a slice into chunks of 64, 32, 16, 8, 4, 2 and 1, so that statements over many rows come in few shapes and
/// stay prepared.
pub(crate) fn statement_chunks<T>(items: &[T]) -> impl Iterator<Item = &[T]> {
    power_of_two_chunks(MAX_ROWS, items)
}

/// Cuts a slice as [`statement_chunks`] does, into chunks of at most as many rows as `db` takes at once.
pub(crate) fn statement_chunks_for<'i, D: SqlExecutor, T>(
    db: &D,
    items: &'i [T],
) -> impl Iterator<Item = &'i [T]> + use<'i, D, T> {
    power_of_two_chunks(if db.prefers_single_rows() { 1 } else { MAX_ROWS }, items)
}

/// Cuts a slice as [`statement_chunks_for`] does, for statements that bind their rows with [`Sql::push_rows`] or
/// [`Sql::push_any`]: where these are arrays, all of them.
pub(crate) fn array_chunks_for<'i, D: SqlExecutor, T>(
    db: &D,
    items: &'i [T],
) -> impl Iterator<Item = &'i [T]> + use<'i, D, T> {
    let all = db.takes_arrays().then_some(items).filter(|items| !items.is_empty());
    let chunked = if all.is_some() { &items[..0] } else { items };
    all.into_iter().chain(statement_chunks_for(db, chunked))
}

/// Cuts a slice into powers of two, `max_len` being the largest of them.
fn power_of_two_chunks<T>(max_len: usize, mut items: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = (1 << items.len().checked_ilog2()?).min(max_len);
        let (chunk, rest) = items.split_at(size);
        items = rest;
        Some(chunk)
    })
}

/// Repeats the last value until their number is a power of two, for a list of which the order and repetitions do not matter: so
/// statements come in few shapes and stay prepared.
pub(crate) fn pad_to_power_of_two<T: Clone>(mut values: Vec<T>) -> Vec<T> {
    if let Some(last) = values.last().cloned() {
        values.resize(values.len().next_power_of_two(), last);
    }
    values
}

/// Returns the clause that locks rows against other writers, which SQLite's one writer does not need. Rows that point
/// at the locked ones can still be written.
pub(crate) fn for_update(backend: DbBackend) -> &'static str {
    if backend == DbBackend::Postgres { " FOR NO KEY UPDATE" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_in_few_lengths() {
        assert!(pad_to_power_of_two(Vec::<u8>::new()).is_empty());
        assert_eq!(pad_to_power_of_two(vec![1]), [1]);
        assert_eq!(pad_to_power_of_two(vec![1, 2, 3, 4, 5]), [1, 2, 3, 4, 5, 5, 5, 5]);
    }

    #[test]
    fn values_are_numbered() {
        let mut sql = Sql::new("");
        sql.bind_all(1..=101_i64);
        let numbers: Vec<_> = sql.text.split(", ").collect();
        assert_eq!((numbers[0], numbers[8], numbers[9], numbers[100]), ("$1", "$9", "$10", "$101"));
    }

    #[test]
    fn pieces_come_in_few_sizes_and_leave_nothing_out() {
        let items: Vec<u32> = (0..151).collect();
        let sizes: Vec<_> = statement_chunks(&items).map(<[u32]>::len).collect();
        assert_eq!(sizes, [64, 64, 16, 4, 2, 1]);
        assert_eq!(statement_chunks(&items).flatten().copied().collect::<Vec<_>>(), items);
        assert_eq!(statement_chunks::<u32>(&[]).count(), 0);
    }
}
