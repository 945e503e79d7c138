//! A bounded queue between callers and threads that is fair to shares, and to the projects of one share.
//!
//! Shares take turns, and so do the projects of one. At most half of the threads work for one share at a time. A project whose
//! statements take long has one thread of low priority until they take less, and all such projects of a share have one
//! together. Both bound the time of the threads that one share can use, and a slow project does not slow down its siblings.

mod state;

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use state::{MIN_LONG_STATEMENT, SharedThread, State};
pub(super) use state::{Priority, QueueError, QueueLimits};

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

/// The right of one thread to work for a project, until it is dropped.
#[derive(Debug)]
pub(super) struct WorkPermit<T> {
    queue: Arc<Queue<T>>,
    pub(super) project: ProjectRef,
    /// Number of tasks that it took.
    taken: usize,
    /// `None` once the work goes on elsewhere.
    thread: Option<SharedThread>,
}

impl<T> WorkPermit<T> {
    /// Returns the time since the thread took the tasks.
    pub(super) fn elapsed(&self) -> Duration {
        self.thread.as_ref().map_or(Duration::ZERO, |thread| thread.started_at.elapsed())
    }

    /// Adds the time of a statement to what the project used, if it was a long one.
    pub(super) fn record_statement(&mut self, took: Duration) {
        if let Some(thread) = &mut self.thread
            && took > MIN_LONG_STATEMENT
        {
            thread.statement_time += took;
        }
    }

    /// Puts tasks back that were taken: they are the project's next ones.
    pub(super) fn give_back(&mut self, tasks: VecDeque<T>) {
        if !tasks.is_empty() {
            self.taken -= tasks.len();
            self.queue.lock().give_back(&self.project, tasks);
        }
    }

    /// Gives the share's thread back, and keeps the project: its work goes on in a thread of its own, with the last task.
    pub(super) fn detach(mut self) -> Self {
        if let Some(thread) = self.thread.take() {
            let mut state = self.queue.lock();
            let ended = self.taken.saturating_sub(1);
            self.taken -= ended;
            state.end_tasks(&self.project, ended);
            state.release_thread(&self.project, thread, self.queue.limits);
            self.queue.wake(state);
        }
        self
    }
}

impl<T> Drop for WorkPermit<T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        let limits = self.queue.limits;
        // The thread first: it may be the last that keeps the share.
        if let Some(thread) = self.thread.take() {
            state.release_thread(&self.project, thread, limits);
        }
        state.end_tasks(&self.project, self.taken);
        state.finish(&self.project, limits);
        // Threads that wait for the last tasks of a closed queue must notice that there are none.
        if state.closed {
            drop(state);
            self.queue.work_available.iter().for_each(Condvar::notify_all);
        } else {
            self.queue.wake(state);
        }
    }
}

#[cfg(test)]
mod tests;
