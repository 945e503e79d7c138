//! One worker process, as the parent holds it. Dropping it kills it.

use std::{collections::VecDeque, io, process::ExitStatus, time::Duration};

use bytes::BytesMut;
use futures::StreamExt as _;
use tokio::{net::unix::pipe, time::timeout};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use crate::{
    child::Child,
    protocol::{Confinement, FromWorker, MAX_FRAME, Version},
    spawner::Newborn,
};

/// How long a process may take until it is ready.
const START: Duration = Duration::from_secs(10);
/// Versions a worker keeps compiled.
const KEPT_VERSIONS: usize = 16;

/// A running worker.
pub(crate) struct Process {
    child: Child,
    pub(crate) stdin: pipe::Sender,
    pub(crate) frames: FramedRead<pipe::Receiver, LengthDelimitedCodec>,
    /// Bytes on their way to the worker; a frame that was begun must be finished, so it outlives an invocation.
    pub(crate) outgoing: BytesMut,
    /// The versions it has, least recently used first.
    versions: VecDeque<Version>,
    pub(crate) confinement: Confinement,
    /// Whether its priority was lowered.
    has_low_priority: bool,
}

impl Process {
    /// Waits until a new worker says what holds it in.
    pub(crate) async fn greet(newborn: Newborn) -> io::Result<Self> {
        let Newborn { child, stdin, stdout } = newborn;
        let mut frames = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(4)
            .max_frame_length(MAX_FRAME)
            .new_read(stdout);
        let greeting = timeout(START, frames.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let Some(greeting) = greeting else {
            let how = child.ended().await.map_or_else(String::new, |status| format!(": {status}"));
            return Err(io::Error::other(format!("the worker ended before it was ready{how}")));
        };
        match postcard::from_bytes(&greeting?) {
            Ok(FromWorker::Ready(confinement)) => Ok(Self {
                child,
                stdin,
                frames,
                outgoing: BytesMut::new(),
                versions: VecDeque::new(),
                confinement,
                has_low_priority: false,
            }),
            _ => Err(io::Error::other("the program is no worker of this version")),
        }
    }

    /// Whether the process still runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.child.is_alive()
    }

    /// The processor time that it has used in all its invocations; none when it is gone.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.child.cpu_time()
    }

    /// Has the kernel run every other process first, for the rest of this one's life.
    pub(crate) fn lower_priority(&mut self) {
        if !std::mem::replace(&mut self.has_low_priority, true)
            && let Err(error) = self.child.lower_priority()
        {
            tracing::debug!(%error, "a worker that computes for long keeps its priority");
        }
    }

    /// Whether the priority was lowered. Such a process is given no other invocation, which may be a short one.
    pub(crate) fn has_low_priority(&self) -> bool {
        self.has_low_priority
    }

    /// The operating system's number of the process.
    pub(crate) fn id(&self) -> i32 {
        self.child.id()
    }

    /// How the process ended, once its output has.
    pub(crate) async fn ended(&self) -> Option<ExitStatus> {
        self.child.ended().await
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
