//! Statements that show rows.

use std::collections::HashSet;

use super::{
    Params, Target,
    expr::{self, Expr},
    filter, paging,
    policy::Sight,
    select::{Group, Shown, is_aggregated, no_aggregates, shown},
};
use crate::{
    catalog::Column,
    error::{Error, Quoted, Result},
    query::{Count, Filter, OrderTerm, Path, Query, SelectItem},
    store::{CountRows, Dialect, Direction, Estimate, Format, Read},
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
    let sight = Sight::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    if query.select.iter().any(|item| counts(target, item)) {
        let mut query = query.clone();
        for item in query.select.iter_mut().filter(|item| counts(target, item)) {
            if let SelectItem::Field { alias, cast, .. } = item {
                *item = SelectItem::Count { alias: alias.take(), cast: cast.take() };
            }
        }
        return groups(target, &sight, &query, limit, count, format);
    }
    if is_aggregated(&query.select) {
        return groups(target, &sight, query, limit, count, format);
    }
    let terms = walk(query);
    // Only in a walk with cursors is the id a value that the caller learns.
    let asked = if query.cursor.is_some() { &terms } else { &query.order };
    let condition = matching(target, &sight, &query.filter, asked, &mut params)?;
    let counted = params.values.len();
    let from = target.from();
    let count = count.map(|count| CountRows {
        sql: format!("SELECT count(*) FROM {from}{}", condition.sql()),
        params: counted,
        // Statistics and places are of every row: who sees some of them is given a number of those.
        estimate: if sight.is_whole() { estimate(target, count, &condition.sql()) } else { None },
    });
    let Shown { columns, output, .. } = shown(target, &sight, &query.select, &mut params)?;
    let (mut sql, mut keys) = (String::new(), Vec::new());
    if let Some(cursor) = &query.cursor {
        let source = paging::Source { target, condition, from: &from, columns, shown: output.len() };
        (sql, keys) = paging::sql(source, &terms, cursor, limit, &mut params)?;
    } else {
        let order = order(target, &terms, &mut params)?;
        sql.push_str(&format!("SELECT {columns} FROM {from}{} ORDER BY {order}", condition.sql()));
        page(&mut sql, limit, query.offset, &mut params);
    }
    Ok(Read {
        point: None,
        plain: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        keys,
        count,
        format,
        max_bytes: target.max_bytes,
    })
}

/// Up to how many rows an estimate is exact.
const COUNTED: u64 = 10_000;

/// How the number of rows that meet a condition is estimated.
fn estimate(target: &Target<'_>, count: Count, condition: &str) -> Option<Estimate> {
    let from = target.from();
    match (count, target.dialect) {
        (Count::Exact, _) => None,
        // Rows are counted in the order in which they lie until there are enough; the others lie as densely. No column
        // begins with an underscore.
        (_, Dialect::Sqlite) => Some(Estimate::Bounded(format!(
            "SELECT CASE WHEN n <= {COUNTED} THEN n \
             ELSE max(n, CAST(1.0 * n * (SELECT max(_rowid_) FROM {from}) / max(1, last) AS INTEGER)) END \
             FROM (SELECT count(*) AS n, max(place) AS last \
             FROM (SELECT _rowid_ AS place FROM {from}{condition} LIMIT {}))",
            COUNTED + 1
        ))),
        (_, Dialect::Postgres) => Some(Estimate::Planned {
            sql: format!("SELECT 1 FROM {from}{condition}"),
            counted: if count == Count::Estimated { COUNTED } else { 0 },
        }),
    }
}

pub(super) fn page(sql: &mut String, limit: u64, offset: u64, params: &mut Params) {
    let limit = params.bind(integer(limit));
    sql.push_str(&format!(" LIMIT {limit}"));
    if offset > 0 {
        let offset = params.bind(integer(offset));
        sql.push_str(&format!(" OFFSET {offset}"));
    }
}

/// Rows put together: what is selected beside aggregates is what they are grouped by.
fn groups(
    target: &Target<'_>,
    sight: &Sight<'_>,
    query: &Query,
    limit: u64,
    count: Option<Count>,
    format: Format,
) -> Result<Read> {
    if query.cursor.is_some() {
        return Err(Error::invalid("`cursor` walks over rows; groups have `limit` and `offset`"));
    }
    let mut params = Params::new(target.dialect, 0);
    let condition = matching(target, sight, &query.filter, &[], &mut params)?.sql();
    let Shown { columns, output, groups } = shown(target, sight, &query.select, &mut params)?;
    let places: Vec<String> = groups.iter().map(|group| (group.at + 1).to_string()).collect();
    let by = if places.is_empty() { String::new() } else { format!(" GROUP BY {}", places.join(", ")) };
    let grouped = format!("SELECT {columns} FROM {}{condition}{by}", target.from());
    let counted = params.values.len();
    let mut parts = Vec::new();
    let mut push = |group: &Group, descending: bool, nulls_first: bool| {
        let expr = Expr { text: format!("\"c{}\"", group.at), column: group.column.clone() };
        parts.extend(directed(&expr, target.dialect, descending, nulls_first));
    };
    for term in &query.order {
        let group = groups.iter().find(|group| group.path == term.path).ok_or_else(|| {
            let name = term.path.to_string();
            Error::invalid(format!("groups are ordered by what they are grouped by, not {}", Quoted(&name)))
        })?;
        push(group, term.descending, term.nulls_first);
    }
    // Groups that tie must not move between two pages.
    groups.iter().for_each(|group| push(group, false, false));
    let mut sql = format!("SELECT * FROM ({grouped}) AS g");
    if !parts.is_empty() {
        sql.push_str(&format!(" ORDER BY {}", parts.join(", ")));
    }
    page(&mut sql, limit, query.offset, &mut params);
    Ok(Read {
        point: None,
        plain: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        keys: Vec::new(),
        count: count.map(|_| CountRows {
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
    no_aggregates(select)?;
    let sight = Sight::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    let id = params.bind(Value::Text(id.to_owned()));
    // The id is the address, not a filter: a rule need not show it.
    let visible = sight.rows(target.table, &[])?.sql(target, &mut params)?;
    let Shown { columns, output, .. } = shown(target, &sight, select, &mut params)?;
    let mut sql = format!("SELECT {columns} FROM {} WHERE \"id\" = ", target.from());
    let point = sql.len()..sql.len() + id.len();
    sql.push_str(&id);
    if let Some(visible) = visible {
        sql.push_str(" AND ");
        sql.push_str(&visible);
    }
    Ok(Read {
        point: Some(point),
        plain: is_plain(select),
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        keys: Vec::new(),
        count: None,
        format,
        max_bytes: target.max_bytes,
    })
}

/// Whether an item is the word `count`, an older way to say `count()`, and no column.
fn counts(target: &Target<'_>, item: &SelectItem) -> bool {
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
pub(super) struct Condition {
    /// The rows that the caller may ask about; nothing where it may ask about all.
    rule: Option<String>,
    /// Where a page begins. It comes first: of several bounds of a column SQLite takes the first to begin an index at.
    start: Vec<String>,
    /// What may be asked of any row: tests whose time and outcome tell nothing of a row that is not shown, and which an
    /// index may serve.
    open: Vec<String>,
    /// What is asked only of rows that meet the rule.
    guarded: Vec<String>,
}

impl Condition {
    fn add(&mut self, text: String, is_open: bool) {
        let parts = if is_open || self.rule.is_none() { &mut self.open } else { &mut self.guarded };
        parts.push(text);
    }

    /// Adds a test that says where a page begins.
    pub(super) fn begin(&mut self, text: String, is_open: bool) {
        let parts = if is_open || self.rule.is_none() { &mut self.start } else { &mut self.guarded };
        parts.push(text);
    }

    /// The tests, with the word that comes before them.
    ///
    /// A database evaluates the members of an `AND` in the order that seems cheapest to it. A `CASE` keeps its order, so
    /// that nothing the caller wrote is evaluated on a row that the rules hide.
    pub(super) fn sql(&self) -> String {
        let mut parts: Vec<String> = self.start.iter().chain(&self.rule).chain(&self.open).cloned().collect();
        if let (Some(rule), false) = (&self.rule, self.guarded.is_empty()) {
            parts.push(format!("CASE WHEN {rule} THEN {} ELSE FALSE END", self.guarded.join(" AND ")));
        }
        if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) }
    }
}

/// The condition of what a caller sees and asks for.
pub(super) fn matching(
    target: &Target<'_>,
    sight: &Sight<'_>,
    filters: &[Filter],
    order: &[OrderTerm],
    params: &mut Params,
) -> Result<Condition> {
    let mut used = Vec::new();
    filters.iter().for_each(|filter| filter::used(filter, &mut used));
    used.extend(order.iter().map(|term| term.path.column.as_str()));
    for column in &used {
        target.table.require(column)?;
    }
    let rule = sight.rows(target.table, &used)?.sql(target, params)?;
    let mut condition = Condition { rule, start: Vec::new(), open: Vec::new(), guarded: Vec::new() };
    for filter in filters {
        let text = filter::sql(target.table, filter, params)?;
        condition.add(text, filter::is_open(target.table, filter));
    }
    Ok(condition)
}

/// The order that is asked for, and the id after it: rows that tie must not move between two pages. It goes the way of
/// the last column, so that an index serves the whole order.
pub(crate) fn walk(query: &Query) -> Vec<OrderTerm> {
    terms(&query.order)
}

fn terms(order: &[OrderTerm]) -> Vec<OrderTerm> {
    let mut terms = order.to_vec();
    if !terms.iter().any(|term| term.path.column == "id") {
        let descending = terms.last().is_some_and(|term| term.descending);
        terms.push(OrderTerm { path: Path::column("id"), descending, nulls_first: false });
    }
    terms
}

pub(super) fn order(target: &Target<'_>, terms: &[OrderTerm], params: &mut Params) -> Result<String> {
    let parts: Vec<Expr> =
        terms.iter().map(|term| expr::path(target.table, &term.path, params)).collect::<Result<_>>()?;
    let parts: Vec<String> = parts
        .iter()
        .zip(terms)
        .flat_map(|(expr, term)| directed(expr, target.dialect, term.descending, term.nulls_first))
        .collect();
    Ok(parts.join(", "))
}

/// What rows are ordered by.
pub(super) struct OrderKey {
    pub(super) text: String,
    pub(super) direction: Direction,
}

/// What rows that a change shows are ordered by, and their id after it. `text` is what stands for a column.
pub(super) fn order_keys(
    target: &Target<'_>,
    order: &[OrderTerm],
    text: &dyn Fn(&Column, &mut Params) -> Result<String>,
    params: &mut Params,
) -> Result<Vec<OrderKey>> {
    let mut keys = Vec::new();
    for term in terms(order) {
        let direction = Direction { descending: term.descending, nulls_first: term.nulls_first };
        let column = target.table.require(&term.path.column)?;
        let expr = expr::inside(column, text(column, params)?, &term.path, params)?;
        keys.extend(expr.order(target.dialect).into_iter().map(|text| OrderKey { text, direction }));
    }
    Ok(keys)
}

pub(super) fn directed(expr: &Expr, dialect: Dialect, descending: bool, nulls_first: bool) -> Vec<String> {
    let direction = if descending { "DESC" } else { "ASC" };
    // Said always: the databases disagree on where nulls go.
    let nulls = match (expr.column.nullable, nulls_first) {
        (false, _) => "",
        (true, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
    };
    expr.order(dialect).into_iter().map(|text| format!("{text} {direction}{nulls}")).collect()
}

pub(super) fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
