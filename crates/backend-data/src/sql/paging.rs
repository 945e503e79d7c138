//! Pages with cursors. The rows after a cursor are divided into segments, each of which is a range of an index, so that
//! every page costs the same.

use super::{
    Params, Target,
    expr::{self, Expr},
    filter,
    limit::{integer_value, push_limit},
    order::directed_terms,
    where_clause::WhereClause,
};
use crate::{
    catalog::{Column, ColumnType, Table},
    error::Result,
    output::OutputColumn,
    query::{OrderTerm, cursor},
    rule::Comparison,
    store::Dialect,
    value::Value,
};

/// Maximum number of terms of an order that is divided into segments. With more, a page looks at all rows after the
/// cursor.
const MAX_SEGMENTED_TERMS: usize = 5;

/// The rows and columns of the pages.
pub(super) struct PageSource<'s> {
    pub(super) target: &'s Target<'s>,
    pub(super) condition: WhereClause,
    pub(super) from: &'s str,
    pub(super) columns: String,
    /// Number of the columns.
    pub(super) column_count: usize,
}

/// A compiled term of the order.
struct Term<'t> {
    order: &'t OrderTerm,
    expr: Expr,
    /// True if an index may serve it.
    is_indexable: bool,
}

/// A range of the rows after a cursor: those that meet the tests, ordered by the terms from `first_term` on.
struct Segment {
    /// The tests, each with true if it may be evaluated on any row.
    tests: Vec<(String, bool)>,
    first_term: usize,
    /// True if the first of these terms is null in none of the rows.
    excludes_nulls: bool,
    /// The earlier terms that are null in all of the rows.
    null_terms: Vec<usize>,
}

/// Compiles the statement of a page, and returns it with the columns that follow the selected ones: the keys of the
/// next cursor.
pub(super) fn page_sql(
    source: PageSource<'_>,
    terms: &[OrderTerm],
    text: &str,
    limit: u64,
    params: &mut Params,
) -> Result<(String, Vec<OutputColumn>)> {
    let PageSource { target, condition, from, mut columns, column_count: shown } = source;
    let dialect = target.dialect;
    let terms: Vec<Term<'_>> = terms
        .iter()
        .map(|order| {
            let expr = expr::path_expr(target.table, &order.path, params)?;
            Ok(Term { order, expr, is_indexable: filter::is_indexable(target.table, &order.path) })
        })
        .collect::<Result<_>>()?;
    let mut keys = Vec::with_capacity(terms.len());
    for (at, term) in terms.iter().enumerate() {
        let (text, kind) = cursor_key(&term.expr, dialect);
        columns.push_str(&format!(", {text} AS \"k{at}\""));
        keys.push(OutputColumn::new(&at.to_string(), kind));
    }
    let values = if text.is_empty() {
        None
    } else {
        let order: Vec<OrderTerm> = terms.iter().map(|term| term.order.clone()).collect();
        let columns: Vec<Column> = terms.iter().map(|term| term.expr.column.clone()).collect();
        Some(cursor::decode(text, &target.table.name, &order, &columns)?)
    };
    let is_segmented =
        terms.len() <= MAX_SEGMENTED_TERMS && terms.first().is_some_and(|term| term.is_indexable);
    let segments = match values {
        None if is_segmented => first_page_segments(&terms),
        None => {
            vec![Segment { tests: Vec::new(), first_term: 0, excludes_nulls: false, null_terms: Vec::new() }]
        }
        Some(values) if is_segmented => segments_after(&terms, values, params),
        Some(values) => {
            let is_open = terms.iter().all(|term| term.is_indexable);
            let tests = vec![(after_condition(&terms, values, params), is_open)];
            vec![Segment { tests, first_term: 0, excludes_nulls: false, null_terms: Vec::new() }]
        }
    };
    // PostgreSQL does not notice that a column of nulls needs no order, and would scan the ids of the whole table
    // rather than the index unless the order names the column.
    let orders_nulls = dialect == Dialect::Postgres && has_index(target.table, &terms);
    let select = |segment: &Segment| {
        let mut condition = condition.clone();
        for (test, is_open) in &segment.tests {
            condition.push_page_start(test.clone(), *is_open);
        }
        let order = segment_order(&terms, segment, dialect, orders_nulls);
        // Without terms left there is one row, and nothing to order.
        let by = if order.is_empty() { "" } else { " ORDER BY " };
        (format!("SELECT {columns}"), format!(" FROM {from}{}{by}{}", condition.to_sql(), order.join(", ")))
    };
    if let [segment] = &segments[..] {
        let (what, which) = select(segment);
        let mut sql = format!("{what}{which}");
        push_limit(&mut sql, limit, 0, params);
        return Ok((sql, keys));
    }
    let limit = params.bind(integer_value(limit));
    let names: Vec<String> = (0..shown)
        .map(|at| format!("\"c{at}\""))
        .chain((0..terms.len()).map(|at| format!("\"k{at}\"")))
        .collect();
    let names = names.join(", ");
    if dialect == Dialect::Sqlite {
        // SQLite runs the members of a `UNION ALL` one after the other and stops at the limit.
        let parts: Vec<String> = segments
            .iter()
            .map(|segment| {
                let (what, which) = select(segment);
                format!("SELECT {names} FROM ({what}{which} LIMIT {limit})")
            })
            .collect();
        return Ok((format!("SELECT {names} FROM ({}) LIMIT {limit}", parts.join(" UNION ALL ")), keys));
    }
    // PostgreSQL promises no order of a `UNION ALL`, so the parts are numbered. Each part has at most the rows that
    // those before it left of the limit.
    let (mut parts, mut left, mut all) = (Vec::new(), limit.clone(), Vec::new());
    for (at, segment) in segments.iter().enumerate() {
        let (what, which) = select(segment);
        let rows = format!("{what}, {at} AS \"part\"{which} LIMIT {limit}");
        // The planner does not know what is left before the statement runs, and expects a tenth of all rows without a
        // known limit. The inner limit tells it that a page is the maximum.
        let rows = if at == 0 { rows } else { format!("SELECT * FROM ({rows}) AS \"most\" LIMIT {left}") };
        parts.push(format!("\"part {at}\" AS MATERIALIZED ({rows})"));
        left = format!("{left} - (SELECT count(*) FROM \"part {at}\")");
        all.push(format!("SELECT * FROM \"part {at}\""));
    }
    let mut order = vec!["\"part\"".to_owned()];
    for (at, term) in terms.iter().enumerate() {
        // The key of a document is its text, so the expression that it is ordered by is computed from that.
        let column = term.expr.column.clone();
        let text =
            if column.kind == ColumnType::Json { format!("\"k{at}\"::jsonb") } else { format!("\"k{at}\"") };
        order.extend(directed_terms(
            &Expr { text, column },
            dialect,
            term.order.descending,
            term.order.nulls_first,
        ));
    }
    let sql = format!(
        "WITH {} SELECT {names} FROM ({}) AS \"walk\" ORDER BY {}",
        parts.join(", "),
        all.join(" UNION ALL "),
        order.join(", ")
    );
    Ok((sql, keys))
}

/// Returns true if an index ends with these terms. The columns before them, if any, are those that a filter may
/// compare.
fn has_index(table: &Table, terms: &[Term<'_>]) -> bool {
    table.indexes.iter().filter(|index| !index.unique).any(|index| {
        let id = index.columns.iter().all(|column| column != "id").then_some("id");
        let columns: Vec<&str> = index.columns.iter().map(String::as_str).chain(id).collect();
        let named: Vec<&str> = terms.iter().map(|term| term.order.path.column.as_str()).collect();
        columns.ends_with(&named) && terms.iter().all(|term| term.is_indexable)
    })
}

/// Compiles the order of a segment. It says nothing of nulls if the segment has none: an index has them at the
/// database's default position, which need not be the requested one.
fn segment_order(terms: &[Term<'_>], segment: &Segment, dialect: Dialect, says_nulls: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let rest = terms.get(segment.first_term..).unwrap_or_default();
    if says_nulls {
        // Nulls at the default position of the index, in the direction in which it is read.
        let descending = rest.first().is_some_and(|next| next.order.descending);
        let nulls = segment.null_terms.iter().filter_map(|at| terms.get(*at));
        parts.extend(nulls.flat_map(|term| directed_terms(&term.expr, dialect, descending, descending)));
    }
    for (at, term) in rest.iter().enumerate() {
        let mut expr = term.expr.clone();
        expr.column.nullable &= at > 0 || !segment.excludes_nulls;
        parts.extend(directed_terms(&expr, dialect, term.order.descending, term.order.nulls_first));
    }
    parts
}

/// Returns the segments of the first page. The rows whose first term is null are a segment of their own.
fn first_page_segments(terms: &[Term<'_>]) -> Vec<Segment> {
    let whole = |tests, from, without_nulls, nulls| Segment {
        tests,
        first_term: from,
        excludes_nulls: without_nulls,
        null_terms: nulls,
    };
    let Some(first) = terms.first().filter(|first| first.expr.column.nullable) else {
        return vec![whole(Vec::new(), 0, false, Vec::new())];
    };
    let text = &first.expr.text;
    let nulls = whole(vec![(format!("{text} IS NULL"), first.is_indexable)], 1, false, vec![0]);
    let others = whole(vec![(format!("{text} IS NOT NULL"), first.is_indexable)], 0, true, Vec::new());
    if first.order.nulls_first { vec![nulls, others] } else { vec![others, nulls] }
}

/// Returns the segments after the row with these values. Those that tie with it in all terms but the last come first.
fn segments_after(terms: &[Term<'_>], values: Vec<Value>, params: &mut Params) -> Vec<Segment> {
    let dialect = params.dialect;
    let mut ties: Vec<(String, bool)> = Vec::new();
    let mut levels: Vec<Vec<Segment>> = Vec::new();
    let mut tied_nulls: Vec<usize> = Vec::new();
    for (at, (term, value)) in terms.iter().zip(values).enumerate() {
        let text = &term.expr.text;
        let nulls = (format!("{text} IS NULL"), term.is_indexable);
        let with = |test: (String, bool)| ties.iter().cloned().chain([test]).collect::<Vec<_>>();
        let mut level = Vec::new();
        let tie = if matches!(value, Value::Null(_)) {
            if term.order.nulls_first {
                let tests = with((format!("{text} IS NOT NULL"), term.is_indexable));
                level.push(Segment {
                    tests,
                    first_term: at,
                    excludes_nulls: true,
                    null_terms: tied_nulls.clone(),
                });
            }
            tied_nulls.push(at);
            nulls
        } else {
            let value = params.bind(value);
            let op = if term.order.descending { Comparison::Lt } else { Comparison::Gt };
            let tests = with((term.expr.comparison_sql(op, &value, dialect), term.is_indexable));
            level.push(Segment {
                tests,
                first_term: at,
                excludes_nulls: true,
                null_terms: tied_nulls.clone(),
            });
            if term.expr.column.nullable && !term.order.nulls_first {
                let tied = tied_nulls.iter().copied().chain([at]).collect();
                level.push(Segment {
                    tests: with(nulls),
                    first_term: at + 1,
                    excludes_nulls: false,
                    null_terms: tied,
                });
            }
            (term.expr.comparison_sql(Comparison::Eq, &value, dialect), term.is_indexable)
        };
        levels.push(level);
        ties.push(tie);
    }
    // The order ends with the id, which is never null: the last level is never empty.
    levels.into_iter().rev().flatten().collect()
}

/// Compiles one test for the rows after the one with these values.
fn after_condition(terms: &[Term<'_>], values: Vec<Value>, params: &mut Params) -> String {
    let mut ties: Vec<String> = Vec::new();
    let mut alternatives: Vec<String> = Vec::new();
    for (term, value) in terms.iter().zip(values) {
        let (text, dialect) = (&term.expr.text, params.dialect);
        let (after, tie) = if matches!(value, Value::Null(_)) {
            let after =
                if term.order.nulls_first { format!("{text} IS NOT NULL") } else { "FALSE".to_owned() };
            (after, format!("{text} IS NULL"))
        } else {
            let value = params.bind(value);
            let op = if term.order.descending { Comparison::Lt } else { Comparison::Gt };
            let mut after = term.expr.comparison_sql(op, &value, dialect);
            if term.expr.column.nullable && !term.order.nulls_first {
                after = format!("({after} OR {text} IS NULL)");
            }
            (after, term.expr.comparison_sql(Comparison::Eq, &value, dialect))
        };
        alternatives.push(ties.iter().chain([&after]).map(String::as_str).collect::<Vec<_>>().join(" AND "));
        ties.push(tie);
    }
    format!("({})", alternatives.join(" OR "))
}

/// Returns the expression and type of a cursor's key. A document is kept as text, so that the document `null` differs
/// from a null.
fn cursor_key(expr: &Expr, dialect: Dialect) -> (String, ColumnType) {
    match (expr.column.kind, dialect) {
        (ColumnType::Json, Dialect::Postgres) => (format!("({})::text", expr.text), ColumnType::Text),
        (ColumnType::Json, Dialect::Sqlite) => (expr.text.clone(), ColumnType::Text),
        (kind, _) => (expr.text.clone(), kind),
    }
}
