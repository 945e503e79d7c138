//! The transaction that carries a change together with its audit entry.

use async_trait::async_trait;

use crate::{AuditEntry, StoreError, events::Event, mail::OutboxEmail};

/// An open transaction. Dropping it rolls everything back.
#[async_trait]
pub trait UnitOfWork: Send {
    /// Adds an entry to the audit log; it is written when the transaction commits, with the events that report the change
    /// ([`AuditEntry::events`]).
    fn audit(&mut self, entry: AuditEntry);

    /// Puts an e-mail into the outbox; it is written when the transaction commits, and sent after that.
    fn enqueue_email(&mut self, email: OutboxEmail);

    /// Publishes an event to the followers of the workspace; it is written when the transaction commits, and delivered
    /// after that.
    fn publish(&mut self, event: Event);

    /// Commits the transaction durably.
    ///
    /// # Errors
    /// [`StoreError::NotAudited`] when the transaction wrote something and audited nothing, [`StoreError::NotReportable`]
    /// when what it wrote cannot be reported; otherwise the error of the database. After an error nothing is kept.
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
