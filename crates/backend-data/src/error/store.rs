//! Errors of stores.

use super::Error;

/// An error of a store.
///
/// The statement changed nothing. The exceptions are [`Unavailable`](Self::Unavailable) and
/// [`Internal`](Self::Internal): if the connection to a database was lost, the outcome is not known.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The catalog has another version than the statement was compiled for, or the project does not exist.
    #[error("the catalog has changed")]
    Stale,
    /// A row with this id exists.
    #[error("a row with this id exists")]
    RowExists,
    /// A row with the same values in the columns of a unique index exists.
    #[error("a row with the same values in the columns of a unique index exists")]
    UniqueViolation,
    /// A value of an indexed column is longer than an index entry can be.
    #[error("a value of an indexed column is too long")]
    TooLongForIndex,
    /// The check column of a row is not true, or a row of a merge touched no row.
    #[error("a row failed the check")]
    CheckFailed,
    /// The write touches more rows than [`Write::max_rows`](crate::store::Write::max_rows).
    #[error("more than {limit} rows were touched")]
    TooManyRows {
        /// Maximum number of rows.
        limit: u64,
    },
    /// The number of rows is not one, as [`Write::exactly_one`](crate::store::Write::exactly_one) requires.
    #[error("{rows} rows instead of one")]
    WrongRowCount {
        /// Number of rows.
        rows: u64,
    },
    /// The project's rows take as many bytes as they may.
    #[error("the rows take {limit} bytes or more")]
    StorageFull {
        /// Storage limit of the project in bytes.
        limit: u64,
    },
    /// The result is larger than the statement allows.
    #[error("the result is larger than {limit} bytes")]
    ResultTooLarge {
        /// Maximum length in bytes.
        limit: usize,
    },
    /// One of several writes failed, so that none was made.
    #[error("write {at} of a batch failed")]
    BatchWriteFailed {
        /// Zero-based position of the write.
        at: usize,
        /// The error of that write.
        source: Box<StoreError>,
    },
    /// The rows of an import could not be read, or do not fit the table.
    #[error("the rows of an import were refused")]
    ImportRejected(#[source] Box<Error>),
    /// A value does not fit the type it is cast to, or a sum is too large for its type.
    #[error("a value does not fit its type")]
    DataException,
    /// The table of [`SchemaChange::only_if_empty`](crate::store::SchemaChange::only_if_empty) has rows.
    #[error("the table has rows")]
    TableNotEmpty,
    /// The statement exceeded its time limit.
    #[error("the statement exceeded its time limit")]
    Timeout,
    /// The write conflicts with other writes (a deadlock, a lock that was not granted in time), even after the store's
    /// retries.
    #[error("the write conflicts with other writes")]
    WriteConflict(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store is full, overloaded or unreachable.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Any other failure.
    #[error("the store failed")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Returns true if the write conflicts with other writes, so that the same statements may be run again.
    #[must_use]
    pub fn is_write_conflict(&self) -> bool {
        match self {
            Self::WriteConflict(_) => true,
            Self::BatchWriteFailed { source, .. } => source.is_write_conflict(),
            _ => false,
        }
    }

    /// Returns true if the catalog has another version than the statement was compiled for.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Self::Stale => true,
            Self::BatchWriteFailed { source, .. } => source.is_stale(),
            _ => false,
        }
    }
}
