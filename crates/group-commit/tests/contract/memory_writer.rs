//! A writer whose database is a list.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, FutureExt as _};
use group_commit::{BatchWriter, DurabilityWaiter, GroupCommit, OpQueue, Reply, WriterStopped};
use tokio::{
    sync::Semaphore,
    task::{JoinHandle, unconstrained},
};

/// Outcome of an operation when it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is written.
    Good,
    /// It can never be written.
    Bad,
    /// The database is unavailable.
    Unavailable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("it cannot be written")]
    Bad,
    #[error("the database is unavailable")]
    Unavailable,
    #[error("the disk failed")]
    NotDurable,
}

/// An operation; its result is its own number.
pub(crate) struct Op {
    pub(crate) number: u32,
    pub(crate) fate: Fate,
    pub(crate) reply: Reply<Result<u32, WriteError>>,
}

/// Observations of a writer, and the permits with which a test lets it write.
pub(crate) struct Shared {
    /// Numbers of each batch that was tried.
    pub(crate) tried: Mutex<Vec<Vec<u32>>>,
    /// Numbers of everything that was written.
    pub(crate) written: Mutex<Vec<u32>>,
    /// Has a permit for each batch that the writer has got.
    pub(crate) begun: Semaphore,
    /// Batches that may be tried.
    pub(crate) permits: Semaphore,
    /// Those who wait for the disk; `None` if that never takes any time.
    pub(crate) waiters: Mutex<Option<Vec<DurabilityWaiter>>>,
}

impl Shared {
    /// Tries batches without being told to, on a disk that takes no time.
    pub(crate) fn running() -> Arc<Self> {
        Arc::new(Self {
            tried: Mutex::default(),
            written: Mutex::default(),
            begun: Semaphore::new(0),
            permits: Semaphore::new(Semaphore::MAX_PERMITS / 2),
            waiters: Mutex::default(),
        })
    }

    /// Tries a batch for each permit that the test adds.
    pub(crate) fn paused() -> Arc<Self> {
        let shared = Self::running();
        shared.permits.forget_permits(Semaphore::MAX_PERMITS);
        shared
    }

    pub(crate) fn batch_sizes(&self) -> Vec<usize> {
        self.tried.lock().unwrap().iter().map(Vec::len).collect()
    }
}

pub(crate) struct MemoryWriter(pub(crate) Arc<Shared>);

impl BatchWriter for MemoryWriter {
    type Op = Op;
    type Outcome = Vec<u32>;
    type Error = WriteError;

    async fn write(&mut self, ops: &[Op]) -> Result<Vec<u32>, WriteError> {
        self.0.begun.add_permits(1);
        self.0.permits.acquire().await.unwrap().forget();
        let numbers: Vec<u32> = ops.iter().map(|op| op.number).collect();
        self.0.tried.lock().unwrap().push(numbers.clone());
        for op in ops {
            match op.fate {
                Fate::Good => {}
                Fate::Bad => return Err(WriteError::Bad),
                Fate::Unavailable => return Err(WriteError::Unavailable),
            }
        }
        self.0.written.lock().unwrap().extend(&numbers);
        Ok(numbers)
    }

    fn reply(&mut self, ops: impl Iterator<Item = Op>, numbers: Vec<u32>) -> Option<DurabilityWaiter> {
        let replies: Vec<_> = ops.map(|op| op.reply).zip(numbers).collect();
        Some(Box::new(move |durable| {
            for (reply, number) in replies {
                let _ = reply.send(durable.map(|()| number).map_err(|_| WriteError::NotDurable));
            }
        }))
    }

    fn on_durable(&self, waiter: DurabilityWaiter) {
        match &mut *self.0.waiters.lock().unwrap() {
            Some(waiters) => waiters.push(waiter),
            None => waiter(Ok(())),
        }
    }

    fn fail(op: Op, error: &WriteError) {
        let _ = op.reply.send(Err(*error));
    }

    fn is_unavailable(error: &WriteError) -> bool {
        *error == WriteError::Unavailable
    }
}

/// A handle on one writer, with its task.
pub(crate) fn start(shared: &Arc<Shared>) -> (Arc<GroupCommit<Op>>, JoinHandle<()>) {
    let (handle, mut queues) = GroupCommit::new(1);
    (Arc::new(handle), run(queues.remove(0), shared))
}

pub(crate) fn run(queue: OpQueue<Op>, shared: &Arc<Shared>) -> JoinHandle<()> {
    tokio::spawn(queue.run(MemoryWriter(Arc::clone(shared))))
}

pub(crate) type OpResult = Result<Result<u32, WriteError>, WriterStopped>;

/// Submits an operation by the key 0.
pub(crate) fn submit(handle: &Arc<GroupCommit<Op>>, number: u32, fate: Fate) -> BoxFuture<'static, OpResult> {
    submit_by(handle, 0, number, fate)
}

pub(crate) fn submit_by(
    handle: &Arc<GroupCommit<Op>>,
    key: u8,
    number: u32,
    fate: Fate,
) -> BoxFuture<'static, OpResult> {
    let handle = Arc::clone(handle);
    // Outside of tokio's budget: a test submits more at once than a task may do between two turns.
    unconstrained(async move { handle.submit(key, |reply| Op { number, fate, reply }).await }).boxed()
}
