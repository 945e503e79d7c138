//! What waits, what runs and whose turn it is. Nothing here waits or locks.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use crate::{share_key::ShareKey, statement_time::StatementTimeTracker};

/// Time up to which a statement does not count as long.
pub(super) const MIN_LONG_STATEMENT: Duration = Duration::from_millis(20);

/// Maximum number of threads of low priority that work for one share.
const LOW_THREADS_PER_SHARE: usize = 1;

/// The priority of a thread, and of the tasks that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// The priority of the process.
    Normal,
    /// For tasks of projects whose statements take long.
    Low,
}

impl Priority {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Normal => Self::Low,
            Self::Low => Self::Normal,
        }
    }
}

/// The error of a task that the queue does not accept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    #[error("too many requests are waiting")]
    Full,
    #[error("the store is closed")]
    Closed,
}

/// Maximum numbers of tasks that wait, and of threads that work at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// Maximum number of tasks that wait or that a thread has taken. One share may have half of them, and three quarters of
    /// these wait for one project.
    pub(crate) capacity: usize,
    /// Maximum number of threads of normal priority that work for one share.
    pub(crate) threads_per_share: usize,
    /// Maximum number of threads that work for one project.
    pub(crate) threads_per_project: usize,
}

#[derive(Debug)]
pub(super) struct State<T> {
    pub(super) projects: HashMap<ProjectRef, ProjectQueue<T>>,
    pub(super) shares: HashMap<ShareKey, ShareQueue>,
    /// The shares that have ready projects and are below their limit, each once, by [`Priority`].
    pub(super) ready: [VecDeque<ShareKey>; 2],
    pub(super) waiting: usize,
    /// Number of tasks that threads have taken. They may give some back.
    pub(super) taken: usize,
    /// Number of waiting threads, by [`Priority`].
    pub(super) idle_threads: [usize; 2],
    pub(super) closed: bool,
    pub(super) usage: StatementTimeTracker<ProjectRef>,
}

/// The waiting tasks of one project, and the number of threads that work for it.
#[derive(Debug)]
pub(super) struct ProjectQueue<T> {
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
pub(super) struct ShareQueue {
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
    pub(super) fn new() -> Self {
        Self {
            projects: HashMap::new(),
            shares: HashMap::new(),
            ready: Default::default(),
            waiting: 0,
            taken: 0,
            idle_threads: [0; 2],
            closed: false,
            usage: StatementTimeTracker::new(MIN_LONG_STATEMENT),
        }
    }

    /// Adds a task of a project.
    pub(super) fn push(
        &mut self,
        project: &ProjectRef,
        task: T,
        limits: QueueLimits,
    ) -> Result<(), QueueError> {
        if self.closed {
            return Err(QueueError::Closed);
        }
        if self.waiting + self.taken >= limits.capacity {
            return Err(QueueError::Full);
        }
        // One share cannot fill the queue for all of them, nor one project that of its share.
        let most = limits.capacity / 2;
        let known = self.projects.get_mut(project);
        let key = known.as_ref().map_or_else(|| ShareKey::from(project), |queue| queue.share.clone());
        let share = self.shares.entry(key.clone()).or_default();
        if share.waiting + share.taken > most {
            return Err(QueueError::Full);
        }
        match known {
            Some(queue) if queue.tasks.len() > most - most / 4 => return Err(QueueError::Full),
            Some(queue) => queue.tasks.push_back(task),
            None => {
                let tasks = VecDeque::from([task]);
                let queue = ProjectQueue { share: key, tasks, running: 0, running_low: 0, ready: None };
                self.projects.insert(project.clone(), queue);
                share.projects += 1;
            }
        }
        share.waiting += 1;
        self.waiting += 1;
        self.mark_project_ready(project, limits);
        Ok(())
    }

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
    pub(super) fn take(
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
    pub(super) fn give_back(&mut self, project: &ProjectRef, mut tasks: VecDeque<T>) {
        self.end_tasks(project, tasks.len());
        let Some(queue) = self.projects.get_mut(project) else { return };
        let Some(share) = self.shares.get_mut(&queue.share) else { return };
        share.waiting += tasks.len();
        self.waiting += tasks.len();
        tasks.append(&mut queue.tasks);
        queue.tasks = tasks;
    }

    /// Ends so many tasks that a thread took.
    pub(super) fn end_tasks(&mut self, project: &ProjectRef, count: usize) {
        self.taken -= count;
        let Some(queue) = self.projects.get(project) else { return };
        if let Some(share) = self.shares.get_mut(&queue.share) {
            share.taken -= count;
        }
    }

    /// Ends the work of a thread for a project, and removes what has nothing left to do.
    pub(super) fn finish(&mut self, project: &ProjectRef, limits: QueueLimits) {
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
    pub(super) fn release_thread(&mut self, project: &ProjectRef, thread: SharedThread, limits: QueueLimits) {
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
    pub(super) fn priorities_to_wake(&self) -> impl Iterator<Item = Priority> + use<T> {
        let wake = [Priority::Normal, Priority::Low].map(|priority| {
            self.idle_threads[priority as usize] > 0 && !self.ready[priority as usize].is_empty()
        });
        [Priority::Normal, Priority::Low]
            .into_iter()
            .zip(wake)
            .filter_map(|(priority, wake)| wake.then_some(priority))
    }
}

/// The thread of a share that works, and since when.
#[derive(Debug)]
pub(super) struct SharedThread {
    pub(super) share: ShareKey,
    pub(super) priority: Priority,
    pub(super) started_at: Instant,
    /// Time of its long statements.
    pub(super) statement_time: Duration,
}
