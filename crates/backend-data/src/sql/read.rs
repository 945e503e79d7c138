//! Statements that read rows.

use std::collections::HashSet;

use super::{
    Params, Target,
    expr::Expr,
    limit::push_limit,
    order::{directed_terms, order_by, stable_order},
    paging,
    policy::RowPolicy,
    select::{GroupColumn, SelectList, is_aggregated, reject_aggregates, select_list},
    where_clause::where_clause,
};
use crate::{
    error::{Error, Quoted, Result},
    query::{Count, Query, SelectItem},
    store::{CountEstimate, CountStatement, Dialect, Format, Read},
    value::Value,
};

/// Compiles the read of a page. `limit` is within its bounds.
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
    // The id that breaks ties must be readable only if a cursor reveals it.
    let asked = if query.cursor.is_some() { &terms } else { &query.order };
    let condition = where_clause(target, &policy, &query.filter, asked, &mut params)?;
    let counted = params.values.len();
    let from = target.qualified_table();
    let count = count.map(|count| CountStatement {
        sql: format!("SELECT count(*) FROM {from}{}", condition.to_sql()),
        params: counted,
        // An estimate is based on all rows and would reveal those that the caller does not see.
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

/// Number of rows up to which an estimate is exact.
const EXACT_COUNT_LIMIT: u64 = 10_000;

/// Returns the estimate of the number of rows that meet a condition, or `None` for an exact count.
fn count_estimate(target: &Target<'_>, count: Count, condition: &str) -> Option<CountEstimate> {
    let from = target.qualified_table();
    match (count, target.dialect) {
        (Count::Exact, _) => None,
        // Counts matching rows in the order of their rowids up to the limit, and assumes that the others are as dense.
        // No column of a project is named `_rowid_`, since none begins with an underscore.
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

/// Compiles a read with aggregates. Rows are grouped by the selected items that have none.
fn list_groups(
    target: &Target<'_>,
    policy: &RowPolicy<'_>,
    query: &Query,
    limit: u64,
    count: Option<Count>,
    format: Format,
) -> Result<Read> {
    if query.cursor.is_some() {
        return Err(Error::invalid_request("groups have no `cursor`; use `limit` and `offset`"));
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
                "groups can only be ordered by what they are grouped by, not {}",
                Quoted(&name)
            ))
        })?;
        push(group, term.descending, term.nulls_first);
    }
    // Groups that tie need a fixed order, or they could move between two pages.
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

/// Compiles the read of the row with an id.
pub(crate) fn by_id(target: &Target<'_>, id: &str, select: &[SelectItem], format: Format) -> Result<Read> {
    reject_aggregates(select)?;
    let policy = RowPolicy::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    let id = params.bind(Value::Text(id.to_owned()));
    // The id is in the address and is not a filter, so no rule has to cover it.
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

/// Returns true for the item `count` of a table without a column of that name; it is an older form of `count()`.
fn is_bare_count(target: &Target<'_>, item: &SelectItem) -> bool {
    match item {
        SelectItem::Field { path, input_cast: None, aggregate: None, .. } => {
            path.column == "count" && path.steps.is_empty() && target.table.column("count").is_none()
        }
        _ => false,
    }
}

/// Returns true if the items are whole columns, each once.
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
