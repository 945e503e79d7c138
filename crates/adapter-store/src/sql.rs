//! SQL written by hand, for the few statements that sea-orm's builder does not say well. Both databases read it:
//! `$1`, `$2`, … are the values.

use std::collections::BTreeMap;

use kernel::{Id, StoreError, Timestamp};
use sea_orm::{ConnectionTrait, DbBackend, ExecResult, QueryResult, Statement, Value};
use uuid::Uuid;

use crate::{convert::millis, error::OrStoreError as _};

/// A statement under construction.
pub(crate) struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Vec::new() }
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
        self.text.push_str(&self.values.len().to_string());
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
    pub(crate) fn rows<T>(
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

    fn statement(self, backend: DbBackend) -> Statement {
        Statement::from_sql_and_values(backend, self.text, self.values)
    }

    pub(crate) async fn execute<C: ConnectionTrait>(self, db: &C) -> Result<ExecResult, StoreError> {
        db.execute_raw(self.statement(db.get_database_backend())).await.or_store_error()
    }

    pub(crate) async fn all<C: ConnectionTrait>(self, db: &C) -> Result<Vec<QueryResult>, StoreError> {
        db.query_all_raw(self.statement(db.get_database_backend())).await.or_store_error()
    }

    pub(crate) async fn one<C: ConnectionTrait>(self, db: &C) -> Result<Option<QueryResult>, StoreError> {
        db.query_one_raw(self.statement(db.get_database_backend())).await.or_store_error()
    }
}

/// Column `index` of a row.
pub(crate) fn column<T: sea_orm::TryGetable>(row: &QueryResult, index: usize) -> Result<T, StoreError> {
    row.try_get_by_index(index).or_store_error()
}

/// Cuts a slice into pieces of 64, 32, 16, 8, 4, 2 and 1, so that statements over many rows come in few shapes and
/// stay prepared.
pub(crate) fn in_few_shapes<T>(mut items: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = 1 << items.len().checked_ilog2()?.min(6);
        let (piece, rest) = items.split_at(size);
        items = rest;
        Some(piece)
    })
}

/// The last moment of each id, in the order of the ids: a statement that updates from a list takes any row of several
/// with one id, and two that lock rows in one order do not lock each other out.
pub(crate) fn latest<K>(uses: &[(Id<K>, Timestamp)]) -> Vec<(Uuid, i64)> {
    let mut latest = BTreeMap::new();
    for (id, at) in uses {
        let known = latest.entry(id.uuid()).or_insert(i64::MIN);
        *known = millis(*at).max(*known);
    }
    latest.into_iter().collect()
}

/// Locks rows against other writers where there is such a thing: SQLite's one writer needs none. Rows that point at
/// the locked ones can still be written.
pub(crate) fn for_update(backend: DbBackend) -> &'static str {
    if backend == DbBackend::Postgres { " FOR NO KEY UPDATE" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_few_sizes_and_leave_nothing_out() {
        let items: Vec<u32> = (0..151).collect();
        let sizes: Vec<_> = in_few_shapes(&items).map(<[u32]>::len).collect();
        assert_eq!(sizes, [64, 64, 16, 4, 2, 1]);
        assert_eq!(in_few_shapes(&items).flatten().copied().collect::<Vec<_>>(), items);
        assert_eq!(in_few_shapes::<u32>(&[]).count(), 0);
    }
}
