//! The priority of the threads that work on statements, and when they let others go first.
//!
//! A thread yields during a long statement. A priority alone does not let others go first at once: a thread that wakes
//! may wait until the next tick of the kernel's clock, some milliseconds, whatever the priority of the one that works.

use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

use super::queue::Priority;

/// The nice value (setpriority(2)) of a thread that works for projects whose statements take long: beside a thread of nice
/// value 0 it gets about a tenth of a processor, alone all of it.
#[cfg(target_os = "linux")]
const LOW_PRIORITY_NICE: i32 = 10;

/// Time after which a statement is long enough to yield.
const YIELD_AFTER: Duration = Duration::from_millis(1);
/// Time a long statement goes on before it yields.
const YIELD_INTERVAL: Duration = Duration::from_micros(200);

thread_local! {
    /// The time from which on the thread yields.
    static NEXT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the priority of the calling thread. Where the system refuses, it still yields.
pub(super) fn set_thread_priority(priority: Priority) {
    if priority == Priority::Low {
        // Linux has a nice value for each thread; elsewhere it is the process's.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY_NICE);
    }
}

/// Begins a statement, at this moment.
pub(super) fn begin_statement(now: Instant) {
    NEXT.set(Some(now + YIELD_AFTER));
}

/// Yields where the statement has taken long; the time is this moment.
pub(super) fn yield_if_long(now: Instant) {
    if NEXT.get().is_some_and(|next| now >= next) {
        thread::yield_now();
        NEXT.set(Some(Instant::now() + YIELD_INTERVAL));
    }
}
