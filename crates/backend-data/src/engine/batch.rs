//! Several writes over several tables, all or nothing.

use std::borrow::Cow;

use super::{
    Engine, WriteOptions, WriteOutcome,
    plan::{
        parse_filtered_query, parse_insert_query, parse_put_query, parse_select_query, plan_update,
        reject_impossible_id, statement_options, write_outcome,
    },
};
use crate::{
    access::Access,
    catalog::Catalog,
    error::{Error, Result},
    ident::ProjectRef,
    query::Query,
    sql::{self, RowSelector},
    store::{TableScope, Write},
};

/// The most operations of one batch.
const MAX_OPERATIONS: usize = 50;

/// What an operation of a batch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// [`Engine::insert`].
    Insert,
    /// [`Engine::put`]; where it means the row by its id, the query does not name it.
    Put,
    /// [`Engine::update`], or with an id [`Engine::update_by_id`].
    Update,
    /// [`Engine::delete`], or with an id [`Engine::delete_by_id`].
    Delete,
}

/// One operation of a batch.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// What it does.
    pub kind: OperationKind,
    /// To which table.
    pub table: &'a str,
    /// To which row, where it means one by its id.
    pub id: Option<&'a str>,
    /// Its query string.
    pub query: &'a str,
    /// Its body; not read by a delete.
    pub body: &'a [u8],
    /// How the rows are written.
    pub options: WriteOptions,
}

/// An operation whose query has been read.
struct ParsedOperation<'a> {
    operation: Operation<'a>,
    query: Query,
    /// The one row that is meant.
    id: Option<Cow<'a, str>>,
}

impl<'a> ParsedOperation<'a> {
    fn new(mut operation: Operation<'a>) -> Result<Self> {
        operation.options.single_object |= operation.id.is_some();
        let text = operation.query;
        let (query, id) = match (operation.kind, operation.id) {
            (OperationKind::Insert, Some(_)) => {
                return Err(Error::invalid_request("an insert has the id in its row"));
            }
            (OperationKind::Insert, None) => (parse_insert_query(text)?, None),
            (OperationKind::Put, Some(id)) => (parse_select_query(text)?, Some(Cow::Borrowed(id))),
            (OperationKind::Put, None) => {
                let (query, id) = parse_put_query(text)?;
                (query, Some(Cow::Owned(id)))
            }
            (OperationKind::Update | OperationKind::Delete, Some(id)) => {
                reject_impossible_id(id)?;
                (parse_select_query(text)?, Some(Cow::Borrowed(id)))
            }
            (OperationKind::Update | OperationKind::Delete, None) => (parse_filtered_query(text)?, None),
        };
        Ok(Self { operation, query, id })
    }
}

impl Engine {
    /// Does several operations in their order, all or none. Each sees what those before it did.
    ///
    /// # Errors
    /// The first refusal, whose details say which operation met it.
    pub async fn batch(
        &self,
        project: &ProjectRef,
        access: &Access,
        operations: Vec<Operation<'_>>,
    ) -> Result<Vec<WriteOutcome>> {
        if operations.is_empty() || operations.len() > MAX_OPERATIONS {
            return Err(Error::invalid_request(format!("a batch has 1 to {MAX_OPERATIONS} operations")));
        }
        let ready: Vec<ParsedOperation<'_>> = operations
            .into_iter()
            .enumerate()
            .map(|(at, operation)| ParsedOperation::new(operation).map_err(|error| error.in_operation(at)))
            .collect::<Result<_>>()?;
        let now = self.clock.now();
        let plan = |catalog: &Catalog, scope: &TableScope| -> Result<Vec<Write>> {
            ready
                .iter()
                .enumerate()
                .map(|(at, ParsedOperation { operation, query, id })| {
                    let plan = || {
                        let table = catalog.get_table(operation.table)?;
                        let target = self.target(scope, catalog, table, access);
                        let id = id.as_deref();
                        let matching = id.map_or(RowSelector::Query(query), RowSelector::Id);
                        let Operation { kind, body, options, .. } = operation;
                        match kind {
                            OperationKind::Insert => self.plan_insert(&target, query, body, options, now),
                            OperationKind::Put => {
                                self.plan_put(&target, query, id.unwrap_or_default(), body, options, now)
                            }
                            OperationKind::Update => plan_update(&target, query, &matching, body, options),
                            OperationKind::Delete => {
                                sql::delete(&target, &matching, &statement_options(query, options))
                            }
                        }
                    };
                    plan().map_err(|error: Error| error.in_operation(at))
                })
                .collect()
        };
        let answers =
            self.run_on_catalog(project, plan, |writes| self.store.write_all(project, writes)).await?;
        answers
            .into_iter()
            .zip(&ready)
            .map(|(answer, ready)| {
                write_outcome(answer.body, answer.rows, answer.inserted, &ready.operation.options)
            })
            .collect()
    }
}
