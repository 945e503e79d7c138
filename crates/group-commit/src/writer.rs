//! The port to a database: writing batches, replying, and waiting for the disk.

use std::error::Error;

use crate::DurabilityWaiter;

/// A writer of batches, on one database.
///
/// A writer is owned by one [`OpQueue`](crate::OpQueue), which writes one batch at a time.
pub trait BatchWriter {
    /// An operation, with the channels of its result.
    type Op: Send + 'static;

    /// Outcome of a batch: what its callers are replied.
    type Outcome;

    /// Reason why a batch was not written.
    type Error: Error + 'static;

    /// Times that the writer lingers for more operations, 60 µs each. Lingering blocks the thread: none, unless the writer
    /// has a thread of its own.
    const LINGER_ROUNDS: u32 = 0;

    /// Writes all of a batch in one transaction, or nothing of it.
    ///
    /// `ops` has one operation at least. An error promises that nothing of the batch was written, since its operations
    /// are then tried one by one, unless it [is one of the database](Self::is_unavailable): then nothing is tried again, and
    /// the batch may have been written, as when a connection is cut before it confirms a commit. If the future is dropped,
    /// the transaction must be rolled back.
    fn write(&mut self, ops: &[Self::Op]) -> impl Future<Output = Result<Self::Outcome, Self::Error>>;

    /// Replies to the callers of a batch that was written.
    ///
    /// Replies at once with results that only this process goes on with, if there are any. Results that callers outside
    /// rely on are left to the returned waiter, which [`Self::on_durable`] gets next.
    fn reply(
        &mut self,
        ops: impl Iterator<Item = Self::Op>,
        outcome: Self::Outcome,
    ) -> Option<DurabilityWaiter>;

    /// Calls `waiter` once everything that was written until now survives a loss of power, or is known not to. Waiters are
    /// called in the order in which they came.
    fn on_durable(&self, waiter: DurabilityWaiter);

    /// Replies to one caller with the error of its operation.
    fn fail(op: Self::Op, error: &Self::Error);

    /// `true` if every other operation would fail in the same way now, after the same wait.
    fn is_unavailable(error: &Self::Error) -> bool;
}
