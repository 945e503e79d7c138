//! The transaction that carries a change together with its audit entry.

use std::error::Error as StdError;

use async_trait::async_trait;

use crate::{AuditEntry, Problem, events::Event, mail::OutboxEmail};

/// An open transaction. Dropping it rolls everything back.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Adds an entry to the audit log; it is written when the transaction commits.
    fn audit(&mut self, entry: AuditEntry);

    /// Puts an e-mail into the outbox; it is written when the transaction commits, and sent after that.
    fn enqueue_email(&mut self, email: OutboxEmail);

    /// Publishes an event to the followers of the workspace; it is written when the transaction commits, and delivered
    /// after that.
    fn publish(&mut self, event: Event);

    /// Commits the transaction durably.
    ///
    /// # Errors
    /// [`StoreError::NotAudited`] when the transaction wrote something and audited nothing; otherwise the error of the
    /// database. After an error nothing is kept.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// The source of transactions.
#[async_trait]
pub trait Transactions: Send + Sync {
    /// The transaction type of the store, on which it implements the write ports of the domains.
    type Tx: UnitOfWork + 'static;

    /// Begins a transaction.
    ///
    /// # Errors
    /// When no connection is available.
    async fn begin(&self) -> Result<Self::Tx, StoreError>;

    /// Checks that the store answers and its schema is up to date.
    ///
    /// # Errors
    /// The error of the database.
    async fn check_ready(&self) -> Result<(), StoreError>;
}

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique value is already in use.
    #[error("a row with this unique value already exists")]
    Duplicate,
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

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Contended(_) | StoreError::Unavailable(_) => {
                Self::unavailable("unavailable", "The database is temporarily unavailable.")
                    .hint("Try again in a moment.")
                    .caused_by(error)
            }
            StoreError::Duplicate => Self::conflict("conflict", "Someone created this at the same time.")
                .hint("Read the current state, then try again if you still need to.")
                .caused_by(error),
            StoreError::Inconsistent { .. } | StoreError::NotAudited | StoreError::Failed(_) => {
                Self::internal(error)
            }
        }
    }
}
