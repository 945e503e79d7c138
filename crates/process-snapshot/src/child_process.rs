//! A child process that another process made, named by a descriptor that never means any other (pidfd_open(2)).

#![expect(unsafe_code, reason = "calls that no safe wrapper offers")]

use std::{
    fs, io,
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

/// Time to wait for a process to end whose output has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Nice value (setpriority(2)) of [`Priority::Low`]: beside a process of nice value 0 it gets about a tenth of a processor,
/// alone all of it.
const LOW_PRIORITY_NICE: i32 = 10;

/// Nice value of the session of a child with [`Priority::Idle`]: the lowest.
const IDLE_SESSION_NICE: i32 = 19;

/// The scheduling of a child, from the highest priority to the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// The priority of this process.
    Normal,
    /// Nice value 10: about a tenth of a processor beside others. A process that wakes may wait a few milliseconds for it.
    Low,
    /// `SCHED_IDLE` of sched(7): runs while no other process wants the processor, and any that wakes goes first at once.
    Idle,
}

/// A child process. Dropping it kills it.
pub struct ChildProcess {
    id: Pid,
    /// `None` while the process is dropped.
    pidfd: Option<AsyncFd<OwnedFd>>,
    runtime: Handle,
}

impl ChildProcess {
    /// Takes over a child of this process that nobody has waited for. Must be called inside a tokio runtime with I/O and time
    /// enabled.
    ///
    /// # Errors
    /// If there is no such child, or the kernel has no descriptor left. The child is killed then.
    pub fn adopt(id: Pid) -> io::Result<Self> {
        let open_pidfd = || {
            let descriptor = pidfd_open(id, PidfdFlags::empty())?;
            // SAFETY: an `OwnedFd` is the same open descriptor until it is dropped, which the registration does last.
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

    /// Returns the process id. It means this child until the child is dropped.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// Returns the processor time that the child has used; `None` if it is gone.
    #[must_use]
    pub fn cpu_time(&self) -> Option<Duration> {
        let mut clock = 0;
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: both calls only write to what they are given. Until it is dropped nobody has waited for the child, so the
        // number means no other.
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

    /// Lowers the child's priority. Only a privileged process could raise it again.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn lower_priority(&self, priority: Priority) -> io::Result<()> {
        match priority {
            Priority::Normal => {}
            Priority::Low => setpriority_process(Some(self.id), LOW_PRIORITY_NICE)?,
            Priority::Idle => {
                // SAFETY: the structure is only read; it has no other fields here, and zero is right for all there are elsewhere.
                // Until the child is dropped nobody has waited for it, so the number means no other.
                let result = unsafe {
                    let parameters: libc::sched_param = MaybeUninit::zeroed().assume_init();
                    libc::sched_setscheduler(self.pid(), libc::SCHED_IDLE, &raw const parameters)
                };
                if result != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        Ok(())
    }

    /// Gives the child's session the nice value of the priority among the sessions of the machine, on a kernel that shares
    /// processors among them (autogroups of sched(7)). Returns false if the child is not a session of its own yet, or the kernel
    /// asks to try again later: it lets unprivileged processes do this ten times a second in all.
    ///
    /// # Errors
    /// If the kernel refuses for another reason.
    pub fn lower_session_priority(&self, priority: Priority) -> io::Result<bool> {
        let nice = match priority {
            Priority::Normal => return Ok(true),
            Priority::Low => LOW_PRIORITY_NICE,
            Priority::Idle => IDLE_SESSION_NICE,
        };
        // The session of this process must keep its priority.
        if !self.leads_session()? {
            return Ok(false);
        }
        match fs::write(format!("/proc/{}/autogroup", self.pid()), nice.to_string()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // The kernel does not group by session.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            other => other.map(|()| true),
        }
    }

    fn leads_session(&self) -> io::Result<bool> {
        // Not by `rustix`, whose result is a valid process id: of a session in another PID namespace the kernel says 0.
        // SAFETY: the call only reads its argument.
        match unsafe { libc::getsid(self.pid()) } {
            -1 => Err(io::Error::last_os_error()),
            session => Ok(session == self.pid()),
        }
    }

    /// Returns true if the child has not ended.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.pidfd.as_ref().is_some_and(|descriptor| matches!(wait_pidfd(descriptor, PEEK), Ok(None)))
    }

    /// Waits up to a second for the child to end, and returns how it did; `None` if it has not ended by then.
    pub async fn wait_exit_status(&self) -> Option<ExitStatus> {
        let descriptor = self.pidfd.as_ref()?;
        timeout(EXIT_TIMEOUT, descriptor.readable()).await.ok()?.ok()?.retain_ready();
        wait_pidfd(descriptor, PEEK).ok()?.map(to_exit_status)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let Some(descriptor) = self.pidfd.take() else { return };
        let _ = pidfd_send_signal(descriptor.as_fd(), Signal::KILL);
        // A zombie until it is waited for, which may be too early now.
        if matches!(wait_pidfd(&descriptor, REAP), Ok(None)) {
            self.runtime.spawn(async move {
                if let Ok(mut ended) = descriptor.readable().await {
                    ended.retain_ready();
                    let _ = wait_pidfd(&descriptor, REAP);
                }
            });
        }
    }
}

/// Looks at a child's end and leaves it a zombie, so that its number stays its own.
const PEEK: WaitIdOptions = WaitIdOptions::EXITED.union(WaitIdOptions::NOHANG).union(WaitIdOptions::NOWAIT);
/// Takes a child away that has ended.
const REAP: WaitIdOptions = WaitIdOptions::EXITED.union(WaitIdOptions::NOHANG);

/// Returns how the child ended; `None` if it has not.
fn wait_pidfd(descriptor: &AsyncFd<OwnedFd>, options: WaitIdOptions) -> io::Result<Option<WaitIdStatus>> {
    Ok(waitid(WaitId::PidFd(descriptor.as_fd()), options)?)
}

/// Encodes a status as wait(2) does.
fn to_exit_status(status: WaitIdStatus) -> ExitStatus {
    let (code, signal) = (status.exit_status().unwrap_or(0), status.terminating_signal().unwrap_or(0));
    ExitStatus::from_raw(code << 8 | signal)
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::{
        ffi::OsStr,
        process::{Command, Stdio},
    };

    use super::*;

    /// A child that runs a shell command. Its stdin stays open until it is dropped.
    #[expect(clippy::zombie_processes, reason = "the `ChildProcess` waits for it")]
    fn adopt(script: &str) -> (ChildProcess, Option<std::process::ChildStdin>) {
        let mut command = Command::new("/bin/sh");
        let mut child = command.args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        (ChildProcess::adopt(Pid::from_child(&child)).unwrap(), child.stdin.take())
    }

    #[tokio::test]
    async fn an_end_is_told_by_its_code_or_signal() {
        let (child, _stdin) = adopt("exit 7");
        assert_eq!(child.wait_exit_status().await.unwrap().code(), Some(7));
        assert!(!child.is_alive());
        assert_eq!(
            child.wait_exit_status().await.unwrap().code(),
            Some(7),
            "it is left for the next one to see"
        );
        let (child, _stdin) = adopt("kill -SEGV $$");
        assert_eq!(child.wait_exit_status().await.unwrap().signal(), Some(libc::SIGSEGV));
    }

    #[tokio::test]
    async fn a_child_that_runs_has_processor_time_and_no_status() {
        let (child, stdin) = adopt("read -r line; exit 3");
        assert!(child.is_alive() && child.cpu_time().is_some());
        drop(stdin);
        assert_eq!(child.wait_exit_status().await.unwrap().code(), Some(3));
    }

    #[tokio::test]
    async fn a_dropped_child_is_killed_and_taken_away() {
        let (child, _stdin) = adopt("read -r line");
        let id = child.id;
        let pidfd = pidfd_open(id, PidfdFlags::empty()).unwrap();
        drop(child);
        // SAFETY: as in `adopt`.
        let pidfd = unsafe { AsyncFd::register_with_interest(pidfd, Interest::READABLE) }.unwrap();
        timeout(Duration::from_secs(20), pidfd.readable()).await.unwrap().unwrap().retain_ready();
        // The task that takes it away was woken by the same event.
        let gone = async {
            while waitid(WaitId::PidFd(pidfd.as_fd()), PEEK).is_ok() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), gone).await.unwrap();
    }

    #[tokio::test]
    async fn a_child_that_somebody_waited_for_counts_as_ended() {
        let (child, _stdin) = adopt("exit 0");
        child.wait_exit_status().await.unwrap();
        wait_pidfd(child.pidfd.as_ref().unwrap(), REAP).unwrap();
        assert!(!child.is_alive() && child.wait_exit_status().await.is_none());
    }

    #[tokio::test]
    async fn a_priority_is_lowered() {
        let (child, _stdin) = adopt("read -r line");
        let nice = || rustix::process::getpriority_process(Some(child.id)).unwrap();
        let before = nice();
        child.lower_priority(Priority::Normal).unwrap();
        assert_eq!(nice(), before);
        if before < LOW_PRIORITY_NICE {
            child.lower_priority(Priority::Low).unwrap();
            assert_eq!(nice(), LOW_PRIORITY_NICE);
        }
        child.lower_priority(Priority::Idle).unwrap();
        // SAFETY: the call only reads its argument.
        assert_eq!(unsafe { libc::sched_getscheduler(child.pid()) }, libc::SCHED_IDLE);
    }

    /// Returns the nice value of a process's autogroup; `None` on a kernel without them.
    fn autogroup_nice(process: i32) -> Option<String> {
        let autogroup = fs::read_to_string(format!("/proc/{process}/autogroup")).ok()?;
        Some(autogroup.rsplit_once("nice ")?.1.trim().to_owned())
    }

    #[tokio::test]
    async fn only_a_session_of_its_own_gets_a_lower_priority() {
        let (child, _stdin) = adopt("read -r line");
        let before = autogroup_nice(child.pid());
        assert!(
            !child.lower_session_priority(Priority::Idle).unwrap(),
            "it shares the session of this process"
        );
        assert_eq!(autogroup_nice(child.pid()), before);

        let (child, _stdin) = adopt("exec setsid sh -c 'read -r line'");
        for (priority, expected) in [(Priority::Low, "10"), (Priority::Idle, "19")] {
            let lowered = async {
                // It is no session until the program has started, and the kernel may ask to try again.
                while !child.lower_session_priority(priority).unwrap() {
                    tokio::task::yield_now().await;
                }
            };
            timeout(Duration::from_secs(20), lowered).await.unwrap();
            assert!(autogroup_nice(child.pid()).is_none_or(|nice| nice == expected));
        }
    }

    /// As where a container's first process was started in a session from outside.
    #[test]
    fn a_session_of_another_pid_namespace_is_not_the_childs_own() {
        let in_namespace = |program: &OsStr, args: &[&str]| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
            command.arg(program).args(args).output()
        };
        if !in_namespace(OsStr::new("true"), &[]).is_ok_and(|output| output.status.success()) {
            eprintln!("not tested: no PID namespace may be made here");
            return;
        }
        let program = std::env::current_exe().unwrap();
        let test = "child_process::tests::only_a_session_of_its_own_gets_a_lower_priority";
        let output = in_namespace(program.as_os_str(), &["--exact", test]).unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
