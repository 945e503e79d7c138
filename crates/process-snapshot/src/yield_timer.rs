//! A timer that makes a long computation yield its processor.
//!
//! A low priority alone is not enough: a process that wakes may wait until the next tick of the kernel's clock, some
//! milliseconds, whatever the priority of the one that computes. One that calls sched_yield(2) is overtaken at once. So
//! SIGALRM goes off again and again while code runs, in the engine's own functions too, and its handler yields. That takes
//! some microseconds, and nothing is lost while nobody waits.
//!
//! A priority counts only among the processes of a session where the kernel shares processors among sessions (autogroups of
//! sched(7)). So a process that yields becomes a session of its own, whose priority its parent can lower
//! ([`ChildProcess::lower_priority`](crate::ChildProcess::lower_priority)).
//!
//! The timer is the process's (`ITIMER_REAL`), so one thread at a time may run code under it. A fork inherits the handler,
//! and no timer.

#![expect(unsafe_code, reason = "signals and timers have no safe wrappers")]

use std::{
    mem::MaybeUninit,
    ptr::null_mut,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

/// Time between two yields.
const YIELD_INTERVAL: Duration = Duration::from_micros(200);

/// True while code runs: only then does the handler set the timer again.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);
/// Processor time of this process, in microseconds, at which it begins to yield; 0 for at once.
static YIELD_AFTER_MICROS: AtomicU64 = AtomicU64::new(0);

/// True once this process is a session of its own.
static HAS_OWN_SESSION: AtomicBool = AtomicBool::new(false);

/// Installs the handler of SIGALRM, in this process and its forks. Replaces any other handler of the signal.
pub fn install_alarm_handler() {
    // SAFETY: zero is right for what is not set. The handler makes three system calls that a signal handler may make, and
    // touches nothing but atomics. An interrupted call is restarted, or its caller handles EINTR.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = on_alarm as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGALRM, &raw const action, null_mut());
    }
}

/// Runs code that yields every 200 µs once it has used `free` of processor time; from the start if that is zero.
pub fn run_yielding<T>(free: Duration, code: impl FnOnce() -> T) -> T {
    start(free);
    let result = code();
    IS_RUNNING.store(false, Ordering::Relaxed);
    result
}

/// Waits for something outside, during which there is nothing to yield.
pub fn without_yielding<T>(wait: impl FnOnce() -> T) -> T {
    let was_running = pause();
    let result = wait();
    if was_running {
        resume();
    }
    result
}

fn start(free: Duration) {
    let after = if free.is_zero() { 0 } else { micros(process_cpu_time() + free) };
    YIELD_AFTER_MICROS.store(after, Ordering::Relaxed);
    resume();
}

/// Returns true if code was running.
fn pause() -> bool {
    IS_RUNNING.swap(false, Ordering::Relaxed)
}

fn resume() {
    IS_RUNNING.store(true, Ordering::Relaxed);
    set_timer(free_time_left().unwrap_or(YIELD_INTERVAL));
}

/// Returns the processor time left until the process yields; `None` if there is none.
fn free_time_left() -> Option<Duration> {
    let after = Duration::from_micros(YIELD_AFTER_MICROS.load(Ordering::Relaxed));
    if after.is_zero() {
        return None;
    }
    after.checked_sub(process_cpu_time()).filter(|left| !left.is_zero())
}

fn process_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Sets the timer to go off once, within a second. Replaces one that was set before.
fn set_timer(after: Duration) {
    let micros = libc::suseconds_t::try_from(after.as_micros()).unwrap_or(libc::suseconds_t::MAX).max(1);
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval {
        it_interval: never,
        it_value: libc::timeval { tv_usec: micros.min(999_999), ..never },
    };
    // SAFETY: the call only reads the structure.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()) };
}

extern "C" fn on_alarm(_signal: libc::c_int) {
    if !IS_RUNNING.load(Ordering::Relaxed) {
        return;
    }
    if let Some(left) = free_time_left() {
        return set_timer(left);
    }
    if !HAS_OWN_SESSION.swap(true, Ordering::Relaxed) {
        // SAFETY: the call takes nothing. It fails only in the leader of a process group, which keeps its session.
        unsafe { libc::setsid() };
    }
    // SAFETY: the call takes nothing, and always succeeds.
    unsafe { libc::sched_yield() };
    #[cfg(all(test, not(miri)))]
    tests::YIELDS.fetch_add(1, Ordering::Relaxed);
    set_timer(YIELD_INTERVAL);
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::time::Instant;

    use super::*;

    pub(super) static YIELDS: AtomicU64 = AtomicU64::new(0);

    /// Computes until there were so many yields more; false if they do not come.
    fn until(yields: u64) -> bool {
        let (begin, before) = (Instant::now(), YIELDS.load(Ordering::Relaxed));
        while YIELDS.load(Ordering::Relaxed) < before + yields {
            if begin.elapsed() > Duration::from_secs(30) {
                return false;
            }
        }
        true
    }

    /// Yields while this computes for so long.
    fn yields_within(time: Duration) -> u64 {
        let (before, end) = (YIELDS.load(Ordering::Relaxed), Instant::now() + time);
        while Instant::now() < end {}
        YIELDS.load(Ordering::Relaxed) - before
    }

    /// Checks everything, and returns the first check that failed, counted from 1; 0 if none did. Neither allocates nor locks.
    fn failed_check() -> i32 {
        const FREE: Duration = Duration::from_millis(20);
        install_alarm_handler();
        let mut checks = 1..;
        let mut failed = |is_met: bool| checks.next().filter(|_| !is_met);
        let before = process_cpu_time();
        failed(run_yielding(FREE, || until(1)))
            // Microseconds are cut off.
            .or_else(|| failed(process_cpu_time() - before + Duration::from_micros(1) >= FREE))
            .or_else(|| failed(run_yielding(Duration::ZERO, || until(10))))
            // What waits has nothing to yield.
            .or_else(|| {
                let waiting = || without_yielding(|| yields_within(YIELD_INTERVAL * 20));
                failed(run_yielding(Duration::ZERO, waiting) == 0)
            })
            .or_else(|| {
                let after_waiting = || {
                    without_yielding(|| {});
                    until(2)
                };
                failed(run_yielding(Duration::ZERO, after_waiting))
            })
            // Nothing runs any more.
            .or_else(|| failed(yields_within(YIELD_INTERVAL * 20) == 0))
            .unwrap_or(0)
    }

    /// In a fork of its own: there the one thread that the timer is made for is the only one, as in a worker.
    #[test]
    fn code_yields_once_its_free_time_is_used() {
        // SAFETY: the fork neither allocates nor locks, and ends without running anything of this process's end.
        let status = unsafe {
            let process = libc::fork();
            if process == 0 {
                libc::_exit(failed_check());
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(process, &raw mut status, 0), process);
            status
        };
        assert!(libc::WIFEXITED(status), "{status}");
        assert_eq!(libc::WEXITSTATUS(status), 0, "the check that failed");
    }
}
