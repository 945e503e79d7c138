//! Statements that change rows.

use super::{
    Params, Target,
    policy::{self, Rows, Sight},
    quoted, read, select,
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

/// What the caller wants back, and what must hold for the change to stay.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options<'a> {
    pub(crate) select: &'a [SelectItem],
    /// Only the count is wanted.
    pub(crate) minimal: bool,
    pub(crate) exactly_one: bool,
    pub(crate) max_rows: Option<u64>,
    pub(crate) resolution: Option<Resolution>,
    /// The columns whose conflict it is about; the id where nothing is said.
    pub(crate) conflict: &'a [String],
    /// The order of the rows that a change shows.
    pub(crate) order: &'a [OrderTerm],
    pub(crate) format: Format,
    /// When rows are made: what tells those that are new from those that were there.
    pub(crate) now: Option<Micros>,
}

/// The rows of an insert: the columns they give and the values, in that order. `id` and `created_at` come first.
pub(crate) struct Changes<'a> {
    pub(crate) columns: Vec<&'a Column>,
    /// The columns the caller gave, which rules must cover.
    pub(crate) given: Vec<&'a str>,
    pub(crate) rows: Vec<Vec<Value>>,
}

/// Which rows an update or a delete means.
pub(crate) enum Matching<'a> {
    Id(&'a str),
    Query(&'a Query),
}

impl Matching<'_> {
    /// Whether it can mean one row at most.
    fn is_single(&self) -> bool {
        match self {
            Self::Id(_) => true,
            Self::Query(query) => query.filter.iter().any(|filter| match filter {
                Filter::Test(path, Test::Compare(Comparison::Eq, Operands::One(_))) => {
                    path.column == "id" && path.steps.is_empty()
                }
                _ => false,
            }),
        }
    }
}

/// The row that stands in the way of an insert, as a merge names it. No column or table of a project has a blank in its
/// name, so that a table may be called `excluded` too.
const STORED: &str = "\"stored row\"";

pub(crate) fn insert(target: &Target<'_>, changes: Changes<'_>, options: &Options<'_>) -> Result<Write> {
    let allowed = policy::writable(target, Action::Insert, &changes.given)?;
    orderable(target, options.order)?;
    let merges = options.resolution == Some(Resolution::MergeDuplicates);
    let conflict = target.table.conflicting(options.conflict, &changes.given)?;
    let (mut places, conflict): (Vec<usize>, Vec<&str>) =
        conflict.into_iter().map(|(at, column)| (at, column.name.as_str())).unzip();
    if conflict == ["id"] {
        places.clear();
    }
    let mut params = Params::new(target.dialect, changes.columns.len());
    let names: Vec<String> = changes.columns.iter().map(|column| quoted(&column.name)).collect();
    let names = names.join(", ");
    let mut sql = format!("INSERT INTO {}", target.from());
    if merges {
        sql.push_str(&format!(" AS {STORED}"));
    }
    sql.push_str(&format!(" ({names})"));
    match target.dialect {
        Dialect::Sqlite => {
            let places: Vec<String> = (1..=changes.columns.len()).map(|n| format!("?{n}")).collect();
            sql.push_str(&format!(" VALUES ({})", places.join(", ")));
        }
        Dialect::Postgres => {
            let arrays: Vec<String> = changes
                .columns
                .iter()
                .enumerate()
                .map(|(at, column)| format!("${}::{}[]", at + 1, postgres_type(column.kind)))
                .collect();
            sql.push_str(&format!(" SELECT * FROM unnest({})", arrays.join(", ")));
            sql.push_str(&guarded(target, " WHERE "));
        }
    }
    let mut every_row = false;
    match options.resolution {
        None => {}
        Some(Resolution::IgnoreDuplicates) => {
            sql.push_str(&format!(" ON CONFLICT ({}) DO NOTHING", listed(&conflict)));
        }
        Some(Resolution::MergeDuplicates) => {
            let merge = merge(target, &conflict, &changes.given, &mut params)?;
            every_row = merge.may_refuse;
            sql.push_str(&merge.sql);
        }
    }
    let kinds = changes.columns.iter().map(|column| column.kind).collect();
    let single = changes.rows.len() <= 1;
    let mut check = allowed.sql(target, &mut params)?;
    if merges && let (Some(inserted), Some(now)) = (&check, options.now) {
        // Every new row bears this time. A row that was there has met the rules for updates by now.
        let now = params.bind(Value::Timestamp(now));
        check = Some(format!("(\"created_at\" <> {now} OR {inserted})"));
    }
    let rows = Some((kinds, changes.rows));
    let write = finish(target, sql, rows, single, check.as_deref(), params, options)?;
    Ok(Write { every_row, max_stored: target.max_stored, conflict: places, ..write })
}

/// Refuses an order by a column that the answer to an insert never shows.
fn orderable(target: &Target<'_>, order: &[OrderTerm]) -> Result<()> {
    let sight = Sight::for_answer(target);
    for term in order {
        let column = target.table.require(&term.path.column)?;
        if column.name != "id" && !sight.shows(&column.name) {
            return Err(Error::column_not_found(&target.table.name, &column.name));
        }
    }
    Ok(())
}

/// What becomes of rows that exist.
struct Merge {
    sql: String,
    /// Whether it leaves rows alone that the rules for updates keep from the caller.
    may_refuse: bool,
}

/// The update of rows that exist by those that were to be inserted. It touches what an update by id may touch: rows that
/// meet the rules for updates as they are, and as they become.
fn merge(target: &Target<'_>, conflict: &[&str], given: &[&str], params: &mut Params) -> Result<Merge> {
    // The id of a row never changes, and what tells which row is meant has the values that are sent.
    let set = given.iter().copied().filter(|name| *name != "id" && !conflict.contains(name));
    let set: Vec<&str> = set.collect();
    let allowed = policy::mergeable(target, &set)?;
    let sets: Vec<String> = set.iter().map(|name| format!("{0} = excluded.{0}", quoted(name))).collect();
    // Even where there is nothing to set, the row is one of the answer.
    let sets = if sets.is_empty() { format!("\"id\" = {STORED}.\"id\"") } else { sets.join(", ") };
    let mut sql = format!(" ON CONFLICT ({}) DO UPDATE SET {sets}", listed(conflict));
    let stored = |column: &Column| format!("{STORED}.{}", quoted(&column.name));
    let changed = |column: &Column| {
        let source = if set.contains(&column.name.as_str()) { "excluded" } else { STORED };
        format!("{source}.{}", quoted(&column.name))
    };
    let before = allowed.sql_of(target, &stored, params)?;
    let after = allowed.sql_of(target, &changed, params)?;
    let may_refuse = before.is_some();
    if let Some((before, after)) = before.zip(after) {
        sql.push_str(&format!(" WHERE {before} AND {after}"));
    }
    Ok(Merge { sql, may_refuse })
}

pub(crate) fn update(
    target: &Target<'_>,
    matching: &Matching<'_>,
    sets: Vec<(&Column, Value)>,
    options: &Options<'_>,
) -> Result<Write> {
    let given: Vec<&str> = sets.iter().map(|(column, _)| column.name.as_str()).collect();
    let allowed = policy::writable(target, Action::Update, &given)?;
    let mut params = Params::new(target.dialect, 0);
    let sets: Vec<String> = sets
        .into_iter()
        .map(|(column, value)| format!("{} = {}", quoted(&column.name), params.bind(value)))
        .collect();
    let mut condition = touched(target, matching, &allowed, &mut params)?;
    let sets = if sets.is_empty() {
        // What sets nothing touches no row, as PostgREST has it.
        condition.push_str(" AND FALSE");
        "\"id\" = \"id\"".to_owned()
    } else {
        sets.join(", ")
    };
    let sql = format!("UPDATE {} SET {sets}{condition}", target.from());
    let check = allowed.sql(target, &mut params)?;
    let write = finish(target, sql, None, matching.is_single(), check.as_deref(), params, options)?;
    Ok(Write { max_stored: target.max_stored, ..write })
}

pub(crate) fn delete(target: &Target<'_>, matching: &Matching<'_>, options: &Options<'_>) -> Result<Write> {
    let allowed = policy::writable(target, Action::Delete, &[])?;
    let mut params = Params::new(target.dialect, 0);
    let condition = touched(target, matching, &allowed, &mut params)?;
    let sql = format!("DELETE FROM {}{condition}", target.from());
    finish(target, sql, None, matching.is_single(), None, params, options)
}

/// The `WHERE` of the rows a change touches. A filter asks about values, so it only finds rows the caller sees.
fn touched(
    target: &Target<'_>,
    matching: &Matching<'_>,
    allowed: &Rows<'_>,
    params: &mut Params,
) -> Result<String> {
    let mut condition = match matching {
        Matching::Id(id) => format!(" WHERE \"id\" = {}", params.bind(Value::Text((*id).to_owned()))),
        Matching::Query(query) => {
            let sight = Sight::new(target)?;
            read::matching(target, &sight, &query.filter, &query.order, params)?.sql()
        }
    };
    if let Some(allowed) = allowed.sql(target, params)? {
        condition.push_str(" AND ");
        condition.push_str(&allowed);
    }
    condition.push_str(&guarded(target, " AND "));
    if let Matching::Query(query) = matching
        && (query.limit.is_some() || query.offset > 0)
    {
        let order = read::order(target, &read::walk(query), params)?;
        let mut picked = format!("SELECT \"id\" FROM {}{condition} ORDER BY {order}", target.from());
        read::page(&mut picked, query.limit.unwrap_or(u64::MAX), query.offset, params);
        return Ok(match target.dialect {
            Dialect::Sqlite => format!(" WHERE \"id\" IN ({picked})"),
            // An array is made once, whatever the plan: a subquery could be run again and pick other rows.
            Dialect::Postgres => format!(" WHERE \"id\" = ANY (ARRAY ({picked} FOR UPDATE))"),
        });
    }
    if target.dialect == Dialect::Postgres && !matching.is_single() {
        // Locked in the order of their ids, as inserts write them: two changes of the same rows wait for each other's
        // end, and never for each other's rows in turn.
        let from = target.from();
        return Ok(format!(
            " WHERE \"id\" IN (SELECT \"id\" FROM {from}{condition} ORDER BY \"id\" FOR UPDATE)"
        ));
    }
    Ok(condition)
}

/// Nothing is written under a catalog that another process has replaced.
fn guarded(target: &Target<'_>, joint: &str) -> String {
    target
        .place
        .guard
        .as_ref()
        .map_or_else(String::new, |guard| format!("{joint}{guard} = {}", target.catalog.version))
}

fn finish(
    target: &Target<'_>,
    mut sql: String,
    rows: Option<(Vec<ColumnType>, Vec<Vec<Value>>)>,
    single: bool,
    check: Option<&str>,
    mut params: Params,
    options: &Options<'_>,
) -> Result<Write> {
    let mut returning = Vec::new();
    let mut output = Vec::new();
    if !options.minimal {
        let sight = Sight::for_answer(target);
        let visible = |column: &Column, params: &mut Params| sight.written(target, column, params);
        // Naming a column that is not shown is an error only where the caller chose it.
        select::no_aggregates(options.select)?;
        let shown = select::list_of(target, &sight, options.select, &mut params, visible)?;
        returning.push(shown.columns);
        output = shown.output;
    }
    if let Some(check) = check {
        returning.push(format!("coalesce({check}, FALSE)"));
    }
    let tells_inserted = match options.now.filter(|_| options.resolution == Some(Resolution::MergeDuplicates))
    {
        // Nothing but making a row writes this column.
        Some(now) => {
            returning.push(format!("\"created_at\" = {}", params.bind(Value::Timestamp(now))));
            true
        }
        None => false,
    };
    let mut order = Vec::new();
    // Only what is shown has an order. An insert's rows come in the order they were sent in where none is asked for.
    if !options.minimal && !options.order.is_empty() {
        // A change touches rows that show what they are ordered by. An insert answers with rows that show some columns and
        // hide others, and their order tells no more than they show.
        let sight = rows.is_some().then(|| Sight::for_answer(target));
        let text = |column: &Column, params: &mut Params| match &sight {
            Some(sight) => Ok(sight.written(target, column, params)?.unwrap_or_else(|| "NULL".to_owned())),
            None => Ok(quoted(&column.name)),
        };
        for key in read::order_keys(target, options.order, &text, &mut params)? {
            returning.push(format!("{} AS \"o{}\"", key.text, order.len()));
            order.push(key.direction);
        }
    }
    if returning.is_empty() && target.dialect == Dialect::Postgres {
        // The adapter counts the rows of a subquery.
        returning.push("1".to_owned());
    }
    if !returning.is_empty() {
        sql.push_str(&format!(" RETURNING {}", returning.join(", ")));
    }
    let (row_kinds, rows) = rows.map_or_else(Default::default, |(kinds, rows)| (kinds, Some(rows)));
    Ok(Write {
        version: target.catalog.version,
        sql,
        rows,
        row_kinds,
        single,
        params: params.values,
        output,
        checked: check.is_some(),
        every_row: false,
        tells_inserted,
        format: options.format,
        max_rows: options.max_rows,
        exactly_one: options.exactly_one,
        max_bytes: target.max_bytes,
        max_stored: None,
        order,
        conflict: Vec::new(),
        outbox: Vec::new(),
    })
}

/// Columns, as a statement lists them.
fn listed(names: &[&str]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

pub(super) fn postgres_type(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Text => "text",
        ColumnType::Integer => "bigint",
        ColumnType::Real => "float8",
        ColumnType::Boolean => "boolean",
        ColumnType::Timestamp => "timestamptz",
        ColumnType::Json => "jsonb",
    }
}
