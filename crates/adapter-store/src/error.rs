//! What the databases say, in the words of [`StoreError`].

use kernel::StoreError;
use sea_orm::{DbErr, SqlErr};

/// The one place that reads a driver's error.
pub(crate) fn store_error(error: DbErr) -> StoreError {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => StoreError::Duplicate,
        _ if is_transient(&error) => StoreError::Unavailable(error.into()),
        _ => StoreError::Failed(error.into()),
    }
}

/// Whether trying again may help: no connection could be had, or the database was busy with others.
fn is_transient(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        _ => {
            let text = error.to_string();
            // SQLITE_BUSY; PostgreSQL's serialization_failure, deadlock_detected and admin_shutdown.
            ["database is locked", "could not serialize", "deadlock detected", "terminating connection"]
                .iter()
                .any(|known| text.contains(known))
        }
    }
}

/// A stored row that contradicts itself.
pub(crate) fn inconsistent(
    table: &'static str,
    row: impl std::fmt::Display,
    what: impl std::fmt::Display,
) -> StoreError {
    StoreError::Inconsistent { table, row: row.to_string(), what: what.to_string() }
}

/// Turns a driver's error into ours, for use with `?`.
pub(crate) trait OrStoreError<T> {
    fn or_store_error(self) -> Result<T, StoreError>;
}

impl<T> OrStoreError<T> for Result<T, DbErr> {
    fn or_store_error(self) -> Result<T, StoreError> {
        self.map_err(store_error)
    }
}
