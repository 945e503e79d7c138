//! A bounded queue between callers and threads that is fair to shares, and to the projects of one share.
//!
//! Shares take turns, and so do the projects of one. At most half of the threads work for one share at a time. A project whose
//! statements take long has one thread of low priority until they take less, and all such projects of a share have one
//! together. Both bound the time of the threads that one share can use, and a slow project does not slow down its siblings.

mod state;
mod work_permit;

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use state::{SharedThread, State};
pub(super) use work_permit::WorkPermit;

/// Time up to which a statement does not count as long.
const MIN_LONG_STATEMENT: Duration = Duration::from_millis(20);

/// Maximum number of threads of low priority that work for one share.
const LOW_THREADS_PER_SHARE: usize = 1;

/// The priority of a thread, and of the tasks that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The priority of the process.
    Normal,
    /// For tasks of projects whose statements take long.
    Low,
}

impl Priority {
    fn other(self) -> Self {
        match self {
            Self::Normal => Self::Low,
            Self::Low => Self::Normal,
        }
    }
}

/// The error of a task that the queue does not accept.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueueError {
    #[error("too many requests are waiting")]
    Full,
    #[error("the store is closed")]
    Closed,
}

/// Maximum numbers of tasks that wait, and of threads that work at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimits {
    /// Maximum number of tasks that wait or that a thread has taken. One share may have half of them, and three quarters of
    /// these wait for one project.
    pub(super) capacity: usize,
    /// Maximum number of threads of normal priority that work for one share.
    pub(super) threads_per_share: usize,
    /// Maximum number of threads that work for one project.
    pub(super) threads_per_project: usize,
}

#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// By [`Priority`].
    work_available: [Condvar; 2],
    limits: QueueLimits,
}

impl<T> Queue<T> {
    pub(super) fn new(limits: QueueLimits) -> Self {
        let threads_per_share = limits.threads_per_share.max(1);
        let threads_per_project = limits.threads_per_project.max(1);
        let limits = QueueLimits { threads_per_share, threads_per_project, ..limits };
        Self { state: Mutex::new(State::new()), work_available: Default::default(), limits }
    }

    /// Locks the queue. A poisoned lock is no problem: no change of the queue can panic halfway.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task of a project.
    ///
    /// # Errors
    /// [`QueueError`] if the queue is closed, or is full for the project, its share or for all.
    pub(super) fn push(&self, project: &ProjectRef, task: T) -> Result<(), QueueError> {
        let mut state = self.lock();
        state.push(project, task, self.limits)?;
        // Wakes only idle threads, since waking costs a system call; a busy one looks for tasks before it waits.
        self.wake(state);
        Ok(())
    }

    /// Wakes one idle thread of each priority that has tasks.
    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        let priorities = state.priorities_to_wake();
        drop(state);
        for priority in priorities {
            self.work_available[priority as usize].notify_one();
        }
    }

    /// Waits for the turn of a project of this priority and takes its next tasks, at most `most`. The thread works for
    /// the project until the permit is dropped. Returns `None` once the queue is closed and empty.
    pub(super) fn pop_batch(
        self: &Arc<Self>,
        most: usize,
        priority: Priority,
    ) -> Option<(WorkPermit<T>, VecDeque<T>)> {
        let mut state = self.lock();
        loop {
            let mut taken = state.take(most, priority, self.limits).map(|taken| (priority, taken));
            if taken.is_none() && state.closed {
                // The threads of the other priority may have ended.
                let other = priority.other();
                taken = state.take(most, other, self.limits).map(|taken| (other, taken));
            }
            if let Some((priority, (share, project, tasks))) = taken {
                self.wake(state);
                let queue = Arc::clone(self);
                let started_at = Instant::now();
                let thread = SharedThread { share, priority, started_at, statement_time: Duration::ZERO };
                let permit = WorkPermit { queue, project, taken: tasks.len(), thread: Some(thread) };
                return Some((permit, tasks));
            }
            if state.closed && state.waiting == 0 {
                return None;
            }
            state.idle_threads[priority as usize] += 1;
            state =
                self.work_available[priority as usize].wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle_threads[priority as usize] -= 1;
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.work_available.iter().for_each(Condvar::notify_all);
    }
}

#[cfg(test)]
mod tests;
