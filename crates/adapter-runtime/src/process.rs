//! One worker process, as the parent holds it. Dropping it kills it.

use std::{
    collections::VecDeque,
    io,
    process::ExitStatus,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use futures::StreamExt as _;
use kernel::id::WorkspaceId;
use tokio::{net::unix::pipe, time::timeout};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use crate::{
    child::{Child, Priority},
    in_turns::InTurns,
    pool::Usage,
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
    pub(crate) frames: FramedRead<InTurns<pipe::Receiver>, LengthDelimitedCodec>,
    /// Bytes on their way to the worker; a frame that was begun must be finished, so it outlives an invocation.
    pub(crate) outgoing: BytesMut,
    /// The versions it has, least recently used first.
    versions: VecDeque<Version>,
    pub(crate) confinement: Confinement,
    priority: Priority,
    /// The account charged for its processor time; none before it has seen a workspace.
    account: Option<Account>,
}

/// The processor time of a process, as its workspace is charged for it.
struct Account {
    usage: Arc<Usage>,
    workspace: WorkspaceId,
    charged: Duration,
}

impl Process {
    /// Waits until a new worker says what holds it in.
    pub(crate) async fn greet(newborn: Newborn) -> io::Result<Self> {
        let Newborn { child, stdin, stdout } = newborn;
        let mut frames = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(4)
            .max_frame_length(MAX_FRAME)
            .new_read(InTurns::new(stdout));
        let greeting = timeout(START, frames.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let Some(greeting) = greeting else {
            let how = child.ended().await.map_or_else(String::new, |status| format!(": {status}"));
            return Err(io::Error::other(format!("the worker ended before it was ready{how}")));
        };
        match FromWorker::read(&greeting?.freeze()) {
            Some(FromWorker::Ready(confinement)) => Ok(Self {
                child,
                stdin,
                frames,
                outgoing: BytesMut::new(),
                versions: VecDeque::new(),
                confinement,
                priority: Priority::Normal,
                account: None,
            }),
            _ => Err(io::Error::other("the program is no worker of this version")),
        }
    }

    /// Whether the process still runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.child.is_alive()
    }

    /// Has a workspace pay for the processor time, that of the start included.
    pub(crate) fn bind(&mut self, usage: &Arc<Usage>, workspace: WorkspaceId) {
        let account = || Account { usage: Arc::clone(usage), workspace, charged: Duration::ZERO };
        self.account.get_or_insert_with(account);
    }

    /// The processor time that it has used in all its invocations, which its workspace is charged for; none when it is
    /// gone.
    pub(crate) fn charge(&mut self) -> Option<Duration> {
        let used = self.child.cpu_time()?;
        if let Some(Account { usage, workspace, charged }) = &mut self.account {
            usage.add(*workspace, used.saturating_sub(*charged), Instant::now());
            *charged = used;
        }
        Some(used)
    }

    /// Has it go on after all others, for the rest of its life, where its workspace is over its share.
    pub(crate) fn keep_to_share(&mut self) {
        let over = |account: &Account| account.usage.is_over_share(account.workspace, Instant::now());
        if self.account.as_ref().is_some_and(over) {
            self.lower_priority(Priority::Idle);
        }
    }

    /// Lowers the priority, for the rest of its life.
    pub(crate) fn lower_priority(&mut self, priority: Priority) {
        if priority <= self.priority {
            return;
        }
        self.priority = priority;
        if let Err(error) = self.child.lower_priority(priority) {
            tracing::debug!(%error, "a worker keeps its priority");
        }
    }

    /// Returns true if the priority was lowered. Such a process serves a workspace only while that is over its share.
    pub(crate) fn has_low_priority(&self) -> bool {
        self.priority != Priority::Normal
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

impl Drop for Process {
    /// Whoever goes away early has the code stopped, and pays for it.
    fn drop(&mut self) {
        self.charge();
    }
}
