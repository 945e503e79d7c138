//! Lets other processes go first during a long computation.
//!
//! A low priority alone does not: a process that wakes may wait until the next tick of the kernel's clock, some
//! milliseconds, whatever the priority of the one that computes. One that yields by itself is overtaken at once. So an
//! alarm goes off again and again while code runs, in the engine's own functions too, and its handler yields. That takes
//! some microseconds, and nothing is lost where nobody waits.
#![expect(unsafe_code, reason = "each block says why it holds")]

use std::{
    mem::MaybeUninit,
    ptr::null_mut,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use crate::protocol::LONG_COMPUTATION;

/// Time a long computation goes on before it yields.
const YIELD_INTERVAL: Duration = Duration::from_micros(200);

/// True while code runs: only then is the alarm set again when it has gone off.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);
/// The processor time of this process, in microseconds, at which the computation is long.
static LONG_AT_MICROS: AtomicU64 = AtomicU64::new(0);

/// Has the alarm's signal yield, in this process and in its copies.
pub(super) fn install_alarm_handler() {
    // SAFETY: zero is right for what is not set. The handler makes three system calls, which a signal handler may make, and
    // touches nothing but atomics. What the signal interrupts is begun again, or looks for that.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = on_alarm as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGALRM, &raw const action, null_mut());
    }
}

/// Runs an invocation. One whose process has a low priority yields from the start, any other once it is long.
pub(super) fn run_yielding<T>(is_low_priority: bool, invocation: impl FnOnce() -> T) -> T {
    LONG_AT_MICROS.store(
        if is_low_priority { 0 } else { micros(process_cpu_time() + LONG_COMPUTATION) },
        Ordering::Relaxed,
    );
    resume();
    let done = invocation();
    IS_RUNNING.store(false, Ordering::Relaxed);
    done
}

/// Waits for something outside, during which there is nothing to yield.
pub(super) fn without_yielding<T>(wait: impl FnOnce() -> T) -> T {
    let worked = IS_RUNNING.swap(false, Ordering::Relaxed);
    let waited = wait();
    if worked {
        resume();
    }
    waited
}

fn resume() {
    IS_RUNNING.store(true, Ordering::Relaxed);
    set_alarm(until_long().unwrap_or(YIELD_INTERVAL));
}

/// The processor time that is left until the computation is long; none when it is.
fn until_long() -> Option<Duration> {
    let long_at = Duration::from_micros(LONG_AT_MICROS.load(Ordering::Relaxed));
    if long_at.is_zero() {
        return None;
    }
    long_at.checked_sub(process_cpu_time()).filter(|left| !left.is_zero())
}

/// The processor time of this process.
fn process_cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Sets the alarm once. One that was set before is forgotten.
fn set_alarm(after: Duration) {
    let micros = libc::suseconds_t::try_from(after.as_micros()).unwrap_or(libc::suseconds_t::MAX).max(1);
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let alarm = libc::itimerval {
        it_interval: never,
        it_value: libc::timeval { tv_usec: micros.min(999_999), ..never },
    };
    // SAFETY: the call only reads the structure.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const alarm, null_mut()) };
}

extern "C" fn on_alarm(_signal: libc::c_int) {
    if !IS_RUNNING.load(Ordering::Relaxed) {
        return;
    }
    if let Some(left) = until_long() {
        return set_alarm(left);
    }
    // SAFETY: the call takes nothing, and always succeeds.
    unsafe { libc::sched_yield() };
    #[cfg(test)]
    tests::YIELDS.fetch_add(1, Ordering::Relaxed);
    set_alarm(YIELD_INTERVAL);
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    pub(super) static YIELDS: AtomicU64 = AtomicU64::new(0);

    /// Computes until so many yields, and returns the processor time that took; none when there were too few.
    fn until(yields: u64) -> Option<Duration> {
        let (begun, before) = (Instant::now(), YIELDS.load(Ordering::Relaxed));
        let used_before = process_cpu_time();
        while YIELDS.load(Ordering::Relaxed) < before + yields {
            if begun.elapsed() > Duration::from_secs(30) {
                return None;
            }
        }
        Some(process_cpu_time() - used_before)
    }

    // One test: the alarm is the process's.
    #[test]
    fn long_computations_and_those_of_low_priority_yield() {
        install_alarm_handler();
        assert!(run_yielding(true, || until(10)).is_some());
        let first = run_yielding(false, || until(1)).unwrap();
        assert!(first >= LONG_COMPUTATION, "a computation of {first:?} is no long one");
        let waited = run_yielding(true, || {
            without_yielding(|| {
                let before = YIELDS.load(Ordering::Relaxed);
                let until = Instant::now() + YIELD_INTERVAL * 20;
                while Instant::now() < until {}
                YIELDS.load(Ordering::Relaxed) - before
            })
        });
        assert_eq!(waited, 0, "what waits has nothing to yield");
        assert!(
            run_yielding(true, || {
                without_yielding(|| {});
                until(2)
            })
            .is_some()
        );
        let before = YIELDS.load(Ordering::Relaxed);
        let later = Instant::now() + YIELD_INTERVAL * 20;
        while Instant::now() < later {}
        assert_eq!(YIELDS.load(Ordering::Relaxed), before, "nothing runs any more");
    }
}
