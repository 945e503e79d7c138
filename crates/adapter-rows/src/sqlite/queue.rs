//! A bounded queue between callers and threads that is fair to shares, and to the projects of one share.
//!
//! Shares take turns, and so do the projects of one. At most half of the threads work for one share at a time. A project whose
//! statements take long has one thread of low priority until they take less, and all such projects of a share have one
//! together. Both bound the time of the threads that one share can use, and a slow project does not slow down its siblings.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use crate::{share_key::ShareKey, statement_time::StatementTimeTracker};

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

#[derive(Debug)]
struct State<T> {
    projects: HashMap<ProjectRef, ProjectQueue<T>>,
    shares: HashMap<ShareKey, ShareQueue>,
    /// The shares that have ready projects and are below their limit, each once, by [`Priority`].
    ready: [VecDeque<ShareKey>; 2],
    waiting: usize,
    /// Number of tasks that threads have taken. They may give some back.
    taken: usize,
    /// Number of waiting threads, by [`Priority`].
    idle_threads: [usize; 2],
    closed: bool,
    usage: StatementTimeTracker<ProjectRef>,
}

/// The waiting tasks of one project, and the number of threads that work for it.
#[derive(Debug)]
struct ProjectQueue<T> {
    /// The share that the first task named, until no task and no thread is left. So a project has one queue, whatever its
    /// callers name.
    share: ShareKey,
    tasks: VecDeque<T>,
    running: usize,
    /// Of these, those of low priority.
    running_low: usize,
    /// The priority with which it is among the ready projects of its share.
    ready: Option<Priority>,
}

/// The projects of one share, and the number of threads that work for them.
#[derive(Debug, Default)]
struct ShareQueue {
    /// Number of projects that have tasks or threads.
    projects: usize,
    waiting: usize,
    /// Number of tasks that threads have taken.
    taken: usize,
    /// By [`Priority`].
    turns: [ShareTurns; 2],
}

/// The turns of a share among the threads of one priority.
#[derive(Debug, Default)]
struct ShareTurns {
    /// The projects that have tasks and are below their limit, each once.
    ready: VecDeque<ProjectRef>,
    running: usize,
    /// True if the share is among those that are ready.
    is_ready: bool,
}

impl<T> State<T> {
    /// Adds a project to those whose turn comes, if it has tasks and is below its limit.
    fn mark_project_ready(&mut self, project: &ProjectRef, limits: QueueLimits) {
        let Some(queue) = self.projects.get_mut(project) else { return };
        // The time of a statement counts once it has ended. Until then, what the project used before decays.
        let is_slow = queue.running_low > 0 || self.usage.is_over_share(project, Instant::now());
        // A closed queue has threads of one priority at last, and what is left is done by them.
        let (threads, priority) = if is_slow && !self.closed {
            (1, Priority::Low)
        } else {
            (limits.threads_per_project, Priority::Normal)
        };
        let Some(share) = self.shares.get_mut(&queue.share) else { return };
        if queue.tasks.is_empty() || queue.running >= threads || queue.ready == Some(priority) {
            return;
        }
        if let Some(other) = queue.ready.replace(priority) {
            // Its statements came to take long, or took less meanwhile.
            let turns = &mut share.turns[other as usize];
            turns.ready.retain(|ready| ready != project);
            if turns.ready.is_empty() && std::mem::take(&mut turns.is_ready) {
                self.ready[other as usize].retain(|ready| *ready != queue.share);
            }
        }
        share.turns[priority as usize].ready.push_back(project.clone());
        let key = queue.share.clone();
        self.mark_share_ready(key, priority, limits);
    }

    /// Adds a share to those whose turn comes, if it has ready projects and is below its limit.
    fn mark_share_ready(&mut self, share: ShareKey, priority: Priority, limits: QueueLimits) {
        let threads = match priority {
            Priority::Normal => limits.threads_per_share,
            Priority::Low => LOW_THREADS_PER_SHARE,
        };
        let Some(queue) = self.shares.get_mut(&share) else { return };
        let turns = &mut queue.turns[priority as usize];
        if !turns.is_ready && !turns.ready.is_empty() && turns.running < threads {
            turns.is_ready = true;
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
        let key = self.ready[priority as usize].pop_front()?;
        let share = self.shares.get_mut(&key)?;
        let turns = &mut share.turns[priority as usize];
        turns.is_ready = false;
        let project = turns.ready.pop_front()?;
        let queue = self.projects.get_mut(&project)?;
        queue.ready = None;
        let rest = queue.tasks.split_off(queue.tasks.len().min(most));
        let tasks = std::mem::replace(&mut queue.tasks, rest);
        queue.running += 1;
        queue.running_low += usize::from(priority == Priority::Low);
        turns.running += 1;
        share.waiting -= tasks.len();
        share.taken += tasks.len();
        self.waiting -= tasks.len();
        self.taken += tasks.len();
        self.mark_project_ready(&project, limits);
        self.mark_share_ready(key.clone(), priority, limits);
        Some((key, project, tasks))
    }

    /// Puts tasks of a project that a thread took back before those that wait.
    fn give_back(&mut self, project: &ProjectRef, mut tasks: VecDeque<T>) {
        self.end_tasks(project, tasks.len());
        let Some(queue) = self.projects.get_mut(project) else { return };
        let Some(share) = self.shares.get_mut(&queue.share) else { return };
        share.waiting += tasks.len();
        self.waiting += tasks.len();
        tasks.append(&mut queue.tasks);
        queue.tasks = tasks;
    }

    /// Ends so many tasks that a thread took.
    fn end_tasks(&mut self, project: &ProjectRef, count: usize) {
        self.taken -= count;
        let Some(queue) = self.projects.get(project) else { return };
        if let Some(share) = self.shares.get_mut(&queue.share) {
            share.taken -= count;
        }
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
            && let Some(share) = self.shares.get_mut(&queue.share)
        {
            share.projects -= 1;
            if share.projects == 0 {
                self.shares.remove(&queue.share);
            }
        }
    }

    /// Gives a thread of a share back.
    fn release_thread(&mut self, project: &ProjectRef, thread: SharedThread, limits: QueueLimits) {
        let SharedThread { share, priority, statement_time, .. } = thread;
        self.usage.add(project, statement_time, Instant::now());
        let Some(queue) = self.shares.get_mut(&share) else { return };
        queue.turns[priority as usize].running -= 1;
        if priority == Priority::Low {
            if let Some(queue) = self.projects.get_mut(project) {
                queue.running_low -= 1;
            }
            // Others of the share may have waited long enough for a turn of normal priority.
            let slow: Vec<ProjectRef> = queue.turns[priority as usize].ready.iter().cloned().collect();
            slow.iter().for_each(|project| self.mark_project_ready(project, limits));
        }
        self.mark_share_ready(share, priority, limits);
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
            taken: 0,
            idle_threads: [0; 2],
            closed: false,
            usage: StatementTimeTracker::new(MIN_LONG_STATEMENT),
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
        if state.waiting + state.taken >= self.limits.capacity {
            return Err(QueueError::Full);
        }
        // One share cannot fill the queue for all of them, nor one project that of its share.
        let most = self.limits.capacity / 2;
        let known = state.projects.get_mut(project);
        let key = known.as_ref().map_or_else(|| ShareKey::from(project), |queue| queue.share.clone());
        let share = state.shares.entry(key.clone()).or_default();
        if share.waiting + share.taken > most {
            return Err(QueueError::Full);
        }
        match known {
            Some(queue) if queue.tasks.len() > most - most / 4 => return Err(QueueError::Full),
            Some(queue) => queue.tasks.push_back(task),
            None => {
                let tasks = VecDeque::from([task]);
                let queue = ProjectQueue { share: key, tasks, running: 0, running_low: 0, ready: None };
                state.projects.insert(project.clone(), queue);
                share.projects += 1;
            }
        }
        share.waiting += 1;
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

/// The thread of a share that works, and since when.
#[derive(Debug)]
struct SharedThread {
    share: ShareKey,
    priority: Priority,
    started_at: Instant,
    /// Time of its long statements.
    statement_time: Duration,
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
    fn projects_whose_work_takes_long_have_one_thread_of_their_share() {
        let queue = queue(2, 2);
        let (loud, other, sibling) =
            (project_of(1, "loud"), project_of(1, "other"), project_of(1, "sibling"));
        for task in 0..4 {
            queue.push(&loud, task).unwrap();
        }
        let (mut slow, _) = take(&queue);
        slow.record_statement(LONG);
        slow.record_statement(MIN_LONG_STATEMENT);
        drop(slow);
        queue.lock().usage.add(&other, LONG, Instant::now());
        queue.push(&other, 100).unwrap();
        let (first, tasks) = queue.pop_batch(1, Priority::Low).unwrap();
        assert_eq!(tasks, [1]);
        let next = || queue.lock().take(1, Priority::Low, queue.limits);
        assert!(next().is_none(), "one thread works for them, which is their share");
        queue.push(&sibling, 200).unwrap();
        assert_eq!(take(&queue).1, 200, "a sibling whose statements are short does not wait");
        drop(first);
        assert_eq!(queue.pop_batch(1, Priority::Low).unwrap().1, [100], "in turn, as always");
    }

    #[test]
    fn a_project_whose_work_takes_less_again_waits_for_no_thread_of_low_priority() {
        let (queue, slow) = (queue(2, 2), project_of(1, "slow"));
        let long_ago = Instant::now().checked_sub(LONG).unwrap();
        queue.lock().usage.add(&slow, LONG, Instant::now());
        queue.push(&slow, 0).unwrap();
        assert_eq!(ready(&queue), [0, 1]);
        queue.lock().usage = StatementTimeTracker::new(MIN_LONG_STATEMENT);
        queue.lock().usage.add(&slow, MIN_LONG_STATEMENT * 2, long_ago);
        queue.push(&slow, 1).unwrap();
        let (turn, task) = take(&queue);
        assert_eq!(task, 0);
        drop(turn);
        assert_eq!(take(&queue).1, 1);
        assert!(queue.lock().take(1, Priority::Low, queue.limits).is_none());
    }

    #[test]
    fn a_closed_queue_is_emptied_by_a_thread_of_any_priority() {
        let (queue, one) = (queue(1, 1), project("one"));
        for task in 0..2 {
            queue.push(&one, task).unwrap();
        }
        let (mut turn, tasks) = queue.pop_batch(2, Priority::Normal).unwrap();
        queue.close();
        assert!(queue.pop_batch(1, Priority::Low).is_none(), "nothing waits, so the thread ends");
        turn.record_statement(LONG);
        turn.give_back(tasks);
        drop(turn);
        assert_eq!(queue.pop_batch(2, Priority::Normal).unwrap().1, [0, 1]);
        let slow = project("slow");
        let slow_queue = self::queue(1, 1);
        slow_queue.lock().usage.add(&slow, LONG, Instant::now());
        slow_queue.push(&slow, 2).unwrap();
        slow_queue.close();
        assert_eq!(slow_queue.pop_batch(1, Priority::Normal).unwrap().1, [2]);
    }

    #[test]
    fn tasks_that_are_given_back_are_the_next_ones() {
        let (queue, one) = (queue(1, 1), project("one"));
        for task in 0..3 {
            queue.push(&one, task).unwrap();
        }
        let (mut turn, mut tasks) = queue.pop_batch(3, Priority::Normal).unwrap();
        queue.push(&one, 3).unwrap();
        assert_eq!(tasks.pop_front(), Some(0));
        turn.give_back(tasks);
        let counts = || {
            let state = queue.lock();
            (state.waiting, state.taken)
        };
        assert_eq!(counts(), (3, 1));
        drop(turn);
        assert_eq!(counts(), (3, 0));
        assert_eq!(queue.pop_batch(9, Priority::Normal).unwrap().1, [1, 2, 3]);
        assert!(queue.lock().projects.is_empty());
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
    fn what_threads_have_taken_counts_as_well() {
        let queue = queue(2, 1);
        let push = |name| (0..200).filter(|task| queue.push(&project_of(1, name), *task).is_ok()).count();
        assert_eq!(push("one"), 39);
        let (mut turn, tasks) = queue.pop_batch(30, Priority::Normal).unwrap();
        assert_eq!(push("two"), 12);
        turn.give_back(tasks);
        drop(turn);
        assert_eq!(push("three"), 0, "the share has all that it may have");
    }

    #[test]
    fn a_project_is_slow_for_as_long_as_its_statement_runs() {
        let (queue, slow) = (queue(2, 2), project_of(1, "slow"));
        queue.lock().usage.add(&slow, LONG, Instant::now());
        queue.push(&slow, 0).unwrap();
        let (turn, _) = queue.pop_batch(1, Priority::Low).unwrap();
        // All that it used before has decayed.
        queue.lock().usage = StatementTimeTracker::new(MIN_LONG_STATEMENT);
        queue.push(&slow, 1).unwrap();
        assert_eq!(ready(&queue), [0, 0]);
        drop(turn);
        assert_eq!(take(&queue).1, 1);
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
