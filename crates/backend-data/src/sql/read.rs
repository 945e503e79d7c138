//! Statements that show rows.

use std::collections::HashSet;

use super::{
    Params, Target,
    expr::{self, Expr},
    filter, paging,
    policy::RowPolicy,
    select::{GroupColumn, SelectList, is_aggregated, reject_aggregates, select_list},
};
use crate::{
    catalog::Column,
    error::{Error, Quoted, Result},
    query::{Count, Filter, OrderTerm, Path, Query, SelectItem},
    store::{CountEstimate, CountStatement, Dialect, Format, Read, SortDirection},
    value::Value,
};

/// The rows that meet a query. `limit` has been brought within bounds.
pub(crate) fn list(
    target: &Target<'_>,
    query: &Query,
    limit: u64,
    count: Option<Count>,
    format: Format,
) -> Result<Read> {
    let policy = RowPolicy::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    if query.select.iter().any(|item| is_bare_count(target, item)) {
        let mut query = query.clone();
        for item in query.select.iter_mut().filter(|item| is_bare_count(target, item)) {
            if let SelectItem::Field { alias, cast, .. } = item {
                *item = SelectItem::Count { alias: alias.take(), cast: cast.take() };
            }
        }
        return list_groups(target, &policy, &query, limit, count, format);
    }
    if is_aggregated(&query.select) {
        return list_groups(target, &policy, query, limit, count, format);
    }
    let terms = stable_order(query);
    // Only in a walk with cursors is the id a value that the caller learns.
    let asked = if query.cursor.is_some() { &terms } else { &query.order };
    let condition = where_clause(target, &policy, &query.filter, asked, &mut params)?;
    let counted = params.values.len();
    let from = target.qualified_table();
    let count = count.map(|count| CountStatement {
        sql: format!("SELECT count(*) FROM {from}{}", condition.to_sql()),
        params: counted,
        // Statistics and places are of every row: who sees some of them is given a number of those.
        estimate: if policy.is_unrestricted() {
            count_estimate(target, count, &condition.to_sql())
        } else {
            None
        },
    });
    let SelectList { columns, output, .. } = select_list(target, &policy, &query.select, &mut params)?;
    let (mut sql, mut keys) = (String::new(), Vec::new());
    if let Some(cursor) = &query.cursor {
        let source =
            paging::PageSource { target, condition, from: &from, columns, column_count: output.len() };
        (sql, keys) = paging::page_sql(source, &terms, cursor, limit, &mut params)?;
    } else {
        let order = order_by(target, &terms, &mut params)?;
        sql.push_str(&format!("SELECT {columns} FROM {from}{} ORDER BY {order}", condition.to_sql()));
        push_limit(&mut sql, limit, query.offset, &mut params);
    }
    Ok(Read {
        id_placeholder: None,
        is_plain: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        cursor_keys: keys,
        count,
        format,
        max_bytes: target.max_bytes,
    })
}

/// Up to how many rows an estimate is exact.
const EXACT_COUNT_LIMIT: u64 = 10_000;

/// How the number of rows that meet a condition is estimated.
fn count_estimate(target: &Target<'_>, count: Count, condition: &str) -> Option<CountEstimate> {
    let from = target.qualified_table();
    match (count, target.dialect) {
        (Count::Exact, _) => None,
        // Rows are counted in the order in which they lie until there are enough; the others lie as densely. No column
        // begins with an underscore.
        (_, Dialect::Sqlite) => Some(CountEstimate::Bounded(format!(
            "SELECT CASE WHEN n <= {EXACT_COUNT_LIMIT} THEN n \
             ELSE max(n, CAST(1.0 * n * (SELECT max(_rowid_) FROM {from}) / max(1, last) AS INTEGER)) END \
             FROM (SELECT count(*) AS n, max(place) AS last \
             FROM (SELECT _rowid_ AS place FROM {from}{condition} LIMIT {}))",
            EXACT_COUNT_LIMIT + 1
        ))),
        (_, Dialect::Postgres) => Some(CountEstimate::Planned {
            sql: format!("SELECT 1 FROM {from}{condition}"),
            exact_up_to: if count == Count::Estimated { EXACT_COUNT_LIMIT } else { 0 },
        }),
    }
}

pub(super) fn push_limit(sql: &mut String, limit: u64, offset: u64, params: &mut Params) {
    let limit = params.bind(integer_value(limit));
    sql.push_str(&format!(" LIMIT {limit}"));
    if offset > 0 {
        let offset = params.bind(integer_value(offset));
        sql.push_str(&format!(" OFFSET {offset}"));
    }
}

/// Rows put together: what is selected beside aggregates is what they are grouped by.
fn list_groups(
    target: &Target<'_>,
    policy: &RowPolicy<'_>,
    query: &Query,
    limit: u64,
    count: Option<Count>,
    format: Format,
) -> Result<Read> {
    if query.cursor.is_some() {
        return Err(Error::invalid_request("`cursor` walks over rows; groups have `limit` and `offset`"));
    }
    let mut params = Params::new(target.dialect, 0);
    let condition = where_clause(target, policy, &query.filter, &[], &mut params)?.to_sql();
    let SelectList { columns, output, groups } = select_list(target, policy, &query.select, &mut params)?;
    let ordinals: Vec<String> = groups.iter().map(|group| (group.position + 1).to_string()).collect();
    let by = if ordinals.is_empty() { String::new() } else { format!(" GROUP BY {}", ordinals.join(", ")) };
    let grouped = format!("SELECT {columns} FROM {}{condition}{by}", target.qualified_table());
    let counted = params.values.len();
    let mut parts = Vec::new();
    let mut push = |group: &GroupColumn, descending: bool, nulls_first: bool| {
        let expr = Expr { text: format!("\"c{}\"", group.position), column: group.column.clone() };
        parts.extend(directed_terms(&expr, target.dialect, descending, nulls_first));
    };
    for term in &query.order {
        let group = groups.iter().find(|group| group.path == term.path).ok_or_else(|| {
            let name = term.path.to_string();
            Error::invalid_request(format!(
                "groups are ordered by what they are grouped by, not {}",
                Quoted(&name)
            ))
        })?;
        push(group, term.descending, term.nulls_first);
    }
    // Groups that tie must not move between two pages.
    groups.iter().for_each(|group| push(group, false, false));
    let mut sql = format!("SELECT * FROM ({grouped}) AS g");
    if !parts.is_empty() {
        sql.push_str(&format!(" ORDER BY {}", parts.join(", ")));
    }
    push_limit(&mut sql, limit, query.offset, &mut params);
    Ok(Read {
        id_placeholder: None,
        is_plain: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        cursor_keys: Vec::new(),
        count: count.map(|_| CountStatement {
            sql: format!("SELECT count(*) FROM ({grouped}) AS g"),
            params: counted,
            estimate: None,
        }),
        format,
        max_bytes: target.max_bytes,
    })
}

/// The row with an id.
pub(crate) fn by_id(target: &Target<'_>, id: &str, select: &[SelectItem], format: Format) -> Result<Read> {
    reject_aggregates(select)?;
    let policy = RowPolicy::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    let id = params.bind(Value::Text(id.to_owned()));
    // The id is the address, not a filter: a rule need not show it.
    let visible = policy.readable_rows(target.table, &[])?.to_sql(target, &mut params)?;
    let SelectList { columns, output, .. } = select_list(target, &policy, select, &mut params)?;
    let mut sql = format!("SELECT {columns} FROM {} WHERE \"id\" = ", target.qualified_table());
    let id_placeholder = sql.len()..sql.len() + id.len();
    sql.push_str(&id);
    if let Some(visible) = visible {
        sql.push_str(" AND ");
        sql.push_str(&visible);
    }
    Ok(Read {
        id_placeholder: Some(id_placeholder),
        is_plain: is_plain(select),
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        cursor_keys: Vec::new(),
        count: None,
        format,
        max_bytes: target.max_bytes,
    })
}

/// Whether an item is the word `count`, an older way to say `count()`, and no column.
fn is_bare_count(target: &Target<'_>, item: &SelectItem) -> bool {
    match item {
        SelectItem::Field { path, input_cast: None, aggregate: None, .. } => {
            path.column == "count" && path.steps.is_empty() && target.table.column("count").is_none()
        }
        _ => false,
    }
}

/// Whether whole columns are shown, each once.
fn is_plain(select: &[SelectItem]) -> bool {
    let mut columns = HashSet::new();
    select.iter().all(|item| match item {
        SelectItem::All => select.len() == 1,
        SelectItem::Field { path, input_cast: None, cast: None, aggregate: None, .. } => {
            path.steps.is_empty() && columns.insert(&path.column)
        }
        SelectItem::Field { .. } | SelectItem::Count { .. } => false,
    })
}

/// What stands behind `WHERE`: the rules' condition, and what the caller asks of the rows that meet it.
#[derive(Clone)]
pub(super) struct WhereClause {
    /// The rows that the caller may ask about; nothing where it may ask about all.
    policy: Option<String>,
    /// Where a page begins. It comes first: of several bounds of a column SQLite takes the first to begin an index at.
    page_start: Vec<String>,
    /// What may be asked of any row: tests whose time and outcome tell nothing of a row that is not shown, and which an
    /// index may serve.
    leakproof: Vec<String>,
    /// What is asked only of rows that meet the rule.
    policy_guarded: Vec<String>,
}

impl WhereClause {
    fn push(&mut self, text: String, is_open: bool) {
        let parts =
            if is_open || self.policy.is_none() { &mut self.leakproof } else { &mut self.policy_guarded };
        parts.push(text);
    }

    /// Adds a test that says where a page begins.
    pub(super) fn push_page_start(&mut self, text: String, is_open: bool) {
        let parts =
            if is_open || self.policy.is_none() { &mut self.page_start } else { &mut self.policy_guarded };
        parts.push(text);
    }

    /// The tests, with the word that comes before them.
    ///
    /// A database evaluates the members of an `AND` in the order that seems cheapest to it. A `CASE` keeps its order, so
    /// that nothing the caller wrote is evaluated on a row that the rules hide.
    pub(super) fn to_sql(&self) -> String {
        let mut parts: Vec<String> =
            self.page_start.iter().chain(&self.policy).chain(&self.leakproof).cloned().collect();
        if let (Some(rule), false) = (&self.policy, self.policy_guarded.is_empty()) {
            parts.push(format!("CASE WHEN {rule} THEN {} ELSE FALSE END", self.policy_guarded.join(" AND ")));
        }
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}

/// The condition of what a caller sees and asks for.
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

/// The order that is asked for, and the id after it: rows that tie must not move between two pages. It goes the way of
/// the last column, so that an index serves the whole order.
pub(crate) fn stable_order(query: &Query) -> Vec<OrderTerm> {
    with_id_tiebreaker(&query.order)
}

fn with_id_tiebreaker(order: &[OrderTerm]) -> Vec<OrderTerm> {
    let mut terms = order.to_vec();
    if !terms.iter().any(|term| term.path.column == "id") {
        let descending = terms.last().is_some_and(|term| term.descending);
        terms.push(OrderTerm { path: Path::column("id"), descending, nulls_first: false });
    }
    terms
}

pub(super) fn order_by(target: &Target<'_>, terms: &[OrderTerm], params: &mut Params) -> Result<String> {
    let parts: Vec<Expr> =
        terms.iter().map(|term| expr::path_expr(target.table, &term.path, params)).collect::<Result<_>>()?;
    let parts: Vec<String> = parts
        .iter()
        .zip(terms)
        .flat_map(|(expr, term)| directed_terms(expr, target.dialect, term.descending, term.nulls_first))
        .collect();
    Ok(parts.join(", "))
}

/// What rows are ordered by.
pub(super) struct OrderKey {
    pub(super) text: String,
    pub(super) direction: SortDirection,
}

/// What rows that a change shows are ordered by, and their id after it. `text` is what stands for a column.
pub(super) fn order_keys(
    target: &Target<'_>,
    order: &[OrderTerm],
    text: &dyn Fn(&Column, &mut Params) -> Result<String>,
    params: &mut Params,
) -> Result<Vec<OrderKey>> {
    let mut keys = Vec::new();
    for term in with_id_tiebreaker(order) {
        let direction = SortDirection { descending: term.descending, nulls_first: term.nulls_first };
        let column = target.table.get_column(&term.path.column)?;
        let expr = expr::path_expr_on(column, text(column, params)?, &term.path, params)?;
        keys.extend(expr.order_terms(target.dialect).into_iter().map(|text| OrderKey { text, direction }));
    }
    Ok(keys)
}

pub(super) fn directed_terms(
    expr: &Expr,
    dialect: Dialect,
    descending: bool,
    nulls_first: bool,
) -> Vec<String> {
    let direction = if descending { "DESC" } else { "ASC" };
    // Said always: the databases disagree on where nulls go.
    let nulls = match (expr.column.nullable, nulls_first) {
        (false, _) => "",
        (true, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
    };
    expr.order_terms(dialect).into_iter().map(|text| format!("{text} {direction}{nulls}")).collect()
}

pub(super) fn integer_value(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
