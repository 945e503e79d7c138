//! Queues of operations, the handle that fills them, and the loop that works one off.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    io, slice, thread,
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};
use tracing::Instrument as _;

use crate::BatchWriter;

/// Operations that share one transaction; at most.
pub const MAX_BATCH_OPS: usize = 128;
/// Operations that may wait for a writer before senders do.
pub const QUEUE_CAPACITY: usize = 1024;
/// Linger per round; shorter than a runtime timer can be.
const LINGER: Duration = Duration::from_micros(60);

/// The channel of an operation's result.
pub type Reply<R> = oneshot::Sender<R>;

/// The writer ended, with the operation unanswered: it may or may not have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store is stopping")]
pub struct WriterStopped;

/// The handle of one or more queues. Its writers end once it is dropped and everything that was queued is written.
#[derive(Debug)]
pub struct GroupCommit<Op> {
    queues: Vec<mpsc::Sender<Op>>,
}

/// The operations that wait for one writer.
#[derive(Debug)]
pub struct OpQueue<Op> {
    ops: mpsc::Receiver<Op>,
}

impl<Op: Send + 'static> GroupCommit<Op> {
    /// Returns a handle with this many queues, at least one. Each queue needs a writer.
    #[must_use]
    pub fn new(queues: usize) -> (Self, Vec<OpQueue<Op>>) {
        let (queues, receivers) = (0..queues.max(1))
            .map(|_| {
                let (sender, ops) = mpsc::channel(QUEUE_CAPACITY);
                (sender, OpQueue { ops })
            })
            .unzip();
        (Self { queues }, receivers)
    }

    /// Hands an operation to the writer that `key` always uses, and waits for its result.
    ///
    /// Waits for room first if that writer is [`QUEUE_CAPACITY`] operations behind. A caller that is dropped from then on
    /// gets no result; its operation is written all the same.
    ///
    /// # Errors
    /// Fails if the writer ended.
    pub async fn submit<R>(
        &self,
        key: impl Hash,
        op: impl FnOnce(Reply<R>) -> Op,
    ) -> Result<R, WriterStopped> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let index = (hasher.finish() % self.queues.len() as u64) as usize;
        let (reply, result) = oneshot::channel();
        self.queues[index].send(op(reply)).await.map_err(|_| WriterStopped)?;
        result.await.map_err(|_| WriterStopped)
    }
}

impl<Op: Send + 'static> OpQueue<Op> {
    /// Starts a thread on which `writer` works the queue off.
    ///
    /// Must be called on a tokio runtime; the thread enters it.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    pub fn spawn_thread<W>(self, name: &str, writer: W) -> io::Result<()>
    where
        W: BatchWriter<Op = Op> + Send + 'static,
    {
        let runtime = Handle::current();
        thread::Builder::new().name(name.to_owned()).spawn(move || runtime.block_on(self.run(writer)))?;
        Ok(())
    }

    /// Writes what is queued, batch after batch, until the handle is dropped and the queue is empty.
    pub async fn run<W: BatchWriter<Op = Op>>(mut self, mut writer: W) {
        let mut batch = Vec::with_capacity(MAX_BATCH_OPS);
        let mut previous_len = 1;
        while self.ops.recv_many(&mut batch, MAX_BATCH_OPS).await > 0 {
            self.linger(&mut batch, previous_len, W::LINGER_ROUNDS);
            previous_len = batch.len();
            if let Err(error) = write_batch(&mut writer, &mut batch).await {
                retry_one_by_one(&mut writer, &mut batch, error).await;
            }
        }
    }

    /// Waits a moment for as many operations as came the last time. Callers who were just answered ask again at once, and
    /// would otherwise each pay for a commit; a caller who is alone waits for nobody.
    #[expect(clippy::disallowed_methods, reason = "what it waits for is that nobody comes any more")]
    fn linger(&mut self, batch: &mut Vec<Op>, target_len: usize, rounds: u32) {
        for _ in 0..rounds {
            if batch.len() >= target_len {
                return;
            }
            thread::sleep(LINGER);
            while batch.len() < MAX_BATCH_OPS
                && let Ok(op) = self.ops.try_recv()
            {
                batch.push(op);
            }
        }
    }
}

/// Writes all of `batch` and replies; an error leaves the batch as it is.
async fn write_batch<W: BatchWriter>(writer: &mut W, batch: &mut Vec<W::Op>) -> Result<(), W::Error> {
    let span = tracing::trace_span!("group_commit", operations = batch.len());
    let outcome = writer.write(batch).instrument(span).await?;
    reply(writer, batch.drain(..), outcome);
    Ok(())
}

fn reply<W: BatchWriter>(writer: &mut W, ops: impl Iterator<Item = W::Op>, outcome: W::Outcome) {
    if let Some(waiter) = writer.reply(ops, outcome) {
        writer.on_durable(waiter);
    }
}

/// Writes a batch that failed operation by operation, so that one that cannot be written spoils no other.
async fn retry_one_by_one<W: BatchWriter>(writer: &mut W, batch: &mut Vec<W::Op>, error: W::Error) {
    // Alone, each would wait as long for a database that cannot be written to.
    if batch.len() == 1 || W::is_unavailable(&error) {
        batch.drain(..).for_each(|op| W::fail(op, &error));
        return;
    }
    tracing::warn!(
        error = &error as &dyn std::error::Error,
        operations = batch.len(),
        "a batch failed; its operations are tried one by one"
    );
    let mut unavailable = None;
    for op in batch.drain(..) {
        // The others would each wait as long for a database that cannot be written to.
        if let Some(error) = &unavailable {
            W::fail(op, error);
            continue;
        }
        match writer.write(slice::from_ref(&op)).await {
            Ok(outcome) => reply(writer, std::iter::once(op), outcome),
            Err(error) => {
                W::fail(op, &error);
                unavailable = Some(error).filter(W::is_unavailable);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue_of(waiting: usize) -> OpQueue<usize> {
        let (sender, ops) = mpsc::channel(QUEUE_CAPACITY);
        (0..waiting).for_each(|number| sender.try_send(number).unwrap());
        OpQueue { ops }
    }

    #[test]
    fn a_batch_as_long_as_the_last_one_waits_for_nobody() {
        let mut batch = vec![0];
        queue_of(5).linger(&mut batch, 1, 2);
        assert_eq!(batch.len(), 1);
        queue_of(5).linger(&mut batch, 9, 0);
        assert_eq!(batch.len(), 1, "this writer never lingers");
    }

    #[test]
    fn a_shorter_batch_takes_what_comes_meanwhile() {
        let mut batch = vec![0];
        queue_of(5).linger(&mut batch, 2, 2);
        assert_eq!(batch.len(), 6);
        queue_of(QUEUE_CAPACITY).linger(&mut batch, 7, 2);
        assert_eq!(batch.len(), MAX_BATCH_OPS);
    }
}
