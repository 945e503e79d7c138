//! The priority of threads that run statements, and their yielding.
//!
//! A thread yields during a long statement. A low priority alone does not let others run at once: a thread that wakes
//! up may wait for the next tick of the kernel's clock, some milliseconds, whatever the priority of the running one.

use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

use super::queue::Priority;

/// Nice value (setpriority(2)) of a thread for projects whose statements take long. Next to a thread of nice value 0 it
/// gets about a tenth of a core, alone it gets all of it.
#[cfg(target_os = "linux")]
const LOW_PRIORITY_NICE: i32 = 10;

/// Time after which a statement yields for the first time.
const YIELD_AFTER: Duration = Duration::from_millis(1);
/// Time between two yields of a statement.
const YIELD_INTERVAL: Duration = Duration::from_micros(200);

thread_local! {
    /// The time of the next yield.
    static NEXT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the priority of the calling thread. If the system refuses, the thread still yields.
pub(super) fn set_thread_priority(priority: Priority) {
    if priority == Priority::Low {
        // Linux has a nice value for each thread; other systems have one for the process.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW_PRIORITY_NICE);
    }
}

/// Records that a statement begins.
pub(super) fn begin_statement(now: Instant) {
    NEXT.set(Some(now + YIELD_AFTER));
}

/// Yields if the statement is due for it.
pub(super) fn yield_if_long(now: Instant) {
    if NEXT.get().is_some_and(|next| now >= next) {
        thread::yield_now();
        NEXT.set(Some(Instant::now() + YIELD_INTERVAL));
    }
}
