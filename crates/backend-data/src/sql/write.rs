//! Statements that change rows.
//!
//! See `docs/decisions/0100-check-upserts-by-what-they-do.md`.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{
    Params, Target,
    limit::push_limit,
    order::{order_by, order_keys, stable_order},
    policy::{self, AllowedRows, RowPolicy},
    postgres_type::postgres_type,
    quote_ident, select,
    where_clause::where_clause,
};
use crate::{
    catalog::{Column, ColumnType},
    error::{Error, Result},
    query::{Filter, Operands, OrderTerm, Query, Resolution, SelectItem, Test},
    rule::{Action, Comparison},
    store::{Dialect, Format, Write},
    timestamp::Micros,
    value::Value,
};

/// The result that the caller wants, and the conditions under which the change is kept.
#[derive(Clone, Copy, Default)]
pub(crate) struct StatementOptions<'a> {
    pub(crate) select: &'a [SelectItem],
    /// True if only the number of rows is wanted.
    pub(crate) minimal: bool,
    pub(crate) exactly_one: bool,
    pub(crate) max_rows: Option<u64>,
    pub(crate) resolution: Option<Resolution>,
    /// The columns of `on_conflict`; empty for the id.
    pub(crate) conflict_columns: &'a [String],
    /// The order of the rows in the result.
    pub(crate) order: &'a [OrderTerm],
    pub(crate) format: Format,
    /// The time of creation of inserted rows, by which they are distinguished from existing ones.
    pub(crate) now: Option<Micros>,
}

/// The rows of an insert, with a value for each of the columns. `id` and `created_at` come first.
pub(crate) struct InsertRows<'a> {
    pub(crate) columns: Vec<&'a Column>,
    /// The columns that the caller sent, which rules must cover.
    pub(crate) given: Vec<&'a str>,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// The values of a row that a write expects, as JSON, by column.
pub(crate) type ExpectedRow = BTreeMap<String, Box<RawValue>>;

/// The rows that an update or a delete is about.
pub(crate) enum RowSelector<'a> {
    Id(&'a str),
    /// The row with an id, if it still has these values in the columns that the caller may read.
    Expected {
        id: &'a str,
        row: &'a ExpectedRow,
    },
    Query(&'a Query),
}

impl<'a> RowSelector<'a> {
    /// Returns the selector of the row with an id, as it is expected if that matters.
    pub(crate) fn by_id(id: &'a str, expected: Option<&'a ExpectedRow>) -> Self {
        expected.map_or(Self::Id(id), |row| Self::Expected { id, row })
    }
}

impl RowSelector<'_> {
    /// Returns true if it selects at most one row.
    fn selects_at_most_one(&self) -> bool {
        match self {
            Self::Id(_) | Self::Expected { .. } => true,
            Self::Query(query) => query.filter.iter().any(|filter| match filter {
                Filter::Test(path, Test::Compare(Comparison::Eq, Operands::One(_))) => {
                    path.column == "id" && path.steps.is_empty()
                }
                _ => false,
            }),
        }
    }
}

/// The alias of the existing row in a merge. No column or table of a project has a blank in its name, so a table may
/// even be named `excluded`.
const STORED: &str = "\"stored row\"";

pub(crate) fn insert(
    target: &Target<'_>,
    changes: InsertRows<'_>,
    options: &StatementOptions<'_>,
) -> Result<Write> {
    let allowed = policy::writable_rows(target, Action::Insert, &changes.given)?;
    validate_returning_order(target, options.order)?;
    let merges = options.resolution == Some(Resolution::MergeDuplicates);
    let conflict = target.table.resolve_conflict_target(options.conflict_columns, &changes.given)?;
    let (mut positions, conflict): (Vec<usize>, Vec<&str>) =
        conflict.into_iter().map(|(at, column)| (at, column.name.as_str())).unzip();
    if conflict == ["id"] {
        positions.clear();
    }
    let mut params = Params::new(target.dialect, changes.columns.len());
    let names: Vec<String> = changes.columns.iter().map(|column| quote_ident(&column.name)).collect();
    let names = names.join(", ");
    let mut sql = format!("INSERT INTO {}", target.qualified_table());
    if merges {
        sql.push_str(&format!(" AS {STORED}"));
    }
    sql.push_str(&format!(" ({names})"));
    match target.dialect {
        Dialect::Sqlite => {
            let placeholders: Vec<String> = (1..=changes.columns.len()).map(|n| format!("?{n}")).collect();
            sql.push_str(&format!(" VALUES ({})", placeholders.join(", ")));
        }
        Dialect::Postgres => {
            let arrays: Vec<String> = changes
                .columns
                .iter()
                .enumerate()
                .map(|(at, column)| format!("${}::{}[]", at + 1, postgres_type(column.kind)))
                .collect();
            sql.push_str(&format!(" SELECT * FROM unnest({})", arrays.join(", ")));
            sql.push_str(&schema_version_condition(target, " WHERE "));
        }
    }
    let mut requires_every_row = false;
    match options.resolution {
        None => {}
        Some(Resolution::IgnoreDuplicates) => {
            sql.push_str(&format!(" ON CONFLICT ({}) DO NOTHING", column_list(&conflict)));
        }
        Some(Resolution::MergeDuplicates) => {
            let merge = merge_clause(target, &conflict, &changes.given, &mut params)?;
            requires_every_row = merge.may_skip_rows;
            sql.push_str(&merge.sql);
        }
    }
    let kinds = changes.columns.iter().map(|column| column.kind).collect();
    let is_single_row = changes.rows.len() <= 1;
    let mut check = allowed.to_sql(target, &mut params)?;
    if merges && let (Some(inserted), Some(now)) = (&check, options.now) {
        // Every new row has this time of creation. Existing rows were checked against the rules for updates in the
        // `WHERE` of the merge.
        let now = params.bind(Value::Timestamp(now));
        check = Some(format!("(\"created_at\" <> {now} OR {inserted})"));
    }
    let rows = Some((kinds, changes.rows));
    let write = build_write(target, sql, rows, is_single_row, check.as_deref(), params, options)?;
    Ok(Write {
        requires_every_row,
        max_stored_bytes: target.max_stored_bytes,
        conflict_positions: positions,
        ..write
    })
}

/// Refuses an order by a column that the result of an insert never shows.
fn validate_returning_order(target: &Target<'_>, order: &[OrderTerm]) -> Result<()> {
    let policy = RowPolicy::for_returning(target);
    for term in order {
        let column = target.table.get_column(&term.path.column)?;
        if column.name != "id" && !policy.covers_column(&column.name) {
            return Err(Error::column_not_found(&target.table.name, &column.name));
        }
    }
    Ok(())
}

/// The `ON CONFLICT` clause of a merge.
struct MergeClause {
    sql: String,
    /// True if it skips existing rows that the rules for updates do not let the caller change.
    may_skip_rows: bool,
}

/// Compiles the update of existing rows by those to insert. As an update does, it touches only rows that meet the rules
/// for updates as they are, and as they become.
fn merge_clause(
    target: &Target<'_>,
    conflict: &[&str],
    given: &[&str],
    params: &mut Params,
) -> Result<MergeClause> {
    // The id of a row never changes, and the columns of the conflict already have the values that were sent.
    let set = given.iter().copied().filter(|name| *name != "id" && !conflict.contains(name));
    let set: Vec<&str> = set.collect();
    let allowed = policy::mergeable_rows(target, &set)?;
    let sets: Vec<String> = set.iter().map(|name| format!("{0} = excluded.{0}", quote_ident(name))).collect();
    // Even if there is nothing to set, the row must be in the result.
    let sets = if sets.is_empty() { format!("\"id\" = {STORED}.\"id\"") } else { sets.join(", ") };
    let mut sql = format!(" ON CONFLICT ({}) DO UPDATE SET {sets}", column_list(conflict));
    let stored = |column: &Column| format!("{STORED}.{}", quote_ident(&column.name));
    let changed = |column: &Column| {
        let source = if set.contains(&column.name.as_str()) { "excluded" } else { STORED };
        format!("{source}.{}", quote_ident(&column.name))
    };
    let before = allowed.to_sql_with(target, &stored, params)?;
    let after = allowed.to_sql_with(target, &changed, params)?;
    let may_skip_rows = before.is_some();
    if let Some((before, after)) = before.zip(after) {
        sql.push_str(&format!(" WHERE {before} AND {after}"));
    }
    Ok(MergeClause { sql, may_skip_rows })
}

pub(crate) fn update(
    target: &Target<'_>,
    matching: &RowSelector<'_>,
    sets: Vec<(&Column, Value)>,
    options: &StatementOptions<'_>,
) -> Result<Write> {
    let given: Vec<&str> = sets.iter().map(|(column, _)| column.name.as_str()).collect();
    let allowed = policy::writable_rows(target, Action::Update, &given)?;
    let mut params = Params::new(target.dialect, 0);
    let sets: Vec<String> = sets
        .into_iter()
        .map(|(column, value)| format!("{} = {}", quote_ident(&column.name), params.bind(value)))
        .collect();
    let mut condition = where_sql(target, matching, &allowed, &mut params)?;
    let sets = if sets.is_empty() {
        // As in PostgREST, an update that sets nothing touches no row.
        condition.push_str(" AND FALSE");
        "\"id\" = \"id\"".to_owned()
    } else {
        sets.join(", ")
    };
    let sql = format!("UPDATE {} SET {sets}{condition}", target.qualified_table());
    let check = allowed.to_sql(target, &mut params)?;
    let write =
        build_write(target, sql, None, matching.selects_at_most_one(), check.as_deref(), params, options)?;
    Ok(Write { max_stored_bytes: target.max_stored_bytes, ..write })
}

pub(crate) fn delete(
    target: &Target<'_>,
    matching: &RowSelector<'_>,
    options: &StatementOptions<'_>,
) -> Result<Write> {
    let allowed = policy::writable_rows(target, Action::Delete, &[])?;
    let mut params = Params::new(target.dialect, 0);
    let condition = where_sql(target, matching, &allowed, &mut params)?;
    let sql = format!("DELETE FROM {}{condition}", target.qualified_table());
    build_write(target, sql, None, matching.selects_at_most_one(), None, params, options)
}

/// Compiles the `WHERE` clause of a change. A filter depends on values, so it selects only rows that the caller may
/// read.
fn where_sql(
    target: &Target<'_>,
    matching: &RowSelector<'_>,
    allowed: &AllowedRows<'_>,
    params: &mut Params,
) -> Result<String> {
    let mut condition = match matching {
        RowSelector::Id(id) => id_condition(id, params),
        RowSelector::Expected { id, row } => {
            let mut condition = id_condition(id, params);
            push_expected_values(target, row, &mut condition, params)?;
            condition
        }
        RowSelector::Query(query) => {
            let policy = RowPolicy::new(target)?;
            where_clause(target, &policy, &query.filter, &query.order, params)?.to_sql()
        }
    };
    if let Some(allowed) = allowed.to_sql(target, params)? {
        condition.push_str(" AND ");
        condition.push_str(&allowed);
    }
    condition.push_str(&schema_version_condition(target, " AND "));
    if let RowSelector::Query(query) = matching
        && (query.limit.is_some() || query.offset > 0)
    {
        let order = order_by(target, &stable_order(query), params)?;
        let mut picked =
            format!("SELECT \"id\" FROM {}{condition} ORDER BY {order}", target.qualified_table());
        push_limit(&mut picked, query.limit.unwrap_or(u64::MAX), query.offset, params);
        return Ok(match target.dialect {
            Dialect::Sqlite => format!(" WHERE \"id\" IN ({picked})"),
            // An array is evaluated once, whatever the plan; a subquery could be evaluated again and select other rows.
            Dialect::Postgres => format!(" WHERE \"id\" = ANY (ARRAY ({picked} FOR UPDATE))"),
        });
    }
    if target.dialect == Dialect::Postgres && !matching.selects_at_most_one() {
        // Rows are locked in the order of their ids, in which inserts write them, so that two changes of the same rows
        // cannot deadlock.
        let from = target.qualified_table();
        return Ok(format!(
            " WHERE \"id\" IN (SELECT \"id\" FROM {from}{condition} ORDER BY \"id\" FOR UPDATE)"
        ));
    }
    Ok(condition)
}

fn id_condition(id: &str, params: &mut Params) -> String {
    format!(" WHERE \"id\" = {}", params.bind(Value::Text(id.to_owned())))
}

/// Adds the condition that the row still has these values, as the caller reads them.
fn push_expected_values(
    target: &Target<'_>,
    row: &ExpectedRow,
    condition: &mut String,
    params: &mut Params,
) -> Result<()> {
    let policy = RowPolicy::new(target)?;
    for (name, value) in row {
        // The schema may have changed since the row was read, and with it what the caller sees of the row.
        let column = target.table.column(name).ok_or_else(Error::changed_meanwhile)?;
        let shown = policy.column_expr(target, column, params)?.ok_or_else(Error::changed_meanwhile)?;
        // A column that may not be null is null for a caller who may not see its value in this row.
        let value = match value.get() {
            "null" => Value::Null(column.kind),
            value => Value::from_json(column, value)?,
        };
        let value = params.bind(value);
        condition.push_str(&format!(" AND {shown} IS NOT DISTINCT FROM {value}"));
    }
    Ok(())
}

/// Compiles the condition that no other process has replaced the catalog.
fn schema_version_condition(target: &Target<'_>, joint: &str) -> String {
    target
        .scope
        .schema_version_check
        .as_ref()
        .map_or_else(String::new, |guard| format!("{joint}{guard} = {}", target.catalog.version))
}

fn build_write(
    target: &Target<'_>,
    mut sql: String,
    rows: Option<(Vec<ColumnType>, Vec<Vec<Value>>)>,
    is_single_row: bool,
    check: Option<&str>,
    mut params: Params,
    options: &StatementOptions<'_>,
) -> Result<Write> {
    let mut returning = Vec::new();
    let mut output = Vec::new();
    if !options.minimal {
        let policy = RowPolicy::for_returning(target);
        let visible = |column: &Column, params: &mut Params| policy.returning_expr(target, column, params);
        // A column that is not shown is an error only if `select` names it.
        select::reject_aggregates(options.select)?;
        let shown = select::select_list_with(target, &policy, options.select, &mut params, visible)?;
        returning.push(shown.columns);
        output = shown.output;
    }
    if let Some(check) = check {
        returning.push(format!("coalesce({check}, FALSE)"));
    }
    let has_inserted_column =
        match options.now.filter(|_| options.resolution == Some(Resolution::MergeDuplicates)) {
            // `created_at` is written only when a row is inserted.
            Some(now) => {
                returning.push(format!("\"created_at\" = {}", params.bind(Value::Timestamp(now))));
                true
            }
            None => false,
        };
    let mut order = Vec::new();
    // Without a requested order, the rows of an insert are returned in the order in which they were sent.
    if !options.minimal && !options.order.is_empty() {
        // An update or a delete touches only rows whose columns of the order the caller may read. The rows of an insert
        // may hide some of them, and their order must not reveal those.
        let policy = rows.is_some().then(|| RowPolicy::for_returning(target));
        let text = |column: &Column, params: &mut Params| match &policy {
            Some(policy) => {
                Ok(policy.returning_expr(target, column, params)?.unwrap_or_else(|| "NULL".to_owned()))
            }
            None => Ok(quote_ident(&column.name)),
        };
        for key in order_keys(target, options.order, &text, &mut params)? {
            returning.push(format!("{} AS \"o{}\"", key.text, order.len()));
            order.push(key.direction);
        }
    }
    if returning.is_empty() && target.dialect == Dialect::Postgres {
        // The store counts the rows that the statement returns.
        returning.push("1".to_owned());
    }
    if !returning.is_empty() {
        sql.push_str(&format!(" RETURNING {}", returning.join(", ")));
    }
    let (row_types, rows) = rows.map_or_else(Default::default, |(kinds, rows)| (kinds, Some(rows)));
    Ok(Write {
        version: target.catalog.version,
        sql,
        rows,
        row_types,
        is_single_row,
        params: params.values,
        output,
        has_check_column: check.is_some(),
        requires_every_row: false,
        has_inserted_column,
        format: options.format,
        max_rows: options.max_rows,
        exactly_one: options.exactly_one,
        max_bytes: target.max_bytes,
        max_stored_bytes: None,
        order,
        conflict_positions: Vec::new(),
        outbox: Vec::new(),
    })
}

/// Joins quoted names of columns.
fn column_list(names: &[&str]) -> String {
    names.iter().map(|name| quote_ident(name)).collect::<Vec<_>>().join(", ")
}
