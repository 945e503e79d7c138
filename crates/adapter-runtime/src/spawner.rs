//! Starting workers, from a thread of its own.

mod fork_server;

use std::{io, sync::mpsc, thread};

use tokio::{net::unix::pipe, runtime::Handle, sync::oneshot};

use crate::{child::Child, config::RuntimeConfig, process::Process};
use fork_server::Copies;

/// A worker that says nothing yet.
pub(crate) struct Newborn {
    pub(crate) child: Child,
    pub(crate) stdin: pipe::Sender,
    pub(crate) stdout: pipe::Receiver,
}

/// Where workers come from.
pub(crate) trait Nursery: Send + 'static {
    /// Makes one; called inside a tokio runtime, and may block.
    fn worker(&mut self) -> io::Result<Newborn>;

    /// Has the next ones have nothing in common with those before.
    fn renew(&mut self);
}

/// Starts workers from a thread of its own: the system kills a worker when the *thread* that counts as its parent ends,
/// and the threads of the asynchronous runtime come and go.
pub(crate) struct Spawner {
    orders: mpsc::Sender<Order>,
}

enum Order {
    Worker(oneshot::Sender<io::Result<Newborn>>),
    Renew,
}

impl Spawner {
    /// Starts workers as the configuration says. Must be called inside a tokio runtime.
    pub(crate) fn start(config: &RuntimeConfig) -> io::Result<Self> {
        Self::of(Copies::new(config)?)
    }

    /// Has workers come from `nursery`. Must be called inside a tokio runtime.
    pub(crate) fn of(mut nursery: impl Nursery) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (orders, taken) = mpsc::channel();
        thread::Builder::new().name("worker-spawner".into()).spawn(move || {
            let _entered = runtime.enter();
            for order in taken {
                match order {
                    // A caller that has gone away drops the child, which kills it.
                    Order::Worker(taker) => drop(taker.send(nursery.worker())),
                    Order::Renew => nursery.renew(),
                }
            }
        })?;
        Ok(Self { orders })
    }

    /// A new process, ready for its first invocation.
    pub(crate) async fn spawn(&self) -> io::Result<Process> {
        let gone = || io::Error::other("the thread that starts workers has ended");
        let (taker, newborn) = oneshot::channel();
        self.orders.send(Order::Worker(taker)).map_err(|_| gone())?;
        Process::greet(newborn.await.map_err(|_| gone())??).await
    }

    /// Has the next workers be of another make: those of one make have their memory at the same addresses, and whoever
    /// learnt them from a worker that broke must not meet them again.
    pub(crate) fn renew(&self) {
        // Without the thread no worker comes any more.
        let _ = self.orders.send(Order::Renew);
    }
}
