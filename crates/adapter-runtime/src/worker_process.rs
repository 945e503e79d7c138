//! A worker process as the parent holds it.

use std::{
    collections::VecDeque,
    io,
    process::ExitStatus,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use futures::StreamExt as _;
use kernel::ShareId;
use process_snapshot::{ChildProcess, ForkedProcess, Priority};
use runs::engine::{BundleDigest, Host};
use tokio::{net::unix::pipe, time::timeout};
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

use crate::{
    cooperative_reader::CooperativeReader,
    cpu_usage::CpuUsage,
    program_build::ProgramBuild,
    protocol::{Confinement, FromWorker, MAX_FRAME, ToWorker, encode_frame},
};

/// Time a process may take until it is ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Bundles whose bytecode a worker keeps, at most.
const MAX_CACHED_BUNDLES: usize = 16;

/// A worker process. Dropping it kills it.
pub(crate) struct WorkerProcess {
    child: ChildProcess,
    pub(crate) stdin: pipe::Sender,
    pub(crate) frames: FramedRead<CooperativeReader<pipe::Receiver>, LengthDelimitedCodec>,
    /// Bytes that wait to be written. A frame that was begun must be finished, so they outlive an invocation.
    pub(crate) outgoing: BytesMut,
    /// Bundles whose bytecode the worker has, the least recently used first.
    cached_bundles: VecDeque<BundleDigest>,
    pub(crate) confinement: Confinement,
    /// The build of its program.
    pub(crate) build: ProgramBuild,
    priority: Priority,
    /// Priority that the process's session was given, or could not be given.
    session_priority: Priority,
    /// The account charged for processor time; `None` until the process is bound to a workspace.
    account: Option<CpuAccount>,
    /// Processor time of all invocations when it was last read.
    last_cpu_time: Duration,
    /// The job in progress.
    job: Option<MeteredJob>,
}

/// A job whose processor time is reported at its end.
struct MeteredJob {
    used_before: Duration,
    host: Arc<dyn Host>,
}

/// The share that pays for a process.
struct CpuAccount {
    usage: Arc<CpuUsage>,
    share: ShareId,
    charged_cpu_time: Duration,
}

impl WorkerProcess {
    /// Waits for the first message of a new worker.
    pub(crate) async fn handshake(process: ForkedProcess) -> io::Result<Self> {
        let ForkedProcess { child, stdin, stdout } = process;
        let mut frames = LengthDelimitedCodec::builder()
            .little_endian()
            .length_field_length(4)
            .max_frame_length(MAX_FRAME)
            .new_read(CooperativeReader::new(stdout));
        let first_frame = timeout(START_TIMEOUT, frames.next()).await.map_err(|_| io::ErrorKind::TimedOut)?;
        let Some(greeting) = first_frame else {
            let status =
                child.wait_exit_status().await.map_or_else(String::new, |status| format!(": {status}"));
            return Err(io::Error::other(format!("the worker ended before it was ready{status}")));
        };
        match FromWorker::decode(&greeting?.freeze()) {
            Some(FromWorker::Ready { confinement, build }) => Ok(Self {
                child,
                stdin,
                frames,
                outgoing: BytesMut::new(),
                cached_bundles: VecDeque::new(),
                confinement,
                build,
                priority: Priority::Normal,
                session_priority: Priority::Normal,
                account: None,
                last_cpu_time: Duration::ZERO,
                job: None,
            }),
            _ => Err(io::Error::other("the program is not a worker of this version")),
        }
    }

    /// Returns true if the process has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.child.is_alive()
    }

    /// Makes a share pay for the processor time from now on, and the first one for that since the start.
    pub(crate) fn bind_share(&mut self, usage: &Arc<CpuUsage>, share: ShareId) {
        if self.account.as_ref().is_some_and(|account| account.share != share) {
            self.charge_cpu_time();
        }
        let account = || CpuAccount { usage: Arc::clone(usage), share, charged_cpu_time: Duration::ZERO };
        self.account.get_or_insert_with(account).share = share;
    }

    /// Charges the share for processor time that was not charged yet. Returns the time of all invocations together; `None`
    /// if the process is gone.
    pub(crate) fn charge_cpu_time(&mut self) -> Option<Duration> {
        let used = self.child.cpu_time()?;
        self.last_cpu_time = used;
        if let Some(CpuAccount { usage, share, charged_cpu_time: charged }) = &mut self.account {
            usage.record(*share, used.saturating_sub(*charged), Instant::now());
            *charged = used;
        }
        Some(used)
    }

    /// Begins to measure a job, whose processor time `host` is told at its end. Returns the time of all invocations before; `None`
    /// if the process is gone.
    pub(crate) fn begin_job(&mut self, host: Arc<dyn Host>) -> Option<Duration> {
        let used_before = self.charge_cpu_time();
        self.job = Some(MeteredJob { used_before: self.last_cpu_time, host });
        used_before
    }

    /// Charges the share, and reports the processor time of the job in progress: at most what the process has used since it
    /// began, and at most `claimed`, which the worker knows better but may understate.
    pub(crate) fn end_job(&mut self, claimed: Duration) {
        self.charge_cpu_time();
        if let Some(MeteredJob { used_before, host }) = self.job.take() {
            host.record_cpu_time(self.last_cpu_time.saturating_sub(used_before).min(claimed));
        }
    }

    /// Lowers the priority to [`Priority::Idle`] for the rest of the process's life if its share is over what it may use.
    pub(crate) fn enforce_fair_share(&mut self) {
        let over = |account: &CpuAccount| account.usage.is_over_share(account.share, Instant::now());
        if self.account.as_ref().is_some_and(over) {
            self.lower_priority(Priority::Idle);
        }
    }

    /// Lowers the priority for the rest of the process's life. Call it again from time to time: a process becomes a session of
    /// its own, of which the priority can be lowered too, only once it computes.
    pub(crate) fn lower_priority(&mut self, priority: Priority) {
        if priority > self.priority {
            self.priority = priority;
            if let Err(error) = self.child.lower_priority(priority) {
                tracing::debug!(%error, "cannot lower the priority of a worker");
            }
        }
        if self.priority > self.session_priority {
            let is_done = self.child.lower_session_priority(self.priority).unwrap_or_else(|error| {
                tracing::debug!(%error, "cannot lower the priority of a worker's session");
                true
            });
            if is_done {
                self.session_priority = self.priority;
            }
        }
    }

    /// Returns true if the priority was lowered. Such a process is reused only while its share is over what it may use.
    pub(crate) fn has_low_priority(&self) -> bool {
        self.priority != Priority::Normal
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> i32 {
        self.child.pid()
    }

    /// Waits up to a second for the process to end, and returns how it did. Call it after the end of its output.
    pub(crate) async fn wait_exit_status(&self) -> Option<ExitStatus> {
        self.child.wait_exit_status().await
    }

    /// Queues a message to be written; returns false if it does not fit into a frame.
    pub(crate) fn queue(&mut self, message: &ToWorker) -> bool {
        let mut frame = Vec::new();
        let fits = encode_frame(&mut frame, message);
        self.outgoing.extend_from_slice(&frame);
        fits
    }

    /// Returns true if the worker has the bytecode of a bundle, and makes that the most recently used one.
    pub(crate) fn touch_bundle(&mut self, bundle: BundleDigest) -> bool {
        let at = self.cached_bundles.iter().position(|known| *known == bundle);
        if let Some(bundle) = at.and_then(|at| self.cached_bundles.remove(at)) {
            self.cached_bundles.push_back(bundle);
        }
        at.is_some()
    }

    /// Removes and returns the least recently used bundle if there is no room for another one.
    pub(crate) fn evict_lru_bundle(&mut self) -> Option<BundleDigest> {
        if self.cached_bundles.len() < MAX_CACHED_BUNDLES { None } else { self.cached_bundles.pop_front() }
    }

    /// Records a bundle whose bytecode the worker says it has kept, or has not.
    pub(crate) fn record_cached(&mut self, bundle: BundleDigest, kept: bool) {
        if !self.touch_bundle(bundle) && kept {
            self.cached_bundles.push_back(bundle);
        } else if !kept {
            self.cached_bundles.retain(|known| *known != bundle);
        }
    }
}

impl Drop for WorkerProcess {
    /// Charges the share for code that is stopped, and reports its processor time.
    fn drop(&mut self) {
        self.end_job(Duration::MAX);
    }
}
