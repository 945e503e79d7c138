//! Starting workers, from a thread of its own.

mod fork_server;

use std::{io, sync::mpsc, thread};

use tokio::{net::unix::pipe, runtime::Handle, sync::oneshot};

use crate::{child_process::ChildProcess, config::RuntimeConfig, worker_process::WorkerProcess};
use fork_server::ForkServer;

/// A worker that says nothing yet.
pub(crate) struct SpawnedWorker {
    pub(crate) child: ChildProcess,
    pub(crate) stdin: pipe::Sender,
    pub(crate) stdout: pipe::Receiver,
}

/// Where workers come from.
pub(crate) trait WorkerFactory: Send + 'static {
    /// Makes one; called inside a tokio runtime, and may block.
    fn spawn_worker(&mut self) -> io::Result<SpawnedWorker>;

    /// Has the next ones have nothing in common with those before.
    fn recycle(&mut self);
}

/// Starts workers from a thread of its own: the system kills a worker when the *thread* that counts as its parent ends,
/// and the threads of the asynchronous runtime come and go.
pub(crate) struct Spawner {
    requests: mpsc::Sender<SpawnRequest>,
}

enum SpawnRequest {
    Spawn(oneshot::Sender<io::Result<SpawnedWorker>>),
    Recycle,
}

impl Spawner {
    /// Starts workers as the configuration says. Must be called inside a tokio runtime.
    pub(crate) fn start(config: &RuntimeConfig) -> io::Result<Self> {
        Self::with_factory(ForkServer::new(config)?)
    }

    /// Has workers come from `nursery`. Must be called inside a tokio runtime.
    pub(crate) fn with_factory(mut factory: impl WorkerFactory) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (orders, received) = mpsc::channel();
        thread::Builder::new().name("worker-spawner".into()).spawn(move || {
            let _entered = runtime.enter();
            for order in received {
                match order {
                    // A caller that has gone away drops the child, which kills it.
                    SpawnRequest::Spawn(taker) => drop(taker.send(factory.spawn_worker())),
                    SpawnRequest::Recycle => factory.recycle(),
                }
            }
        })?;
        Ok(Self { requests: orders })
    }

    /// A new process, ready for its first invocation.
    pub(crate) async fn spawn(&self) -> io::Result<WorkerProcess> {
        let gone = || io::Error::other("the thread that starts workers has ended");
        let (reply, newborn) = oneshot::channel();
        self.requests.send(SpawnRequest::Spawn(reply)).map_err(|_| gone())?;
        WorkerProcess::handshake(newborn.await.map_err(|_| gone())??).await
    }

    /// Has the next workers be of another make: those of one make have their memory at the same addresses, and whoever
    /// learnt them from a worker that broke must not meet them again.
    pub(crate) fn recycle(&self) {
        // Without the thread no worker comes any more.
        let _ = self.requests.send(SpawnRequest::Recycle);
    }
}
