//! Errors of the control plane's store.

use std::error::Error as StdError;

use crate::changes::UnreportableChange;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique value is already in use.
    #[error("a row with this unique value already exists")]
    Duplicate,
    /// The code does not fit into what the workspace's plan lets it store.
    #[error("the workspace's stored code would exceed {max_bytes} bytes")]
    StorageFull {
        /// Bytes that the plan allows.
        max_bytes: u64,
    },
    /// A stored row contradicts itself.
    #[error("the stored row {row} of {table} is inconsistent: {what}")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The row's key.
        row: String,
        /// The contradiction.
        what: String,
    },
    /// The transaction wrote something and audited nothing.
    #[error("a transaction that wrote something recorded no audit entry")]
    NotAudited,
    /// The transaction wrote something, and no event can report it.
    #[error("a transaction that wrote something cannot be reported")]
    NotReportable(#[source] UnreportableChange),
    /// The database gave up the transaction in favour of another and asks for it to be run again: a deadlock or a
    /// serialisation failure.
    #[error("the database asks for the transaction to be run again")]
    Contended(#[source] Box<dyn StdError + Send + Sync>),
    /// The database is unreachable or overloaded.
    #[error("the database is unavailable")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// Any other error of the database.
    #[error("the database failed")]
    Failed(#[source] Box<dyn StdError + Send + Sync>),
}

impl StoreError {
    /// `true` when the same transaction may succeed if it is run again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Contended(_))
    }
}
