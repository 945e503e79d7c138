//! Cost of the group commit itself: what an operation takes when writing it takes nothing.
//!
//! `cargo bench -p group-commit`. Prints medians; there are no thresholds, since they would measure the machine.

#![allow(
    clippy::allow_attributes,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints what it measured, and stops at any error"
)]

use std::{
    convert::Infallible,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use group_commit::{BatchWriter, DurabilityWaiter, FsyncQueue, GroupCommit, Reply};

const ROUNDS: usize = 21;
const OPERATIONS: usize = 20_000;
const CALLERS: [usize; 3] = [1, 16, 256];

struct Op(u64, Reply<u64>);

/// Writes nothing; replies at once, or after a sync that takes no time.
struct NoWriter(Option<FsyncQueue>);

impl BatchWriter for NoWriter {
    type Op = Op;
    type Outcome = ();
    type Error = Infallible;

    async fn write(&mut self, _: &[Op]) -> Result<(), Infallible> {
        Ok(())
    }

    fn reply(&mut self, ops: impl Iterator<Item = Op>, (): ()) -> Option<DurabilityWaiter> {
        if self.0.is_none() {
            ops.for_each(|Op(number, reply)| {
                let _ = reply.send(number);
            });
            return None;
        }
        let ops: Vec<Op> = ops.collect();
        Some(Box::new(move |_| {
            ops.into_iter().for_each(|Op(number, reply)| {
                let _ = reply.send(number);
            });
        }))
    }

    fn on_durable(&self, waiter: DurabilityWaiter) {
        match &self.0 {
            Some(queue) => queue.enqueue(waiter),
            None => waiter(Ok(())),
        }
    }

    fn fail(_: Op, error: &Infallible) {
        match *error {}
    }

    fn is_unavailable(error: &Infallible) -> bool {
        match *error {}
    }
}

async fn round(handle: &Arc<GroupCommit<Op>>, callers: usize) -> Duration {
    let begin = Instant::now();
    let each = OPERATIONS / callers;
    let tasks: Vec<_> = (0..callers as u64)
        .map(|key| {
            let handle = Arc::clone(handle);
            tokio::spawn(async move {
                for number in 0..each as u64 {
                    handle.submit(key, |reply| Op(number, reply)).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    begin.elapsed() / (each * callers) as u32
}

async fn measure(name: &str, handle: GroupCommit<Op>) {
    let handle = Arc::new(handle);
    for callers in CALLERS {
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            times.push(round(&handle, callers).await);
        }
        times.sort_unstable();
        println!("{name}, {callers} callers: {:?} an operation", times[ROUNDS / 2]);
    }
}

fn sync_nothing() -> io::Result<()> {
    Ok(())
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let (handle, mut queues) = GroupCommit::new(1);
        tokio::spawn(queues.remove(0).run(NoWriter(None)));
        measure("a task", handle).await;
        let (handle, mut queues) = GroupCommit::new(1);
        queues.remove(0).spawn_thread("writer", NoWriter(None)).unwrap();
        measure("a thread", handle).await;
        let (handle, mut queues) = GroupCommit::new(1);
        let writer = NoWriter(Some(FsyncQueue::start(sync_nothing).unwrap()));
        queues.remove(0).spawn_thread("writer", writer).unwrap();
        measure("a thread, and one that syncs", handle).await;
    });
}
