//! A bounded queue between callers and threads that is fair to projects.
//!
//! Projects take turns, and at most a share of the threads works for one of them at a time. A project whose statements
//! take long has one thread of low priority until they take less. Both bound the time of the threads that one project
//! can use.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use crate::statement_time::StatementTimeTracker;

/// Time up to which a task does not count as long.
const MIN_LONG_TASK: Duration = Duration::from_millis(20);

/// The priority of a thread, and of the tasks that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The priority of the process.
    Normal,
    /// For tasks of projects whose statements take long.
    Low,
}

/// The error of a task that the queue does not accept.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueueError {
    #[error("too many requests are waiting")]
    Full,
    #[error("the store is closed")]
    Closed,
}

#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    /// By [`Priority`].
    work_available: [Condvar; 2],
    capacity: usize,
    threads_per_project: usize,
}

#[derive(Debug)]
struct State<T> {
    projects: HashMap<ProjectRef, ProjectQueue<T>>,
    /// The projects that have tasks and are below their share, each once, by [`Priority`].
    ready: [VecDeque<ProjectRef>; 2],
    waiting: usize,
    /// Number of waiting threads, by [`Priority`].
    idle_threads: [usize; 2],
    closed: bool,
    usage: StatementTimeTracker<ProjectRef>,
}

/// The waiting tasks of one project, and the number of threads that work for it.
#[derive(Debug)]
struct ProjectQueue<T> {
    tasks: VecDeque<T>,
    running: usize,
    is_ready: bool,
}

impl<T> State<T> {
    /// Adds a project to those whose turn comes, if it has tasks and is below its share.
    fn mark_ready(&mut self, project: &ProjectRef, share: usize) {
        let over = self.usage.is_over_share(project, Instant::now());
        let (share, priority) = if over { (1, Priority::Low) } else { (share, Priority::Normal) };
        if let Some(queue) = self.projects.get_mut(project)
            && !queue.is_ready
            && !queue.tasks.is_empty()
            && queue.running < share
        {
            queue.is_ready = true;
            self.ready[priority as usize].push_back(project.clone());
        }
    }

    /// Returns the priorities that have tasks and a waiting thread.
    fn priorities_to_wake(&self) -> impl Iterator<Item = Priority> + use<T> {
        let wake = [Priority::Normal, Priority::Low].map(|priority| {
            self.idle_threads[priority as usize] > 0 && !self.ready[priority as usize].is_empty()
        });
        [Priority::Normal, Priority::Low]
            .into_iter()
            .zip(wake)
            .filter_map(|(priority, wake)| wake.then_some(priority))
    }
}

impl<T> Queue<T> {
    /// Creates a queue of `capacity` tasks in which a project has at most `share` threads at once.
    pub(super) fn new(capacity: usize, share: usize) -> Self {
        let state = State {
            projects: HashMap::new(),
            ready: Default::default(),
            waiting: 0,
            idle_threads: [0; 2],
            closed: false,
            usage: StatementTimeTracker::new(MIN_LONG_TASK),
        };
        Self {
            state: Mutex::new(state),
            work_available: Default::default(),
            capacity,
            threads_per_project: share.max(1),
        }
    }

    /// Locks the queue. A poisoned lock is no problem: no change of the queue can panic halfway.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, project: &ProjectRef, task: T) -> Result<(), QueueError> {
        let mut state = self.lock();
        if state.closed {
            return Err(QueueError::Closed);
        }
        if state.waiting >= self.capacity {
            return Err(QueueError::Full);
        }
        match state.projects.get_mut(project) {
            // One project cannot fill the queue for all of them.
            Some(queue) if queue.tasks.len() > self.capacity / 2 => return Err(QueueError::Full),
            Some(queue) => queue.tasks.push_back(task),
            None => {
                let queue = ProjectQueue { tasks: VecDeque::from([task]), running: 0, is_ready: false };
                state.projects.insert(project.clone(), queue);
            }
        }
        state.waiting += 1;
        state.mark_ready(project, self.threads_per_project);
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
            if let Some(project) = state.ready[priority as usize].pop_front()
                && let Some(queue) = state.projects.get_mut(&project)
            {
                queue.is_ready = false;
                queue.running += 1;
                let rest = queue.tasks.split_off(queue.tasks.len().min(most));
                let tasks = std::mem::replace(&mut queue.tasks, rest);
                state.waiting -= tasks.len();
                state.mark_ready(&project, self.threads_per_project);
                self.wake(state);
                let permit = WorkPermit { queue: Arc::clone(self), project, started_at: Instant::now() };
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

    fn finish(&self, project: &ProjectRef, took: Duration) {
        let mut state = self.lock();
        state.usage.add(project, took, Instant::now());
        let Some(queue) = state.projects.get_mut(project) else { return };
        queue.running -= 1;
        if queue.running == 0 && queue.tasks.is_empty() {
            state.projects.remove(project);
        } else {
            state.mark_ready(project, self.threads_per_project);
        }
        // Threads that wait for the last tasks of a closed queue must notice that there are none.
        if state.closed {
            drop(state);
            self.work_available.iter().for_each(Condvar::notify_all);
        } else {
            self.wake(state);
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
    started_at: Instant,
}

impl<T> Drop for WorkPermit<T> {
    fn drop(&mut self) {
        self.queue.finish(&self.project, self.started_at.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str) -> ProjectRef {
        ProjectRef::new(name.parse().unwrap(), 0)
    }

    fn queue(share: usize) -> Arc<Queue<u32>> {
        Arc::new(Queue::new(100, share))
    }

    fn take(queue: &Arc<Queue<u32>>) -> (WorkPermit<u32>, u32) {
        let (turn, tasks) = queue.pop_batch(1, Priority::Normal).unwrap();
        (turn, tasks[0])
    }

    #[test]
    fn projects_take_turns_and_keep_to_their_share() {
        let (queue, loud, quiet) = (queue(2), project("loud"), project("quiet"));
        for task in 0..10 {
            queue.push(&loud, task).unwrap();
        }
        queue.push(&quiet, 100).unwrap();
        let (first, second) = (take(&queue), take(&queue));
        assert_eq!(
            (first.1, second.1),
            (0, 100),
            "the quiet project does not wait for all tasks of the other"
        );
        let third = take(&queue);
        assert_eq!(third.1, 1);
        // The loud project has its share of threads: its tasks wait, and those of others do not.
        assert!(queue.lock().ready[0].is_empty());
        queue.push(&quiet, 101).unwrap();
        assert_eq!(take(&queue).1, 101);
        drop(first);
        assert_eq!(take(&queue).1, 2);
    }

    #[test]
    fn a_project_whose_work_takes_long_has_one_thread() {
        let (queue, loud) = (queue(2), project("loud"));
        for task in 0..4 {
            queue.push(&loud, task).unwrap();
        }
        let (slow, _) = take(&queue);
        queue.finish(&loud, Duration::from_secs(5));
        queue.lock().projects.get_mut(&loud).unwrap().running += 1;
        let another = take(&queue);
        drop(slow);
        assert!(
            queue.lock().ready.iter().all(VecDeque::is_empty),
            "one thread works for it, which is its share now"
        );
        drop(another);
        let ready = queue.lock().ready.each_ref().map(VecDeque::len);
        assert_eq!(ready, [0, 1], "a thread of low priority is next");
        assert_eq!(queue.pop_batch(1, Priority::Low).unwrap().1, [2]);
    }

    #[test]
    fn one_project_cannot_fill_the_queue() {
        let (queue, loud) = (queue(1), project("loud"));
        let accepted = (0..200).filter(|task| queue.push(&loud, *task).is_ok()).count();
        assert_eq!(accepted, 51);
        queue.push(&project("quiet"), 0).unwrap();
    }

    #[test]
    fn tasks_of_a_project_are_taken_together_by_one_thread() {
        let (queue, one) = (queue(1), project("one"));
        for task in 0..5 {
            queue.push(&one, task).unwrap();
        }
        let (turn, tasks) = queue.pop_batch(3, Priority::Normal).unwrap();
        assert_eq!(tasks, [0, 1, 2]);
        queue.push(&one, 5).unwrap();
        assert!(queue.lock().ready[0].is_empty());
        drop(turn);
        queue.close();
        assert!(matches!(queue.push(&one, 6), Err(QueueError::Closed)));
        let (turn, tasks) = queue.pop_batch(10, Priority::Normal).unwrap();
        assert_eq!(tasks, [3, 4, 5], "accepted tasks are done before the queue ends");
        drop(turn);
        assert!(queue.pop_batch(1, Priority::Normal).is_none());
        assert!(queue.lock().projects.is_empty());
    }
}
