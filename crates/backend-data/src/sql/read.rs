//! Statements that show rows.

use super::{
    Params, Target,
    expr::{self, Expr},
    filter,
    policy::Sight,
};
use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    json::OutputColumn,
    query::{Aggregate, Filter, Key, OrderTerm, Path, Query, SelectItem, cursor},
    rule::Comparison,
    store::{CountRows, Dialect, Format, Read},
    value::Value,
};

/// The rows that meet a query. `limit` has been brought within bounds.
pub(crate) fn list(
    target: &Target<'_>,
    query: &Query,
    limit: u64,
    count: bool,
    format: Format,
) -> Result<Read> {
    let sight = Sight::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    if is_aggregated(&query.select) {
        return groups(target, &sight, query, limit, count, format);
    }
    let terms = walk(query);
    // Only in a walk with cursors is the id a value that the caller learns.
    let asked = if query.cursor.is_some() { &terms } else { &query.order };
    let condition = matching(target, &sight, &query.filter, asked, &mut params)?;
    let counted = params.values.len();
    let from = format!(" FROM {}{condition}", target.from());
    let Shown { mut columns, output, .. } = shown(target, &sight, &query.select, &mut params)?;
    let mut keys = Vec::new();
    let mut after = String::new();
    if let Some(text) = &query.cursor {
        let exprs = term_exprs(target, &terms, &mut params)?;
        for (at, expr) in exprs.iter().enumerate() {
            let (text, kind) = key(expr, target.dialect);
            columns.push_str(&format!(", {text} AS \"k{at}\""));
            keys.push(OutputColumn::new(&at.to_string(), kind));
        }
        if !text.is_empty() {
            let kinds: Vec<Column> = exprs.iter().map(|expr| expr.column.clone()).collect();
            let values = cursor::read(text, &target.table.name, &terms, &kinds)?;
            let joint = if condition.is_empty() { " WHERE " } else { " AND " };
            after = format!("{joint}{}", behind(&terms, &exprs, values, &mut params));
        }
    }
    let order = order(target, &terms, &mut params)?;
    let mut sql = format!("SELECT {columns}{from}{after} ORDER BY {order}");
    page(&mut sql, limit, query.offset, &mut params);
    Ok(Read {
        point: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        keys,
        count: count.then(|| CountRows { sql: format!("SELECT count(*){from}"), params: counted }),
        format,
        max_bytes: target.max_bytes,
    })
}

fn page(sql: &mut String, limit: u64, offset: u64, params: &mut Params) {
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
    count: bool,
    format: Format,
) -> Result<Read> {
    if query.cursor.is_some() {
        return Err(Error::invalid("`cursor` walks over rows; groups have `limit` and `offset`"));
    }
    let mut params = Params::new(target.dialect, 0);
    let condition = matching(target, sight, &query.filter, &[], &mut params)?;
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
        point: false,
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        keys: Vec::new(),
        count: count
            .then(|| CountRows { sql: format!("SELECT count(*) FROM ({grouped}) AS g"), params: counted }),
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
    let mut condition = format!("\"id\" = {id}");
    // The id is the address, not a filter: a rule need not show it.
    if let Some(visible) = sight.rows(target.table, &[])?.sql(target, &mut params)? {
        condition.push_str(" AND ");
        condition.push_str(&visible);
    }
    let Shown { columns, output, .. } = shown(target, &sight, select, &mut params)?;
    Ok(Read {
        point: true,
        version: target.catalog.version,
        sql: format!("SELECT {columns} FROM {} WHERE {condition}", target.from()),
        params: params.values,
        output,
        keys: Vec::new(),
        count: None,
        format,
        max_bytes: target.max_bytes,
    })
}

/// The `WHERE` of what a caller sees and asks for.
pub(super) fn matching(
    target: &Target<'_>,
    sight: &Sight<'_>,
    filters: &[Filter],
    order: &[OrderTerm],
    params: &mut Params,
) -> Result<String> {
    let mut used = Vec::new();
    filters.iter().for_each(|filter| filter::used(filter, &mut used));
    used.extend(order.iter().map(|term| term.path.column.as_str()));
    for column in &used {
        target.table.require(column)?;
    }
    let mut parts = Vec::with_capacity(filters.len() + 1);
    parts.extend(sight.rows(target.table, &used)?.sql(target, params)?);
    for filter in filters {
        parts.push(filter::sql(target.table, filter, params)?);
    }
    Ok(if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) })
}

/// The order that is asked for, and the id after it: rows that tie must not move between two pages. It goes the way of
/// the last column, so that an index serves the whole order.
pub(crate) fn walk(query: &Query) -> Vec<OrderTerm> {
    let mut terms = query.order.clone();
    if !terms.iter().any(|term| term.path.column == "id") {
        let descending = terms.last().is_some_and(|term| term.descending);
        terms.push(OrderTerm { path: Path::column("id"), descending, nulls_first: false });
    }
    terms
}

fn term_exprs(target: &Target<'_>, terms: &[OrderTerm], params: &mut Params) -> Result<Vec<Expr>> {
    terms.iter().map(|term| expr::path(target.table, &term.path, params)).collect()
}

fn order(target: &Target<'_>, terms: &[OrderTerm], params: &mut Params) -> Result<String> {
    let exprs = term_exprs(target, terms, params)?;
    let parts = exprs.iter().zip(terms);
    let parts: Vec<String> = parts
        .flat_map(|(expr, term)| directed(expr, target.dialect, term.descending, term.nulls_first))
        .collect();
    Ok(parts.join(", "))
}

fn directed(expr: &Expr, dialect: Dialect, descending: bool, nulls_first: bool) -> Vec<String> {
    let direction = if descending { "DESC" } else { "ASC" };
    // Said always: the databases disagree on where nulls go.
    let nulls = match (expr.column.nullable, nulls_first) {
        (false, _) => "",
        (true, true) => " NULLS FIRST",
        (true, false) => " NULLS LAST",
    };
    expr.order(dialect).into_iter().map(|text| format!("{text} {direction}{nulls}")).collect()
}

/// What a cursor keeps of an expression. A document is kept as text, so that its null is not the lack of one.
fn key(expr: &Expr, dialect: Dialect) -> (String, ColumnType) {
    match (expr.column.kind, dialect) {
        (ColumnType::Json, Dialect::Postgres) => (format!("({})::text", expr.text), ColumnType::Text),
        (ColumnType::Json, Dialect::Sqlite) => (expr.text.clone(), ColumnType::Text),
        (kind, _) => (expr.text.clone(), kind),
    }
}

/// The rows that come after the one with these values.
fn behind(terms: &[OrderTerm], exprs: &[Expr], values: Vec<Value>, params: &mut Params) -> String {
    let dialect = params.dialect;
    let mut ties: Vec<String> = Vec::new();
    let mut ways: Vec<String> = Vec::new();
    let mut bound = None;
    for ((term, expr), value) in terms.iter().zip(exprs).zip(values) {
        let text = &expr.text;
        let (after, tie) = if matches!(value, Value::Null(_)) {
            let after = if term.nulls_first { format!("{text} IS NOT NULL") } else { "FALSE".to_owned() };
            (after, format!("{text} IS NULL"))
        } else {
            let value = params.bind(value);
            let op = if term.descending { Comparison::Lt } else { Comparison::Gt };
            if ways.is_empty() && !(expr.column.nullable && !term.nulls_first) {
                // Said once more for the planner: where an index begins to be of use.
                let op = if term.descending { Comparison::Lte } else { Comparison::Gte };
                bound = Some(expr.compared(op, &value, dialect));
            }
            let mut after = expr.compared(op, &value, dialect);
            if expr.column.nullable && !term.nulls_first {
                after = format!("({after} OR {text} IS NULL)");
            }
            (after, expr.compared(Comparison::Eq, &value, dialect))
        };
        ways.push(ties.iter().chain([&after]).map(String::as_str).collect::<Vec<_>>().join(" AND "));
        ties.push(tie);
    }
    let ways = format!("({})", ways.join(" OR "));
    bound.map(|bound| format!("{bound} AND {ways}")).unwrap_or(ways)
}

/// A select list.
pub(super) struct Shown {
    /// Its SQL.
    pub(super) columns: String,
    /// What it yields.
    pub(super) output: Vec<OutputColumn>,
    /// What rows are grouped by, where there are aggregates.
    groups: Vec<Group>,
}

struct Group {
    at: usize,
    path: Path,
    column: Column,
}

fn shown(
    target: &Target<'_>,
    sight: &Sight<'_>,
    select: &[SelectItem],
    params: &mut Params,
) -> Result<Shown> {
    let visible = |column: &Column, params: &mut Params| sight.column(target, column, params);
    list_of(target, sight, select, params, visible)
}

fn is_aggregated(select: &[SelectItem]) -> bool {
    select
        .iter()
        .any(|item| matches!(item, SelectItem::Count { .. } | SelectItem::Field { aggregate: Some(_), .. }))
}

pub(super) fn no_aggregates(select: &[SelectItem]) -> Result<()> {
    if is_aggregated(select) {
        return Err(Error::invalid("aggregates are for listing: here each row is shown"));
    }
    Ok(())
}

pub(super) fn list_of(
    target: &Target<'_>,
    sight: &Sight<'_>,
    select: &[SelectItem],
    params: &mut Params,
    visible: impl Fn(&Column, &mut Params) -> Result<Option<String>>,
) -> Result<Shown> {
    let (table, dialect) = (target.table, target.dialect);
    let mut names: Vec<String> = Vec::new();
    let mut columns = String::new();
    let mut output = Vec::new();
    let mut groups = Vec::new();
    let mut push = |name: &str, expr: &Expr| {
        if !columns.is_empty() {
            columns.push_str(", ");
        }
        columns.push_str(&expr.text);
        columns.push_str(&format!(" AS \"c{}\"", output.len()));
        output.push(OutputColumn::new(name, expr.column.kind));
        names.push(name.to_owned());
        output.len() - 1
    };
    let everything = [SelectItem::All];
    for item in if select.is_empty() { &everything } else { select } {
        match item {
            SelectItem::All => {
                for column in &table.columns {
                    if let Some(text) = visible(column, params)? {
                        let at = push(&column.name, &Expr { text, column: column.clone() });
                        groups.push(Group { at, path: Path::column(&column.name), column: column.clone() });
                    }
                }
            }
            SelectItem::Field { alias, path, input_cast, cast, aggregate } => {
                let column = table.require(&path.column)?;
                let text = if sight.shows(&column.name) { visible(column, params)? } else { None };
                let Some(text) = text else {
                    return Err(Error::column_not_found(&table.name, &column.name));
                };
                let mut expr = expr::inside(column, text, path, params)?;
                if let Some(input_cast) = input_cast {
                    expr = expr.cast(input_cast, dialect)?;
                }
                let mut name = alias.as_deref().unwrap_or_else(|| last_name(path));
                if let Some(aggregate) = aggregate {
                    expr = together(expr, *aggregate, dialect)?;
                    name = alias.as_deref().unwrap_or_else(|| aggregate.name());
                }
                if let Some(cast) = cast {
                    expr = expr.cast(cast, dialect)?;
                }
                let at = push(name, &expr);
                if aggregate.is_none() {
                    // Cast, it is no longer what the path says.
                    let path = if cast.is_some() { Path::column("") } else { path.clone() };
                    groups.push(Group { at, path, column: expr.column });
                }
            }
            SelectItem::Count { alias, cast } => {
                let column = Column {
                    name: "count".into(),
                    kind: ColumnType::Integer,
                    nullable: false,
                    system: false,
                };
                let mut expr = Expr { text: "count(*)".into(), column };
                if let Some(cast) = cast {
                    expr = expr.cast(cast, dialect)?;
                }
                push(alias.as_deref().unwrap_or("count"), &expr);
            }
        }
    }
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid(format!("`select` names {} twice", Quoted(&twice[0]))));
    }
    Ok(Shown { columns, output, groups })
}

/// The last named member of a path, or its column.
fn last_name(path: &Path) -> &str {
    let names = path.steps.iter().rev().find_map(|step| match &step.key {
        Key::Name(name) => Some(name.as_str()),
        Key::Index(_) => None,
    });
    names.unwrap_or(&path.column)
}

impl Aggregate {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Count => "count",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// The values of a group as one.
fn together(expr: Expr, aggregate: Aggregate, dialect: Dialect) -> Result<Expr> {
    use ColumnType::{Boolean, Integer, Json, Real};
    let Expr { text, column } = expr;
    let name = aggregate.name();
    let kind = match (aggregate, column.kind) {
        (Aggregate::Count, _) => Integer,
        (Aggregate::Sum, kind @ (Integer | Real)) => kind,
        (Aggregate::Avg, Integer | Real) => Real,
        (Aggregate::Min | Aggregate::Max, kind) if !matches!(kind, Boolean | Json) => kind,
        (_, kind) => {
            let message =
                format!("there is no {name} of {}, which is {}", Quoted(&column.name), kind.as_str());
            return Err(Error::value(message)
                .with_hint("A value of a document is cast first, as in `meta->price::real.sum()`."));
        }
    };
    let text = match (aggregate, column.kind, dialect) {
        // A sum that is too large is an error on either.
        (Aggregate::Sum, Integer, Dialect::Postgres) => format!("sum({text})::bigint"),
        // Both then divide floating point numbers.
        (Aggregate::Avg, Integer, Dialect::Postgres) => {
            format!("(sum({text})::float8 / nullif(count({text}), 0))")
        }
        _ => format!("{name}({text})"),
    };
    Ok(Expr { text, column: Column { name: name.to_owned(), kind, nullable: true, system: false } })
}

fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
