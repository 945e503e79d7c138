//! Preconditions of writes to one row and of changes to one table: it must still be as the caller read it.
//!
//! The row is read and compared first. The statement of the write then names the value of each column that was read, so
//! that a write between the two makes it touch no row. A table is compared in the version of the catalog from which the
//! change is made.

use std::sync::Arc;

use bytes::Bytes;

use super::{Engine, WriteOutcome, plan::to_row_not_found};
use crate::{
    access::Access,
    catalog::{Catalog, Table},
    error::{Error, Result},
    ident::ProjectRef,
    rule::Action,
    sql::{self, ExpectedRow},
    store::{Format, StoreError},
};

/// Test of a row as the caller reads it: the text of a JSON object with all columns, as [`Engine::get`] returns it.
pub type RowTest = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Test of a table as the owner reads it ([`Engine::schema`]).
pub type TableTest = Arc<dyn Fn(&Table) -> bool + Send + Sync>;

impl Engine {
    /// Returns this engine with a precondition of changes to the definition of one table, its columns, indexes and rules: a
    /// table that does not pass the test is not changed
    /// ([`ErrorKind::PreconditionFailed`](crate::ErrorKind::PreconditionFailed)).
    ///
    /// The test and the change are atomic: of two simultaneous changes that expect the same table, one succeeds.
    #[must_use]
    pub fn with_table_precondition(&self, test: TableTest) -> Self {
        Self { table_precondition: Some(test), ..self.clone() }
    }

    /// Checks the precondition of a change to a table.
    pub(super) fn check_table(&self, catalog: &Catalog, table: &str) -> Result<()> {
        let Some(is_expected) = &self.table_precondition else { return Ok(()) };
        if is_expected(catalog.get_table(table)?) { Ok(()) } else { Err(Error::changed_meanwhile()) }
    }

    /// Returns this engine with a precondition of [`Engine::update_by_id`] and [`Engine::delete_by_id`]: a row that does
    /// not pass the test is not written ([`ErrorKind::PreconditionFailed`](crate::ErrorKind::PreconditionFailed)). The
    /// caller must be able to read the row.
    ///
    /// The test and the write are atomic: of two simultaneous writes that expect the same row, one succeeds.
    #[must_use]
    pub fn with_precondition(&self, test: RowTest) -> Self {
        Self { precondition: Some(test), ..self.clone() }
    }

    /// Returns the row that the precondition expects; `None` without a precondition.
    pub(super) async fn expected_row(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        id: &str,
        action: Action,
    ) -> Result<Option<Bytes>> {
        let Some(is_expected) = &self.precondition else { return Ok(None) };
        // Who may not write at all learns nothing of the state of the row.
        let authorize = |target: &sql::Target<'_>| sql::authorize(target, action);
        let none = |()| std::future::ready(Ok::<_, StoreError>(()));
        self.run_on_table(project, access, table, authorize, none).await?;
        let row = self.get(project, access, table, id, "", Format::Json).await?.body;
        if is_expected(&row) { Ok(Some(row)) } else { Err(Error::changed_meanwhile()) }
    }

    /// Returns the outcome of a write to one row. If it touched none, the error says whether there is no such row or it is
    /// not the expected one.
    pub(super) async fn explain_missing_row(
        &self,
        written: Result<WriteOutcome>,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        id: &str,
        expected: Option<&[u8]>,
    ) -> Result<WriteOutcome> {
        let error = match written.map_err(to_row_not_found) {
            Err(error) if error.code() == "row_not_found" => error,
            other => return other,
        };
        let Some(expected) = expected else { return Err(error) };
        let current = self.get(project, access, table, id, "", Format::Json).await?;
        // A row that is as expected is one that the caller may read but not write.
        Err(if current.body == expected { error } else { Error::changed_meanwhile() })
    }
}

/// Parses the row that a write expects.
pub(super) fn parse_expected(row: &[u8]) -> Result<ExpectedRow> {
    serde_json::from_slice(row).map_err(|_| Error::internal("the row that was read is not a JSON object"))
}
