//! The condition of a read: the policy and the tests of the caller.

use super::{Params, Target, filter, policy::RowPolicy};
use crate::{
    error::Result,
    query::{Filter, OrderTerm},
};

/// The tests behind `WHERE`: the policy, and the tests of the caller on the rows that meet it.
#[derive(Clone)]
pub(super) struct WhereClause {
    /// The condition of the policy; `None` if the caller may read all rows.
    policy: Option<String>,
    /// The bounds at which a page begins. They come first: of several bounds of a column, SQLite uses the first one to
    /// seek in an index.
    page_start: Vec<String>,
    /// Tests that may be evaluated on any row, and so by an index: their time and outcome reveal nothing of a row that
    /// the caller may not read.
    leakproof: Vec<String>,
    /// Tests that are evaluated only on rows that meet the policy.
    policy_guarded: Vec<String>,
}

impl WhereClause {
    fn push(&mut self, text: String, is_open: bool) {
        let parts =
            if is_open || self.policy.is_none() { &mut self.leakproof } else { &mut self.policy_guarded };
        parts.push(text);
    }

    /// Adds a bound at which a page begins.
    pub(super) fn push_page_start(&mut self, text: String, is_open: bool) {
        let parts =
            if is_open || self.policy.is_none() { &mut self.page_start } else { &mut self.policy_guarded };
        parts.push(text);
    }

    /// Returns the clause with its `WHERE`, or nothing without tests.
    ///
    /// A database evaluates the members of an `AND` in the order that it estimates to be cheapest. A `CASE` keeps its
    /// order, so that no test of the caller is evaluated on a row that the policy hides.
    pub(super) fn to_sql(&self) -> String {
        let mut parts: Vec<String> =
            self.page_start.iter().chain(&self.policy).chain(&self.leakproof).cloned().collect();
        if let (Some(rule), false) = (&self.policy, self.policy_guarded.is_empty()) {
            parts.push(format!("CASE WHEN {rule} THEN {} ELSE FALSE END", self.policy_guarded.join(" AND ")));
        }
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}

/// Compiles the policy, the filters and the columns of the order to a `WHERE` clause.
pub(super) fn where_clause(
    target: &Target<'_>,
    policy: &RowPolicy<'_>,
    filters: &[Filter],
    order: &[OrderTerm],
    params: &mut Params,
) -> Result<WhereClause> {
    let mut used = Vec::new();
    filters.iter().for_each(|filter| filter::collect_columns(filter, &mut used));
    used.extend(order.iter().map(|term| term.path.column.as_str()));
    for column in &used {
        target.table.get_column(column)?;
    }
    let rule = policy.readable_rows(target.table, &used)?.to_sql(target, params)?;
    let mut condition = WhereClause {
        policy: rule,
        page_start: Vec::new(),
        leakproof: Vec::new(),
        policy_guarded: Vec::new(),
    };
    for filter in filters {
        let text = filter::filter_sql(target.table, filter, params)?;
        condition.push(text, filter::is_leakproof(target.table, filter));
    }
    Ok(condition)
}
