//! The priority of a thread that works for projects whose statements take long.

use std::{
    cell::Cell,
    thread,
    time::{Duration, Instant},
};

use super::queue::Priority;

/// The nice value (setpriority(2)) of such a thread: beside a thread of nice value 0 it gets about a tenth of a
/// processor, alone all of it.
#[cfg(target_os = "linux")]
const LOW: i32 = 10;

/// Time such a thread works before it lets others go first that are ready. A nice value alone does not: the
/// kernel lets a thread finish its slice of some milliseconds, whoever wakes.
const SLICE: Duration = Duration::from_micros(200);

thread_local! {
    /// The time at which the thread last gave way; none for threads that need not.
    static GAVE_WAY: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets the priority of the calling thread. Where the system refuses, it still gives way.
pub(super) fn set(priority: Priority) {
    if priority == Priority::Low {
        GAVE_WAY.set(Some(Instant::now()));
        // Linux has a nice value for each thread; elsewhere it is the process's.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LOW);
    }
}

/// Lets other threads go first, where the calling thread is one that does and has worked for long enough.
pub(super) fn give_way() {
    let Some(gave_way) = GAVE_WAY.get() else { return };
    if gave_way.elapsed() >= SLICE {
        thread::yield_now();
        GAVE_WAY.set(Some(Instant::now()));
    }
}
