//! A child process that another child made for us, known by a descriptor that never means any other (pidfd_open(2)).
#![expect(unsafe_code, reason = "each block says why it holds")]

use std::{
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::process::ExitStatusExt as _,
    },
    process::ExitStatus,
    time::Duration,
};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, kill_process, pidfd_open,
    pidfd_send_signal, setpriority_process, waitid, waitpid,
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    runtime::Handle,
    time::timeout,
};

/// How long a process may take to end whose output has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The nice value (setpriority(2)) of a child that computes for long: beside a process of nice value 0 it gets about a
/// tenth of a processor, alone all of it.
const LOW_PRIORITY_NICE: i32 = 10;

/// The scheduling of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    /// As the server is.
    Normal,
    /// After others in the long run, but not at once (`LOW_PRIORITY`).
    Low,
    /// Only while no other process wants the processor (`SCHED_IDLE` of sched(7)): any that wakes goes first at once.
    Idle,
}

/// A child process. Dropping it kills it.
pub(crate) struct ChildProcess {
    id: Pid,
    /// Taken as it is dropped.
    pidfd: Option<AsyncFd<OwnedFd>>,
    runtime: Handle,
}

impl ChildProcess {
    /// Takes over a child of this process that nobody has waited for. Must be called inside a tokio runtime.
    pub(crate) fn adopt(id: Pid) -> io::Result<Self> {
        let open_pidfd = || {
            let descriptor = pidfd_open(id, PidfdFlags::empty())?;
            // SAFETY: an `OwnedFd` is the same open descriptor until it is dropped, which the registration does at its
            // end.
            let descriptor = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE)? };
            Ok((descriptor, Handle::try_current().map_err(io::Error::other)?))
        };
        match open_pidfd() {
            Ok((descriptor, runtime)) => Ok(Self { id, pidfd: Some(descriptor), runtime }),
            Err(error) => {
                // Until somebody waits for it, the number means this child.
                let _ = kill_process(id, Signal::KILL);
                let _ = waitpid(Some(id), WaitOptions::empty());
                Err(error)
            }
        }
    }

    /// The operating system's number of the process.
    pub(crate) fn pid(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// The processor time that it has used; none when it is gone.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let mut clock = 0;
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: both calls only write to what they are given. Until it is dropped nobody has waited for the child, so
        // the number means no other.
        let time = unsafe {
            if libc::clock_getcpuclockid(self.pid(), &raw mut clock) != 0
                || libc::clock_gettime(clock, time.as_mut_ptr()) != 0
            {
                return None;
            }
            time.assume_init()
        };
        let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?);
        Some(Duration::new(seconds, nanos))
    }

    /// Lowers its priority. Only a privileged process could raise it again.
    pub(crate) fn lower_priority(&self, priority: Priority) -> io::Result<()> {
        match priority {
            Priority::Normal => {}
            Priority::Low => setpriority_process(Some(self.id), LOW_PRIORITY_NICE)?,
            Priority::Idle => {
                // SAFETY: the structure is only read; it has no other fields here, and zero is right for all there are
                // elsewhere. Until the child is dropped nobody has waited for it, so the number means no other.
                let set = unsafe {
                    let parameters: libc::sched_param = MaybeUninit::zeroed().assume_init();
                    libc::sched_setscheduler(self.pid(), libc::SCHED_IDLE, &raw const parameters)
                };
                if set != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    }

    /// Whether the process still runs.
    pub(crate) fn is_alive(&self) -> bool {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.pidfd.as_ref().is_some_and(|descriptor| matches!(wait_pidfd(descriptor, peek), Ok(None)))
    }

    /// How the process ended, if it does so soon.
    pub(crate) async fn wait_exit_status(&self) -> Option<ExitStatus> {
        let descriptor = self.pidfd.as_ref()?;
        timeout(EXIT_TIMEOUT, descriptor.readable()).await.ok()?.ok()?.retain_ready();
        // Left for whoever drops it to take away.
        wait_pidfd(descriptor, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT)
            .ok()?
            .map(to_exit_status)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let Some(descriptor) = self.pidfd.take() else { return };
        let _ = pidfd_send_signal(descriptor.as_fd(), Signal::KILL);
        // What has ended keeps its number until somebody has waited for it.
        let reap = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if matches!(wait_pidfd(&descriptor, reap), Ok(None)) {
            self.runtime.spawn(async move {
                if let Ok(mut ended) = descriptor.readable().await {
                    ended.retain_ready();
                    let _ = wait_pidfd(&descriptor, reap);
                }
            });
        }
    }
}

fn wait_pidfd(descriptor: &AsyncFd<OwnedFd>, options: WaitIdOptions) -> io::Result<Option<WaitIdStatus>> {
    Ok(waitid(WaitId::PidFd(descriptor.as_fd()), options)?)
}

/// As wait(2) encodes it.
fn to_exit_status(status: WaitIdStatus) -> ExitStatus {
    let (code, signal) = (status.exit_status().unwrap_or(0), status.terminating_signal().unwrap_or(0));
    ExitStatus::from_raw(code << 8 | signal)
}
