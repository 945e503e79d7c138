//! Errors of PostgreSQL as those of the row store, by their SQLSTATE.

use backend_data::StoreError;

pub(super) fn internal_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Internal(error.into())
}

pub(super) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(Into::into)
}

fn constraint(error: &sqlx::Error) -> Option<&str> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::constraint)
}

/// Converts an error of PostgreSQL, by its SQLSTATE (PostgreSQL documentation, appendix A).
pub(super) fn to_store_error(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
            return StoreError::Unavailable(error.into());
        }
        _ => {}
    }
    let Some(state) = sqlstate(&error) else { return internal_error(error) };
    match state.as_str() {
        // The names of indexes begin with an underscore; that of a primary key is derived from its table, whose name
        // does not.
        "23505" if constraint(&error).is_some_and(|name| name.starts_with('_')) => {
            StoreError::UniqueViolation
        }
        "23505" => StoreError::RowExists,
        "54000" => StoreError::TooLongForIndex,
        // A cast or a sum that does not fit, a document of the wrong type, a regular expression that is too large.
        "2201B" | "22P02" | "22P05" | "22003" | "22007" | "22008" | "22023" => StoreError::DataException,
        // An unknown schema, table or column, or a prepared statement whose table has changed.
        "3F000" | "42P01" | "42703" | "0A000" => StoreError::Stale,
        "57014" => StoreError::Timeout,
        // A deadlock, a serialization failure or a lock timeout: the transaction was undone and may be run again.
        "40P01" | "40001" | "55P03" => StoreError::WriteConflict(error.into()),
        // Other rollbacks, connections, resources, interventions of the operator.
        other if ["40", "08", "53", "57"].iter().any(|class| other.starts_with(class)) => {
            StoreError::Unavailable(error.into())
        }
        _ => internal_error(error),
    }
}
