//! The right of a thread to work for a project.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar},
    time::Duration,
};

use backend_data::ProjectRef;

use super::{MIN_LONG_STATEMENT, Queue, state::SharedThread};

/// The right of one thread to work for a project, until it is dropped.
#[derive(Debug)]
pub(in crate::sqlite) struct WorkPermit<T> {
    pub(super) queue: Arc<Queue<T>>,
    pub(in crate::sqlite) project: ProjectRef,
    /// Number of tasks that it took.
    pub(super) taken: usize,
    /// `None` once the work goes on elsewhere.
    pub(super) thread: Option<SharedThread>,
}

impl<T> WorkPermit<T> {
    /// Returns the time since the thread took the tasks.
    pub(in crate::sqlite) fn elapsed(&self) -> Duration {
        self.thread.as_ref().map_or(Duration::ZERO, |thread| thread.started_at.elapsed())
    }

    /// Adds the time of a statement to what the project used, if it was a long one.
    pub(in crate::sqlite) fn record_statement(&mut self, took: Duration) {
        if let Some(thread) = &mut self.thread
            && took > MIN_LONG_STATEMENT
        {
            thread.statement_time += took;
        }
    }

    /// Puts tasks back that were taken: they are the project's next ones.
    pub(in crate::sqlite) fn give_back(&mut self, tasks: VecDeque<T>) {
        if !tasks.is_empty() {
            self.taken -= tasks.len();
            self.queue.lock().give_back(&self.project, tasks);
        }
    }

    /// Gives the share's thread back, and keeps the project: its work goes on in a thread of its own, with the last task.
    pub(in crate::sqlite) fn detach(mut self) -> Self {
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
