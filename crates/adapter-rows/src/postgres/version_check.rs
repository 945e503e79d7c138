//! The columns with which a statement reports that it ran under the catalog that it was compiled for, and if it has a row.

use backend_data::{StoreError, store::TableScope};
use sqlx::{Row as _, postgres::PgRow};

use super::error::to_store_error;

/// Returns the expression that is true if the catalog has this version. The number in the text also prevents the use of
/// a statement that was prepared for another version.
pub(super) fn catalog_version_check(scope: &TableScope, version: u64) -> String {
    scope
        .schema_version_check
        .as_ref()
        .map_or_else(|| "TRUE".to_owned(), |guard| format!("{guard} = {version}"))
}

pub(super) fn ensure_current_catalog(row: &PgRow) -> Result<(), StoreError> {
    let fresh: Option<bool> = row.try_get(0).map_err(to_store_error)?;
    if fresh == Some(true) { Ok(()) } else { Err(StoreError::Stale) }
}

pub(super) fn has_row(row: &PgRow) -> Result<bool, StoreError> {
    Ok(row.try_get::<Option<bool>, _>(1).map_err(to_store_error)?.unwrap_or(false))
}
