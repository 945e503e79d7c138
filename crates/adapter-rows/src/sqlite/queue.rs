//! A bounded queue between callers and threads.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// The queue takes no more.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("too many requests are waiting")]
    Full,
    #[error("the store is closed")]
    Closed,
}

#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<T> {
    tasks: VecDeque<T>,
    idle: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(most: usize) -> Self {
        let state = State { tasks: VecDeque::new(), idle: 0, closed: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), most }
    }

    /// A panic elsewhere leaves a queue that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, task: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.tasks.len() >= self.most {
            return Err(Refused::Full);
        }
        state.tasks.push_back(task);
        let wake = state.idle > 0;
        drop(state);
        // Threads at work look again before they rest: waking costs a system call.
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The next task; nothing when the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        self.wait()?.tasks.pop_front()
    }

    /// Every waiting task, at most `most`; nothing when the queue is closed and empty.
    pub(super) fn drain(&self, most: usize) -> Option<Vec<T>> {
        let mut state = self.wait()?;
        let end = state.tasks.len().min(most);
        Some(state.tasks.drain(..end).collect())
    }

    /// Waits until there is a task.
    fn wait(&self) -> Option<MutexGuard<'_, State<T>>> {
        let mut state = self.lock();
        while state.tasks.is_empty() {
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        Some(state)
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
    }
}
