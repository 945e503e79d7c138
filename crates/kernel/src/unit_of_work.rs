//! The transaction that carries a mutation together with its audit row.

use std::error::Error as StdError;

use async_trait::async_trait;

use crate::{AuditEntry, Problem, events::Event, mail::OutboxEmail};

/// A transaction under way. Dropping it undoes everything.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Adds a row to the audit log; it is written when the transaction commits.
    fn audit(&mut self, entry: AuditEntry);

    /// Puts a letter into the outbox; it is written when the transaction commits, and sent after that.
    fn enqueue_email(&mut self, letter: OutboxEmail);

    /// Tells those who follow the workspace; it is written when the transaction commits, and told after that.
    fn publish(&mut self, event: Event);

    /// Makes everything durable.
    ///
    /// # Errors
    /// [`StoreError::NotAudited`] when something was written and nothing was audited; otherwise what the
    /// database said. After an error nothing was kept.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// Where units of work come from.
#[async_trait]
pub trait Transactions: Send + Sync {
    /// The store's own transaction; the domains' write ports are implemented on it.
    type Tx: UnitOfWork + 'static;

    /// Begins a transaction.
    ///
    /// # Errors
    /// When no connection can be had.
    async fn begin(&self) -> Result<Self::Tx, StoreError>;

    /// Whether the store answers and its schema is up to date.
    ///
    /// # Errors
    /// What the database said.
    async fn check_ready(&self) -> Result<(), StoreError>;
}

/// What a store may answer instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique value is taken already.
    #[error("a row with this unique value exists already")]
    Duplicate,
    /// A stored row contradicts itself.
    #[error("the stored row {row} of {table} is inconsistent: {what}")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The row's key.
        row: String,
        /// What is wrong with it.
        what: String,
    },
    /// A commit was asked for that wrote something and audited nothing.
    #[error("a transaction that wrote something recorded no audit entry")]
    NotAudited,
    /// The database gave up the transaction in favour of another and asks for it to be run again: a deadlock or a
    /// serialisation failure.
    #[error("the database asks for the transaction to be run again")]
    Contended(#[source] Box<dyn StdError + Send + Sync>),
    /// The database cannot be reached or is overloaded.
    #[error("the database cannot answer now")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// Anything else the database said.
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
                Self::unavailable("unavailable", "The database cannot answer now.")
                    .hint("Try again in a moment.")
                    .caused_by(error)
            }
            StoreError::Duplicate => {
                Self::conflict("conflict", "Somebody made the same thing at the same moment.")
                    .hint("Read it again, then decide.")
                    .caused_by(error)
            }
            StoreError::Inconsistent { .. } | StoreError::NotAudited | StoreError::Failed(_) => {
                Self::internal(error)
            }
        }
    }
}
