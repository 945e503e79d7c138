//! The order in which a statement that writes many rows locks them.

use std::{cmp::Ordering, collections::HashMap};

use backend_data::{Value, store::Write};

/// Rows in the order of their ids, or of the values by which existing rows are found: two statements that lock the same
/// rows in one order cannot deadlock.
#[derive(Default)]
pub(super) struct LockOrderedRows<'w> {
    pub(super) rows: Vec<&'w Vec<Value>>,
    /// The position of each row as it was sent, by its id; empty if they were sent in this order.
    pub(super) ranks: HashMap<&'w str, usize>,
    /// The same by position, for a statement that returns its rows in this order, with ids that need not be those sent.
    pub(super) positions: Vec<usize>,
}

impl<'w> LockOrderedRows<'w> {
    pub(super) fn new(rows: &'w [Vec<Value>], write: &Write) -> Self {
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
    pub(super) fn is_reordered(&self) -> bool {
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
