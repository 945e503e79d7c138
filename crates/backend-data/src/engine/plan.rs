//! Checks of requests about rows, and the results of stores in the form in which callers get them.

use bytes::Bytes;

use super::{WriteOptions, WriteOutcome, body};
use crate::{
    error::{Error, ErrorKind, Result},
    query::{Filter, Operands, Query, Test},
    rule::{Action, Comparison},
    sql::{self, RowSelector, StatementOptions},
    store::{Format, StoreError, Write},
};

pub(super) fn write_outcome(
    body: Vec<u8>,
    rows: u64,
    inserted: Option<u64>,
    options: &WriteOptions,
) -> Result<WriteOutcome> {
    let body = match options {
        WriteOptions { minimal: true, .. } => Bytes::new(),
        WriteOptions { single_object: true, .. } => unwrap_single_row(body, rows, options.format)?,
        WriteOptions { .. } => body.into(),
    };
    Ok(WriteOutcome { body, rows, inserted })
}

pub(super) fn plan_update(
    target: &sql::Target<'_>,
    query: &Query,
    matching: &RowSelector<'_>,
    body: &[u8],
    options: &WriteOptions,
) -> Result<Write> {
    sql::authorize(target, Action::Update)?;
    let sets = body::parse_assignments(target.table, body)?;
    if sets.is_empty() && matches!(matching, RowSelector::Id(_) | RowSelector::Expected { .. }) {
        return Err(Error::invalid_body("the body sets no column"));
    }
    sql::update(target, matching, sets, &statement_options(query, options))
}

/// Parses the query of an insert: `columns`, `select`, `order` and `on_conflict`.
pub(super) fn parse_insert_query(query: &str) -> Result<Query> {
    let query = Query::parse(query)?;
    let pages = query.limit.is_some() || query.offset > 0 || query.cursor.is_some();
    if !query.filter.is_empty() || pages {
        return Err(Error::invalid_request("an insert takes no filter, limit, offset or cursor"));
    }
    Ok(query)
}

/// Parses the query of a PUT and returns it with the id that it names.
pub(super) fn parse_put_query(query: &str) -> Result<(Query, String)> {
    let query = Query::parse(query)?;
    let refused = |code, message: &str| Err(Error::new(ErrorKind::Invalid, "invalid_request", code, message));
    let id = match &query.filter[..] {
        [Filter::Test(path, Test::Compare(Comparison::Eq, Operands::One(id)))]
            if path.column == "id" && path.steps.is_empty() =>
        {
            id.clone()
        }
        _ => {
            return refused(
                "PGRST105",
                "a PUT takes the id of one row and no other filter, as in `id=eq.tea`",
            );
        }
    };
    let select = Query { select: query.select.clone(), filter: query.filter.clone(), ..Query::default() };
    if query != select {
        return refused(
            "PGRST114",
            "a PUT takes `select` besides the id, and no order, limit, offset or columns",
        );
    }
    Ok((query, id))
}

pub(super) fn statement_options<'q>(query: &'q Query, options: &WriteOptions) -> StatementOptions<'q> {
    StatementOptions {
        select: &query.select,
        minimal: options.minimal,
        exactly_one: options.single_object,
        max_rows: options.max_affected,
        resolution: None,
        conflict_columns: query.on_conflict.as_deref().unwrap_or_default(),
        order: &query.order,
        format: options.format,
        now: None,
    }
}

/// Returns the one row of an array without the brackets, without copying it.
pub(super) fn unwrap_single_row(array: Vec<u8>, rows: u64, format: Format) -> Result<Bytes> {
    if rows != 1 || array.len() < 2 {
        return Err(StoreError::WrongRowCount { rows }.into());
    }
    if format == Format::Csv {
        return Ok(array.into());
    }
    let end = array.len() - 1;
    Ok(Bytes::from(array).slice(1..end))
}

pub(super) fn to_row_not_found(error: Error) -> Error {
    if error.code() == "not_one_row" { Error::row_not_found() } else { error }
}

pub(super) fn range_error(message: &str) -> Error {
    Error::new(ErrorKind::Range, "invalid_range", "PGRST103", message)
}

/// Refuses an id that no row can have.
pub(super) fn reject_impossible_id(id: &str) -> Result<()> {
    if id.contains('\0') || id.len() > 512 { Err(Error::row_not_found()) } else { Ok(()) }
}

pub(super) fn reject_insert_parameters(query: &Query) -> Result<()> {
    if query.columns.is_some() || query.on_conflict.is_some() {
        return Err(Error::invalid_request("only inserts take `columns` and `on_conflict`"));
    }
    Ok(())
}

/// Parses the query of an update or a delete: filters, `select`, and an order with a limit and an offset.
pub(super) fn parse_filtered_query(query: &str) -> Result<Query> {
    let query = Query::parse(query)?;
    reject_insert_parameters(&query)?;
    if query.filter.is_empty() {
        return Err(Error::new(
            ErrorKind::Invalid,
            "filter_required",
            "21000",
            "an update or a delete needs at least one filter",
        )
        .with_hint("A limit is not a filter. To mean every row, send `id=not.is.null`."));
    }
    if query.cursor.is_some() {
        return Err(Error::unsupported("a cursor on an update or a delete"));
    }
    if (query.limit.is_some() || query.offset > 0) && query.order.is_empty() {
        let message = "a limit or an offset on an update or a delete needs an order";
        return Err(Error::new(ErrorKind::Invalid, "order_required", "PGRST109", message)
            .with_hint("Add an order, such as `order=created_at`. Rows that tie follow their id."));
    }
    Ok(query)
}

/// Parses the query of a request about one row: `select`.
pub(super) fn parse_select_query(query: &str) -> Result<Query> {
    let parsed = Query::parse(query)?;
    let select = Query { select: parsed.select.clone(), ..Query::default() };
    if parsed == select {
        Ok(select)
    } else {
        Err(Error::invalid_request("a request for one row takes only `select`"))
    }
}
