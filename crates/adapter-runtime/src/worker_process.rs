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
use process_snapshot::{ChildProcess, ForkedProcess, Priority};
use tokio::{net::unix::pipe, time::timeout};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use crate::{
    cooperative_reader::CooperativeReader,
    cpu_usage::CpuUsage,
    protocol::{Confinement, FromWorker, MAX_FRAME, VersionKey},
};

/// How long a process may take until it is ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Versions a worker keeps compiled.
const MAX_CACHED_VERSIONS: usize = 16;

/// A running worker.
pub(crate) struct WorkerProcess {
    child: ChildProcess,
    pub(crate) stdin: pipe::Sender,
    pub(crate) frames: FramedRead<CooperativeReader<pipe::Receiver>, LengthDelimitedCodec>,
    /// Bytes on their way to the worker; a frame that was begun must be finished, so it outlives an invocation.
    pub(crate) outgoing: BytesMut,
    /// The versions it has, least recently used first.
    cached_versions: VecDeque<VersionKey>,
    pub(crate) confinement: Confinement,
    priority: Priority,
    /// The account charged for its processor time; none before it has seen a workspace.
    account: Option<CpuAccount>,
}

/// The processor time of a process, as its workspace is charged for it.
struct CpuAccount {
    usage: Arc<CpuUsage>,
    workspace: WorkspaceId,
    charged_cpu_time: Duration,
}

impl WorkerProcess {
    /// Waits until a new worker says what holds it in.
    pub(crate) async fn handshake(process: ForkedProcess) -> io::Result<Self> {
        let ForkedProcess { child, stdin, stdout } = process;
        let mut frames = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(4)
            .max_frame_length(MAX_FRAME)
            .new_read(CooperativeReader::new(stdout));
        let first_frame = timeout(START_TIMEOUT, frames.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let Some(greeting) = first_frame else {
            let how = child.wait_exit_status().await.map_or_else(String::new, |status| format!(": {status}"));
            return Err(io::Error::other(format!("the worker ended before it was ready{how}")));
        };
        match FromWorker::decode(&greeting?.freeze()) {
            Some(FromWorker::Ready(confinement)) => Ok(Self {
                child,
                stdin,
                frames,
                outgoing: BytesMut::new(),
                cached_versions: VecDeque::new(),
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
    pub(crate) fn bind_workspace(&mut self, usage: &Arc<CpuUsage>, workspace: WorkspaceId) {
        let account = || CpuAccount { usage: Arc::clone(usage), workspace, charged_cpu_time: Duration::ZERO };
        self.account.get_or_insert_with(account);
    }

    /// The processor time that it has used in all its invocations, which its workspace is charged for; none when it is
    /// gone.
    pub(crate) fn charge_cpu_time(&mut self) -> Option<Duration> {
        let used = self.child.cpu_time()?;
        if let Some(CpuAccount { usage, workspace, charged_cpu_time: charged }) = &mut self.account {
            usage.record(*workspace, used.saturating_sub(*charged), Instant::now());
            *charged = used;
        }
        Some(used)
    }

    /// Has it go on after all others, for the rest of its life, where its workspace is over its share.
    pub(crate) fn enforce_fair_share(&mut self) {
        let over = |account: &CpuAccount| account.usage.is_over_share(account.workspace, Instant::now());
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
    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// How the process ended, once its output has.
    pub(crate) async fn wait_exit_status(&self) -> Option<ExitStatus> {
        self.child.wait_exit_status().await
    }

    /// Whether the worker has the version; if so it is now the most recently used.
    pub(crate) fn touch_version(&mut self, version: VersionKey) -> bool {
        let at = self.cached_versions.iter().position(|known| *known == version);
        if let Some(version) = at.and_then(|at| self.cached_versions.remove(at)) {
            self.cached_versions.push_back(version);
        }
        at.is_some()
    }

    /// The version to give up before another is sent.
    pub(crate) fn evict_lru_version(&mut self) -> Option<VersionKey> {
        if self.cached_versions.len() < MAX_CACHED_VERSIONS { None } else { self.cached_versions.pop_front() }
    }

    /// Remembers what the worker says it kept.
    pub(crate) fn record_cached(&mut self, version: VersionKey, kept: bool) {
        if !self.touch_version(version) && kept {
            self.cached_versions.push_back(version);
        } else if !kept {
            self.cached_versions.retain(|known| *known != version);
        }
    }
}

impl Drop for WorkerProcess {
    /// Whoever goes away early has the code stopped, and pays for it.
    fn drop(&mut self) {
        self.charge_cpu_time();
    }
}
