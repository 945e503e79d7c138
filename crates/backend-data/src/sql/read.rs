//! Statements that show rows.

use super::{Params, Target, filter, policy::Sight, quoted};
use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Quoted, Result},
    json::OutputColumn,
    query::{Filter, OrderTerm, Query, SelectItem},
    store::{CountRows, Read},
    value::Value,
};

/// The rows that meet a query. `limit` has been brought within bounds.
pub(crate) fn list(target: &Target<'_>, query: &Query, limit: u64, count: bool) -> Result<Read> {
    let sight = Sight::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    let condition = matching(target, &sight, &query.filter, &query.order, &mut params)?;
    let counted = params.values.len();
    let from = format!(" FROM {}{condition}", target.from());
    let (columns, output) = shown(target, &sight, &query.select, &mut params)?;
    let order = order(target, &query.order)?;
    let limit = params.bind(integer(limit));
    let mut sql = format!("SELECT {columns}{from} ORDER BY {order} LIMIT {limit}");
    if query.offset > 0 {
        let offset = params.bind(integer(query.offset));
        sql.push_str(" OFFSET ");
        sql.push_str(&offset);
    }
    Ok(Read {
        version: target.catalog.version,
        sql,
        params: params.values,
        output,
        count: count.then(|| CountRows { sql: format!("SELECT count(*){from}"), params: counted }),
        max_bytes: target.max_bytes,
    })
}

/// The row with an id.
pub(crate) fn by_id(target: &Target<'_>, id: &str, select: &[SelectItem]) -> Result<Read> {
    let sight = Sight::new(target)?;
    let mut params = Params::new(target.dialect, 0);
    let id = params.bind(Value::Text(id.to_owned()));
    let mut condition = format!("\"id\" = {id}");
    // The id is the address, not a filter: a rule need not show it.
    if let Some(visible) = sight.rows(target.table, &[])?.sql(target, &mut params)? {
        condition.push_str(" AND ");
        condition.push_str(&visible);
    }
    let (columns, output) = shown(target, &sight, select, &mut params)?;
    Ok(Read {
        version: target.catalog.version,
        sql: format!("SELECT {columns} FROM {} WHERE {condition}", target.from()),
        params: params.values,
        output,
        count: None,
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

fn order(target: &Target<'_>, terms: &[OrderTerm]) -> Result<String> {
    let mut parts = Vec::with_capacity(terms.len() + 1);
    let mut by_id = false;
    for term in terms {
        let column = filter::plain(target.table, &term.path)?;
        if column.kind == ColumnType::Json {
            return Err(Error::unsupported(format!("ordering by the json column {}", Quoted(&column.name))));
        }
        by_id |= column.name == "id";
        let direction = if term.descending { "DESC" } else { "ASC" };
        // Said always: the databases disagree on where nulls go.
        let nulls = match (column.nullable, term.nulls_first) {
            (false, _) => "",
            (true, true) => " NULLS FIRST",
            (true, false) => " NULLS LAST",
        };
        parts.push(format!("{} {direction}{nulls}", quoted(&column.name)));
    }
    // Rows that tie must not move between two pages.
    if !by_id {
        parts.push("\"id\" ASC".to_owned());
    }
    Ok(parts.join(", "))
}

/// The select list, and what it yields.
pub(super) fn shown(
    target: &Target<'_>,
    sight: &Sight<'_>,
    select: &[SelectItem],
    params: &mut Params,
) -> Result<(String, Vec<OutputColumn>)> {
    let visible = |column: &Column, params: &mut Params| sight.column(target, column, params);
    list_of(target, sight, select, params, visible)
}

pub(super) fn list_of(
    target: &Target<'_>,
    sight: &Sight<'_>,
    select: &[SelectItem],
    params: &mut Params,
    visible: impl Fn(&Column, &mut Params) -> Result<Option<String>>,
) -> Result<(String, Vec<OutputColumn>)> {
    let table = target.table;
    let mut names: Vec<&str> = Vec::new();
    let mut columns = String::new();
    let mut output = Vec::new();
    let mut push = |name: &str, kind: ColumnType, expression: &str| {
        if !columns.is_empty() {
            columns.push_str(", ");
        }
        columns.push_str(expression);
        columns.push_str(&format!(" AS \"c{}\"", output.len()));
        output.push(OutputColumn::new(name, kind));
    };
    let everything = [SelectItem::All];
    for item in if select.is_empty() { &everything } else { select } {
        match item {
            SelectItem::All => {
                for column in &table.columns {
                    if let Some(expression) = visible(column, params)? {
                        names.push(&column.name);
                        push(&column.name, column.kind, &expression);
                    }
                }
            }
            SelectItem::Field { alias, path, cast: None, aggregate: None } => {
                let column = filter::plain(table, path)?;
                let expression = if sight.shows(&column.name) { visible(column, params)? } else { None };
                let Some(expression) = expression else {
                    return Err(Error::column_not_found(&table.name, &column.name));
                };
                let name = alias.as_deref().unwrap_or(&column.name);
                names.push(name);
                push(name, column.kind, &expression);
            }
            SelectItem::Field { aggregate: Some(_), .. } | SelectItem::Count { .. } => {
                return Err(Error::unsupported("an aggregate in `select`"));
            }
            SelectItem::Field { cast: Some(_), .. } => {
                return Err(Error::unsupported("a cast in `select`"));
            }
        }
    }
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid(format!("`select` names {} twice", Quoted(twice[0]))));
    }
    Ok((columns, output))
}

fn integer(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
