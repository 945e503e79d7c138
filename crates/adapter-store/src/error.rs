//! The databases' errors as [`StoreError`], by their codes: SQLSTATE (PostgreSQL 15, appendix A) and SQLite's extended
//! result codes (<https://sqlite.org/rescode.html>).

use kernel::StoreError;
use rusqlite::ffi;
use sea_orm::{DbErr, RuntimeErr};
use sqlx::{error::DatabaseError, postgres::PgDatabaseError, sqlite::SqliteError};

/// Meaning of an error for whoever sent the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// A unique key is taken.
    Duplicate,
    /// The database gave up the transaction in favour of another.
    Contended,
    /// Another try may succeed.
    Transient,
    /// Another try fails too.
    Permanent,
}

impl Meaning {
    fn into_error(self, error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
        match self {
            Self::Duplicate => StoreError::Duplicate,
            Self::Contended => StoreError::Contended(error.into()),
            Self::Transient => StoreError::Unavailable(error.into()),
            Self::Permanent => StoreError::Failed(error.into()),
        }
    }
}

/// Maps an error of the pools' drivers.
pub(crate) fn store_error(error: DbErr) -> StoreError {
    let meaning = match &error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => Meaning::Transient,
        DbErr::Exec(RuntimeErr::SqlxError(cause)) | DbErr::Query(RuntimeErr::SqlxError(cause)) => {
            sqlx_meaning(cause)
        }
        _ => Meaning::Permanent,
    };
    meaning.into_error(error)
}

/// Maps an error of the group commit's own connections to PostgreSQL.
pub(crate) fn sqlx_store_error(error: sqlx::Error) -> StoreError {
    sqlx_meaning(&error).into_error(error)
}

/// Maps an error of the group commit's own connection to SQLite.
pub(crate) fn sqlite_store_error(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code.map_or(Meaning::Permanent, sqlite_meaning).into_error(error)
}

fn sqlx_meaning(error: &sqlx::Error) -> Meaning {
    match error {
        sqlx::Error::Database(error) => database_meaning(&**error),
        // The connection is gone, or never came about.
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => Meaning::Transient,
        _ => Meaning::Permanent,
    }
}

fn database_meaning(error: &dyn DatabaseError) -> Meaning {
    let code = error.code().unwrap_or_default();
    if error.try_downcast_ref::<PgDatabaseError>().is_some() {
        postgres_meaning(&code)
    } else if error.try_downcast_ref::<SqliteError>().is_some() {
        code.parse().map_or(Meaning::Permanent, sqlite_meaning)
    } else {
        Meaning::Permanent
    }
}

fn postgres_meaning(sqlstate: &str) -> Meaning {
    match sqlstate {
        // unique_violation
        "23505" => Meaning::Duplicate,
        // serialization_failure, deadlock_detected
        "40001" | "40P01" => Meaning::Contended,
        // admin_shutdown, crash_shutdown, cannot_connect_now
        "57P01" | "57P02" | "57P03"
        // idle_session_timeout, idle_in_transaction_session_timeout
        | "57P05" | "25P03"
        // read_only_sql_transaction: the server was a primary, and is a standby now
        | "25006"
        // too_many_connections
        | "53300" => Meaning::Transient,
        // connection_exception and what follows from it
        _ if sqlstate.starts_with("08") => Meaning::Transient,
        _ => Meaning::Permanent,
    }
}

fn sqlite_meaning(extended_code: i32) -> Meaning {
    match extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => Meaning::Duplicate,
        // The primary result code is the low byte.
        code => match code & 0xff {
            ffi::SQLITE_BUSY
            | ffi::SQLITE_LOCKED
            | ffi::SQLITE_FULL
            | ffi::SQLITE_CANTOPEN
            | ffi::SQLITE_INTERRUPT => Meaning::Transient,
            _ => Meaning::Permanent,
        },
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

/// Maps a driver's error, for use with `?`.
pub(crate) trait OrStoreError<T> {
    fn or_store_error(self) -> Result<T, StoreError>;
}

impl<T> OrStoreError<T> for Result<T, DbErr> {
    fn or_store_error(self) -> Result<T, StoreError> {
        self.map_err(store_error)
    }
}

impl<T> OrStoreError<T> for Result<T, sqlx::Error> {
    fn or_store_error(self) -> Result<T, StoreError> {
        self.map_err(sqlx_store_error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_extended_code_means_what_its_primary_code_means() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED_SHAREDCACHE] {
            assert_eq!(sqlite_meaning(code), Meaning::Transient, "{code}");
        }
        for code in [ffi::SQLITE_CONSTRAINT_UNIQUE, ffi::SQLITE_CONSTRAINT_PRIMARYKEY] {
            assert_eq!(sqlite_meaning(code), Meaning::Duplicate, "{code}");
        }
        for code in [ffi::SQLITE_CONSTRAINT_FOREIGNKEY, ffi::SQLITE_IOERR_READ, ffi::SQLITE_CORRUPT] {
            assert_eq!(sqlite_meaning(code), Meaning::Permanent, "{code}");
        }
    }

    #[test]
    fn a_connection_that_is_cut_is_no_error_of_the_statement() {
        let cut = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert_eq!(sqlx_meaning(&cut()), Meaning::Transient);
        let of_pool = DbErr::Query(RuntimeErr::SqlxError(Arc::new(cut())));
        assert!(matches!(store_error(of_pool), StoreError::Unavailable(_)));
        assert_eq!(sqlx_meaning(&sqlx::Error::RowNotFound), Meaning::Permanent);
    }

    #[test]
    fn a_conflict_between_transactions_may_be_retried_and_a_syntax_error_may_not() {
        assert_eq!(postgres_meaning("40001"), Meaning::Contended);
        assert_eq!(postgres_meaning("40P01"), Meaning::Contended);
        for code in ["57P01", "25006", "08006", "08P01", "53300"] {
            assert_eq!(postgres_meaning(code), Meaning::Transient, "{code}");
        }
        assert_eq!(postgres_meaning("23505"), Meaning::Duplicate);
        assert_eq!(postgres_meaning("42601"), Meaning::Permanent);
        assert_eq!(postgres_meaning("23503"), Meaning::Permanent);
    }
}
