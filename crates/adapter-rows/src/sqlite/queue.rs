//! A bounded queue between callers and threads that is fair to shares, and to the projects of one share.
//!
//! Shares take turns, and so do the projects of one. At most half of the threads work for one share at a time. A share
//! whose statements take long has one thread of low priority until they take less. Both bound the time of the threads
//! that one share can use.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use crate::{share_key::ShareKey, statement_time::StatementTimeTracker};

/// Time up to which a task does not count as long.
const MIN_LONG_TASK: Duration = Duration::from_millis(20);

/// The priority of a thread, and of the tasks that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The priority of the process.
    Normal,
    /// For tasks of shares whose statements take long.
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

/// Maximum numbers of tasks that wait, and of threads that work at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimits {
    /// Maximum number of waiting tasks. One share may have half of them, one project three quarters of these.
    pub(super) capacity: usize,
    /// Maximum number of threads that work for one share.
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

#[derive(Debug)]
struct State<T> {
    projects: HashMap<ProjectRef, ProjectQueue<T>>,
    shares: HashMap<ShareKey, ShareQueue>,
    /// The shares that have ready projects and are below their limit, each once, by [`Priority`].
    ready: [VecDeque<ShareKey>; 2],
    waiting: usize,
    /// Number of waiting threads, by [`Priority`].
    idle_threads: [usize; 2],
    closed: bool,
    usage: StatementTimeTracker<ShareKey>,
}

/// The waiting tasks of one project, and the number of threads that work for it.
#[derive(Debug)]
struct ProjectQueue<T> {
    /// The share that the first task named, until no task is left. So a project has one queue, whatever its callers name.
    share: ShareKey,
    tasks: VecDeque<T>,
    running: usize,
    is_ready: bool,
}

/// The projects of one share, and the number of threads that work for them.
#[derive(Debug, Default)]
struct ShareQueue {
    /// Number of projects that have tasks or threads.
    projects: usize,
    /// The projects that have tasks and are below their limit, each once.
    ready: VecDeque<ProjectRef>,
    waiting: usize,
    running: usize,
    is_ready: bool,
}

impl<T> State<T> {
    /// Adds a project to those whose turn comes, if it has tasks and is below its limit.
    fn mark_project_ready(&mut self, project: &ProjectRef, limits: QueueLimits) {
        let Some(queue) = self.projects.get_mut(project) else { return };
        let share = queue.share.clone();
        if !queue.is_ready
            && !queue.tasks.is_empty()
            && queue.running < limits.threads_per_project
            && let Some(shared) = self.shares.get_mut(&share)
        {
            queue.is_ready = true;
            shared.ready.push_back(project.clone());
        }
        self.mark_share_ready(share, limits);
    }

    /// Adds a share to those whose turn comes, if it has ready projects and is below its limit.
    fn mark_share_ready(&mut self, share: ShareKey, limits: QueueLimits) {
        let over = self.usage.is_over_share(&share, Instant::now());
        let (threads, priority) =
            if over { (1, Priority::Low) } else { (limits.threads_per_share, Priority::Normal) };
        if let Some(queue) = self.shares.get_mut(&share)
            && !queue.is_ready
            && !queue.ready.is_empty()
            && queue.running < threads
        {
            queue.is_ready = true;
            self.ready[priority as usize].push_back(share);
        }
    }

    /// Takes the next tasks, at most `most`, of the project whose turn it is.
    fn take(
        &mut self,
        most: usize,
        priority: Priority,
        limits: QueueLimits,
    ) -> Option<(ShareKey, ProjectRef, VecDeque<T>)> {
        let share = self.ready[priority as usize].pop_front()?;
        let shared = self.shares.get_mut(&share)?;
        shared.is_ready = false;
        let project = shared.ready.pop_front()?;
        let queue = self.projects.get_mut(&project)?;
        queue.is_ready = false;
        let rest = queue.tasks.split_off(queue.tasks.len().min(most));
        let tasks = std::mem::replace(&mut queue.tasks, rest);
        queue.running += 1;
        shared.running += 1;
        shared.waiting -= tasks.len();
        self.waiting -= tasks.len();
        self.mark_project_ready(&project, limits);
        Some((share, project, tasks))
    }

    /// Ends the work of a thread for a project, and removes what has nothing left to do.
    fn finish(&mut self, project: &ProjectRef, limits: QueueLimits) {
        let Some(queue) = self.projects.get_mut(project) else { return };
        queue.running -= 1;
        if queue.running > 0 || !queue.tasks.is_empty() {
            self.mark_project_ready(project, limits);
            return;
        }
        if let Some(queue) = self.projects.remove(project)
            && let Some(shared) = self.shares.get_mut(&queue.share)
        {
            shared.projects -= 1;
            if shared.projects == 0 {
                self.shares.remove(&queue.share);
            }
        }
    }

    /// Gives a thread of a share back, which was busy for some time.
    fn release_thread(&mut self, share: &ShareKey, took: Duration, limits: QueueLimits) {
        self.usage.add(share, took, Instant::now());
        if let Some(shared) = self.shares.get_mut(share) {
            shared.running -= 1;
            self.mark_share_ready(share.clone(), limits);
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
    pub(super) fn new(limits: QueueLimits) -> Self {
        let state = State {
            projects: HashMap::new(),
            shares: HashMap::new(),
            ready: Default::default(),
            waiting: 0,
            idle_threads: [0; 2],
            closed: false,
            usage: StatementTimeTracker::new(MIN_LONG_TASK),
        };
        let threads_per_share = limits.threads_per_share.max(1);
        let threads_per_project = limits.threads_per_project.max(1);
        let limits = QueueLimits { threads_per_share, threads_per_project, ..limits };
        Self { state: Mutex::new(state), work_available: Default::default(), limits }
    }

    /// Locks the queue. A poisoned lock is no problem: no change of the queue can panic halfway.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, project: &ProjectRef, task: T) -> Result<(), QueueError> {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.closed {
            return Err(QueueError::Closed);
        }
        if state.waiting >= self.limits.capacity {
            return Err(QueueError::Full);
        }
        // One share cannot fill the queue for all of them, nor one project that of its share.
        let most = self.limits.capacity / 2;
        let known = state.projects.get_mut(project);
        let share = known.as_ref().map_or_else(|| ShareKey::from(project), |queue| queue.share.clone());
        let shared = state.shares.entry(share.clone()).or_default();
        if shared.waiting > most {
            return Err(QueueError::Full);
        }
        match known {
            Some(queue) if queue.tasks.len() > most - most / 4 => return Err(QueueError::Full),
            Some(queue) => queue.tasks.push_back(task),
            None => {
                let tasks = VecDeque::from([task]);
                let queue = ProjectQueue { share, tasks, running: 0, is_ready: false };
                state.projects.insert(project.clone(), queue);
                shared.projects += 1;
            }
        }
        shared.waiting += 1;
        state.waiting += 1;
        state.mark_project_ready(project, self.limits);
        // Wakes only idle threads, since waking costs a system call; a busy one looks for tasks before it waits.
        self.wake(guard);
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
            if let Some((share, project, tasks)) = state.take(most, priority, self.limits) {
                self.wake(state);
                let queue = Arc::clone(self);
                let thread = Some(SharedThread { share, started_at: Instant::now() });
                return Some((WorkPermit { queue, project, thread }, tasks));
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
    /// `None` once the work goes on elsewhere.
    thread: Option<SharedThread>,
}

/// The thread of a share that works, and since when.
#[derive(Debug)]
struct SharedThread {
    share: ShareKey,
    started_at: Instant,
}

impl<T> WorkPermit<T> {
    /// Gives the share's thread back, and keeps the project: its work goes on in a thread of its own.
    pub(super) fn detach(mut self) -> Self {
        if let Some(SharedThread { share, started_at }) = self.thread.take() {
            let mut state = self.queue.lock();
            state.release_thread(&share, started_at.elapsed(), self.queue.limits);
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
        if let Some(SharedThread { share, started_at }) = self.thread.take() {
            state.release_thread(&share, started_at.elapsed(), limits);
        }
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
mod tests {
    use backend_data::ShareId;

    use super::*;

    const LONG: Duration = Duration::from_secs(5);

    fn project(name: &str) -> ProjectRef {
        ProjectRef::new(name.parse().unwrap(), 0)
    }

    fn project_of(share: u128, name: &str) -> ProjectRef {
        project(name).with_share(ShareId(share))
    }

    fn queue(threads_per_share: usize, threads_per_project: usize) -> Arc<Queue<u32>> {
        Arc::new(Queue::new(QueueLimits { capacity: 100, threads_per_share, threads_per_project }))
    }

    fn take(queue: &Arc<Queue<u32>>) -> (WorkPermit<u32>, u32) {
        let (turn, tasks) = queue.pop_batch(1, Priority::Normal).unwrap();
        (turn, tasks[0])
    }

    fn ready<T>(queue: &Queue<T>) -> [usize; 2] {
        queue.lock().ready.each_ref().map(VecDeque::len)
    }

    #[test]
    fn projects_take_turns_and_keep_to_their_share() {
        let (queue, loud, quiet) = (queue(2, 2), project("loud"), project("quiet"));
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
        assert_eq!(ready(&queue), [0, 0]);
        queue.push(&quiet, 101).unwrap();
        assert_eq!(take(&queue).1, 101);
        drop(first);
        assert_eq!(take(&queue).1, 2);
    }

    #[test]
    fn projects_of_one_share_have_one_share() {
        let (queue, quiet) = (queue(2, 1), project("quiet"));
        for (task, name) in ["a", "b", "c", "a"].into_iter().enumerate() {
            queue.push(&project_of(1, name), u32::try_from(task).unwrap()).unwrap();
        }
        let (first, second) = (take(&queue), take(&queue));
        assert_eq!((first.1, second.1), (0, 1), "the projects of a share take turns");
        assert_eq!(ready(&queue), [0, 0], "two threads work for it, which is its share");
        queue.push(&quiet, 100).unwrap();
        assert_eq!(take(&queue).1, 100);
        drop(second);
        assert_eq!(take(&queue).1, 2);
        drop(first);
        assert_eq!(take(&queue).1, 3);
        assert_eq!(queue.lock().waiting, 0);
    }

    #[test]
    fn a_project_has_one_queue_whatever_share_its_callers_name() {
        let queue = queue(2, 1);
        queue.push(&project("one"), 0).unwrap();
        queue.push(&project_of(1, "one"), 1).unwrap();
        let (turn, tasks) = queue.pop_batch(1, Priority::Normal).unwrap();
        assert_eq!(tasks, [0]);
        assert_eq!(ready(&queue), [0, 0], "one thread works for a project");
        drop(turn);
        assert_eq!(take(&queue).1, 1);
        let state = queue.lock();
        assert!(state.projects.is_empty() && state.shares.is_empty());
    }

    #[test]
    fn a_share_whose_work_takes_long_has_one_thread() {
        let queue = queue(2, 2);
        let (loud, sibling) = (project_of(1, "loud"), project_of(1, "sibling"));
        for task in 0..4 {
            queue.push(&loud, task).unwrap();
        }
        let (slow, _) = take(&queue);
        queue.lock().usage.add(&ShareKey::from(&loud), LONG, Instant::now());
        let another = take(&queue);
        queue.push(&sibling, 100).unwrap();
        drop(slow);
        assert_eq!(ready(&queue), [0, 0], "one thread works for it, which is its share now");
        drop(another);
        assert_eq!(ready(&queue), [0, 1], "a thread of low priority is next");
        assert_eq!(queue.pop_batch(1, Priority::Low).unwrap().1, [100], "in turn, as always");
    }

    #[test]
    fn neither_a_project_nor_a_share_can_fill_the_queue() {
        let queue = queue(1, 1);
        let accepted =
            |share, name| (0..200).filter(|task| queue.push(&project_of(share, name), *task).is_ok()).count();
        assert_eq!(accepted(1, "loud"), 39);
        assert_eq!(accepted(1, "sibling"), 12);
        assert_eq!(accepted(1, "another"), 0);
        assert_eq!(accepted(2, "quiet"), 39);
    }

    #[test]
    fn work_that_goes_on_elsewhere_keeps_its_project_and_not_its_thread() {
        let queue = queue(1, 1);
        for (task, name) in ["imports", "imports", "sibling"].into_iter().enumerate() {
            queue.push(&project_of(1, name), u32::try_from(task).unwrap()).unwrap();
        }
        let (import, _) = take(&queue);
        assert_eq!(ready(&queue), [0, 0]);
        let import = import.detach();
        let (sibling, task) = take(&queue);
        assert_eq!(task, 2);
        drop(sibling);
        assert_eq!(ready(&queue), [0, 0], "the project is still at work");
        drop(import);
        assert_eq!(take(&queue).1, 1);
    }

    #[test]
    fn tasks_of_a_project_are_taken_together_by_one_thread() {
        let (queue, one) = (queue(1, 1), project("one"));
        for task in 0..5 {
            queue.push(&one, task).unwrap();
        }
        let (turn, tasks) = queue.pop_batch(3, Priority::Normal).unwrap();
        assert_eq!(tasks, [0, 1, 2]);
        queue.push(&one, 5).unwrap();
        assert_eq!(ready(&queue), [0, 0]);
        drop(turn);
        queue.close();
        assert!(matches!(queue.push(&one, 6), Err(QueueError::Closed)));
        let (turn, tasks) = queue.pop_batch(10, Priority::Normal).unwrap();
        assert_eq!(tasks, [3, 4, 5], "accepted tasks are done before the queue ends");
        drop(turn);
        assert!(queue.pop_batch(1, Priority::Normal).is_none());
        let state = queue.lock();
        assert!(state.projects.is_empty() && state.shares.is_empty());
    }
}
