//! Batches: several writes to several tables, all or nothing.

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

/// Maximum number of operations of a batch.
const MAX_OPERATIONS: usize = 50;

/// The method of the engine that an operation of a batch stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// [`Engine::insert`].
    Insert,
    /// [`Engine::put`]. If the operation has an id, its query does not name the row.
    Put,
    /// [`Engine::update`], or [`Engine::update_by_id`] if the operation has an id.
    Update,
    /// [`Engine::delete`], or [`Engine::delete_by_id`] if the operation has an id.
    Delete,
}

/// One operation of a batch.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// The method of the engine.
    pub kind: OperationKind,
    /// The name of the table.
    pub table: &'a str,
    /// The id of the row, for an operation on one row.
    pub id: Option<&'a str>,
    /// The query string.
    pub query: &'a str,
    /// The body; ignored by a delete.
    pub body: &'a [u8],
    /// The options of the write.
    pub options: WriteOptions,
}

/// An operation with its parsed query.
struct ParsedOperation<'a> {
    operation: Operation<'a>,
    query: Query,
    /// The id of the one row that the operation is about.
    id: Option<Cow<'a, str>>,
}

impl<'a> ParsedOperation<'a> {
    fn new(mut operation: Operation<'a>) -> Result<Self> {
        operation.options.single_object |= operation.id.is_some();
        let text = operation.query;
        let (query, id) = match (operation.kind, operation.id) {
            (OperationKind::Insert, Some(_)) => {
                return Err(Error::invalid_request("an insert takes the id in its row"));
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
    /// Runs 1 to 50 operations in order, all or nothing. Each sees the changes of those before it; their results
    /// together are no larger than one response.
    ///
    /// # Errors
    /// The error of the first operation that is refused; its details name the operation.
    pub async fn batch(
        &self,
        project: &ProjectRef,
        access: &Access,
        operations: Vec<Operation<'_>>,
    ) -> Result<Vec<WriteOutcome>> {
        if operations.is_empty() || operations.len() > MAX_OPERATIONS {
            return Err(Error::invalid_request(format!("a batch has 1 to {MAX_OPERATIONS} operations")));
        }
        let parsed: Vec<ParsedOperation<'_>> = operations
            .into_iter()
            .enumerate()
            .map(|(at, operation)| ParsedOperation::new(operation).map_err(|error| error.in_operation(at)))
            .collect::<Result<_>>()?;
        let now = self.clock.now();
        let plan = |catalog: &Catalog, scope: &TableScope| -> Result<Vec<Write>> {
            parsed
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
        let results =
            self.run_on_catalog(project, plan, |writes| self.store.write_all(project, writes)).await?;
        for (result, parsed) in results.iter().zip(&parsed) {
            self.notify_written(project, parsed.operation.table, result.rows);
        }
        results
            .into_iter()
            .zip(&parsed)
            .map(|(result, parsed)| {
                write_outcome(result.body, result.rows, result.inserted, &parsed.operation.options)
            })
            .collect()
    }
}
