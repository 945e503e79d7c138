//! The thread that starts workers.

use std::{env, io, sync::mpsc, thread};

use process_snapshot::{ForkServer, ForkedProcess};
use tokio::{runtime::Handle, sync::oneshot};

use crate::{config::RuntimeConfig, worker_process::WorkerProcess};

/// A source of worker processes.
pub(crate) trait WorkerFactory: Send + 'static {
    /// Starts a worker that has not spoken yet. Called inside a tokio runtime; may block.
    fn spawn_worker(&mut self) -> io::Result<ForkedProcess>;

    /// Replaces the process that workers are copied from, so that new workers get another address-space layout.
    fn recycle(&mut self);
}

impl WorkerFactory for ForkServer {
    fn spawn_worker(&mut self) -> io::Result<ForkedProcess> {
        self.fork()
    }

    fn recycle(&mut self) {
        ForkServer::recycle(self);
    }
}

/// Starts workers from a thread of its own: the kernel kills a worker when the *thread* that counts as its parent ends, and
/// the threads of the asynchronous runtime come and go.
pub(crate) struct Spawner {
    requests: mpsc::Sender<SpawnRequest>,
}

enum SpawnRequest {
    Spawn(oneshot::Sender<io::Result<ForkedProcess>>),
    Recycle,
}

impl Spawner {
    /// Starts workers of the configured program. Must be called inside a tokio runtime.
    pub(crate) fn start(config: &RuntimeConfig) -> io::Result<Self> {
        let program = match &config.program {
            Some(program) => program.clone(),
            None => env::current_exe()?,
        };
        Self::with_factory(ForkServer::new(program, config.arguments.clone()))
    }

    /// Starts workers of `factory`. Must be called inside a tokio runtime.
    pub(crate) fn with_factory(mut factory: impl WorkerFactory) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (requests, received) = mpsc::channel();
        thread::Builder::new().name("worker-spawner".into()).spawn(move || {
            let _entered = runtime.enter();
            for request in received {
                match request {
                    // A caller that has gone away drops the child, which kills it.
                    SpawnRequest::Spawn(reply) => drop(reply.send(factory.spawn_worker())),
                    SpawnRequest::Recycle => factory.recycle(),
                }
            }
        })?;
        Ok(Self { requests })
    }

    /// Starts a process and waits until it is ready for its first invocation.
    pub(crate) async fn spawn(&self) -> io::Result<WorkerProcess> {
        let gone = || io::Error::other("the thread that starts workers has ended");
        let (reply, process) = oneshot::channel();
        self.requests.send(SpawnRequest::Spawn(reply)).map_err(|_| gone())?;
        WorkerProcess::handshake(process.await.map_err(|_| gone())??).await
    }

    /// Gives the next workers another address-space layout: code that learnt addresses from a worker that it broke must not
    /// meet them again.
    pub(crate) fn recycle(&self) {
        // Without the thread no worker comes any more.
        let _ = self.requests.send(SpawnRequest::Recycle);
    }
}
