//! One worker process, as the parent holds it. Dropping it kills it.

use std::{
    collections::VecDeque,
    io,
    process::{ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use bytes::BytesMut;
use futures::StreamExt as _;
use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    runtime::Handle,
    sync::oneshot,
    time::timeout,
};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use crate::{
    config::RuntimeConfig,
    protocol::{Confinement, FromWorker, MAX_FRAME, Version},
};

/// How long a process may take to start.
const START: Duration = Duration::from_secs(10);
/// Versions a worker keeps compiled.
const KEPT_VERSIONS: usize = 16;

/// A running worker.
pub(crate) struct Process {
    child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) frames: FramedRead<ChildStdout, LengthDelimitedCodec>,
    /// Bytes on their way to the worker; a frame that was begun must be finished, so it outlives an invocation.
    pub(crate) outgoing: BytesMut,
    /// The versions it has, least recently used first.
    versions: VecDeque<Version>,
    pub(crate) confinement: Confinement,
}

impl Process {
    async fn greet(mut child: Child) -> io::Result<Self> {
        let missing = || io::Error::other("the worker has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let mut frames = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(4)
            .max_frame_length(MAX_FRAME)
            .new_read(stdout);
        let greeting = timeout(START, frames.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let Some(greeting) = greeting else {
            let status = child.wait().await?;
            return Err(io::Error::other(format!("the worker ended before it was ready: {status}")));
        };
        match postcard::from_bytes(&greeting?) {
            Ok(FromWorker::Ready(confinement)) => Ok(Self {
                child,
                stdin,
                frames,
                outgoing: BytesMut::new(),
                versions: VecDeque::new(),
                confinement,
            }),
            _ => Err(io::Error::other("the program is no worker of this version")),
        }
    }

    /// Whether the process still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The operating system's number of the process.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// How the process ended, once its output has.
    pub(crate) async fn ended(&mut self) -> Option<ExitStatus> {
        timeout(Duration::from_secs(1), self.child.wait()).await.ok()?.ok()
    }

    /// Whether the worker has the version; if so it is now the most recently used.
    pub(crate) fn touch(&mut self, version: Version) -> bool {
        let at = self.versions.iter().position(|known| *known == version);
        if let Some(version) = at.and_then(|at| self.versions.remove(at)) {
            self.versions.push_back(version);
        }
        at.is_some()
    }

    /// The version to give up before another is sent.
    pub(crate) fn make_room(&mut self) -> Option<Version> {
        if self.versions.len() < KEPT_VERSIONS { None } else { self.versions.pop_front() }
    }

    /// Remembers what the worker says it kept.
    pub(crate) fn kept(&mut self, version: Version, kept: bool) {
        if !self.touch(version) && kept {
            self.versions.push_back(version);
        } else if !kept {
            self.versions.retain(|known| *known != version);
        }
    }
}

/// Starts workers from a thread of its own: the system kills a worker when the *thread* that made it ends, and
/// the threads of the asynchronous runtime come and go.
pub(crate) struct Spawner {
    orders: mpsc::Sender<oneshot::Sender<io::Result<Child>>>,
}

impl Spawner {
    pub(crate) fn start(config: &RuntimeConfig) -> io::Result<Self> {
        let program = match &config.program {
            Some(program) => program.clone(),
            None => std::env::current_exe()?,
        };
        let arguments = config.arguments.clone();
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (orders, taken) = mpsc::channel::<oneshot::Sender<io::Result<Child>>>();
        thread::Builder::new().name("worker-spawner".into()).spawn(move || {
            let _entered = runtime.enter();
            for order in taken {
                let mut command = Command::new(&program);
                // UTC without a file of time zones; nothing else of our environment concerns app code.
                command
                    .args(&arguments)
                    .env_clear()
                    .env("TZ", "UTC0")
                    .current_dir("/")
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .kill_on_drop(true);
                // A caller that has gone away drops the child, which kills it.
                let _ = order.send(command.spawn());
            }
        })?;
        Ok(Self { orders })
    }

    /// A new process, ready for its first invocation.
    pub(crate) async fn spawn(&self) -> io::Result<Process> {
        let gone = || io::Error::other("the thread that starts workers has ended");
        let (order, child) = oneshot::channel();
        self.orders.send(order).map_err(|_| gone())?;
        Process::greet(child.await.map_err(|_| gone())??).await
    }
}
