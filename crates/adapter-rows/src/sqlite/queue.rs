//! A bounded queue between callers and threads, with a share for each project.
//!
//! Projects take turns, and no more than a share of the threads works for one of them at a time. A project whose
//! statements take long has one thread until they take less, and that one of a low priority: how much of everybody's time
//! one project can use is bounded in all these ways.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;

use crate::statement_time::StatementTime;

/// Work that takes less is not counted as long.
const SHORT: Duration = Duration::from_millis(20);

/// The priority of a thread, and of the work it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The server's own.
    Normal,
    /// Work of projects whose statements take long.
    Low,
}

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
    /// By [`Priority`].
    filled: [Condvar; 2],
    most: usize,
    share: usize,
}

#[derive(Debug)]
struct State<T> {
    lanes: HashMap<ProjectRef, Lane<T>>,
    /// The projects that have work and are below their share, each once; by [`Priority`].
    turns: [VecDeque<ProjectRef>; 2],
    waiting: usize,
    /// Threads that wait; by [`Priority`].
    idle: [usize; 2],
    closed: bool,
    used: StatementTime<ProjectRef>,
}

/// What waits for one project, and how many threads work for it.
#[derive(Debug)]
struct Lane<T> {
    tasks: VecDeque<T>,
    running: usize,
    in_turns: bool,
}

impl<T> State<T> {
    /// Puts a project among those whose turn comes, where it may have one.
    fn queue(&mut self, project: &ProjectRef, share: usize) {
        let over = self.used.is_over_share(project, Instant::now());
        let (share, priority) = if over { (1, Priority::Low) } else { (share, Priority::Normal) };
        if let Some(lane) = self.lanes.get_mut(project)
            && !lane.in_turns
            && !lane.tasks.is_empty()
            && lane.running < share
        {
            lane.in_turns = true;
            self.turns[priority as usize].push_back(project.clone());
        }
    }

    /// The priorities of which there is work, and a thread that waits for it.
    fn to_wake(&self) -> impl Iterator<Item = Priority> + use<T> {
        let wake = [Priority::Normal, Priority::Low]
            .map(|priority| self.idle[priority as usize] > 0 && !self.turns[priority as usize].is_empty());
        [Priority::Normal, Priority::Low]
            .into_iter()
            .zip(wake)
            .filter_map(|(priority, wake)| wake.then_some(priority))
    }
}

impl<T> Queue<T> {
    /// A queue of `most` tasks whose projects have `share` threads at once.
    pub(super) fn new(most: usize, share: usize) -> Self {
        let state = State {
            lanes: HashMap::new(),
            turns: Default::default(),
            waiting: 0,
            idle: [0; 2],
            closed: false,
            used: StatementTime::new(SHORT),
        };
        Self { state: Mutex::new(state), filled: Default::default(), most, share: share.max(1) }
    }

    /// A panic elsewhere leaves a queue that is still whole: nothing in here calls foreign code halfway.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, project: &ProjectRef, task: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.waiting >= self.most {
            return Err(Refused::Full);
        }
        match state.lanes.get_mut(project) {
            // One project cannot fill what all of them wait in.
            Some(lane) if lane.tasks.len() > self.most / 2 => return Err(Refused::Full),
            Some(lane) => lane.tasks.push_back(task),
            None => {
                let lane = Lane { tasks: VecDeque::from([task]), running: 0, in_turns: false };
                state.lanes.insert(project.clone(), lane);
            }
        }
        state.waiting += 1;
        state.queue(project, self.share);
        // Threads at work look again before they rest: waking costs a system call.
        self.wake(state);
        Ok(())
    }

    /// Wakes threads for the work there is.
    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        let priorities = state.to_wake();
        drop(state);
        for priority in priorities {
            self.filled[priority as usize].notify_one();
        }
    }

    /// The next tasks of the project whose turn it is, at most `most`, for a thread of this priority; nothing when the
    /// queue is closed and empty. They are worked on until the turn is dropped.
    pub(super) fn next(self: &Arc<Self>, most: usize, priority: Priority) -> Option<(Turn<T>, VecDeque<T>)> {
        let mut state = self.lock();
        loop {
            if let Some(project) = state.turns[priority as usize].pop_front()
                && let Some(lane) = state.lanes.get_mut(&project)
            {
                lane.in_turns = false;
                lane.running += 1;
                let rest = lane.tasks.split_off(lane.tasks.len().min(most));
                let tasks = std::mem::replace(&mut lane.tasks, rest);
                state.waiting -= tasks.len();
                state.queue(&project, self.share);
                self.wake(state);
                let turn = Turn { queue: Arc::clone(self), project, begun: Instant::now() };
                return Some((turn, tasks));
            }
            if state.closed && state.waiting == 0 {
                return None;
            }
            state.idle[priority as usize] += 1;
            state = self.filled[priority as usize].wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle[priority as usize] -= 1;
        }
    }

    fn done(&self, project: &ProjectRef, took: Duration) {
        let mut state = self.lock();
        state.used.add(project, took, Instant::now());
        let Some(lane) = state.lanes.get_mut(project) else { return };
        lane.running -= 1;
        if lane.running == 0 && lane.tasks.is_empty() {
            state.lanes.remove(project);
        } else {
            state.queue(project, self.share);
        }
        // Whoever waits for the last tasks of a closed queue is told that there may be none.
        if state.closed {
            drop(state);
            self.filled.iter().for_each(Condvar::notify_all);
        } else {
            self.wake(state);
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.iter().for_each(Condvar::notify_all);
    }
}

/// Work for a project by one thread.
#[derive(Debug)]
pub(super) struct Turn<T> {
    queue: Arc<Queue<T>>,
    pub(super) project: ProjectRef,
    begun: Instant,
}

impl<T> Drop for Turn<T> {
    fn drop(&mut self) {
        self.queue.done(&self.project, self.begun.elapsed());
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

    fn take(queue: &Arc<Queue<u32>>) -> (Turn<u32>, u32) {
        let (turn, tasks) = queue.next(1, Priority::Normal).unwrap();
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
        assert_eq!((first.1, second.1), (0, 100), "the quiet one need not wait for all of the other's");
        let third = take(&queue);
        assert_eq!(third.1, 1);
        // Its share is taken: what waits is not handed out, and others are.
        assert!(queue.lock().turns[0].is_empty());
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
        queue.done(&loud, Duration::from_secs(5));
        queue.lock().lanes.get_mut(&loud).unwrap().running += 1;
        let another = take(&queue);
        drop(slow);
        assert!(
            queue.lock().turns.iter().all(VecDeque::is_empty),
            "one thread works for it, as is its share now"
        );
        drop(another);
        let turns = queue.lock().turns.each_ref().map(VecDeque::len);
        assert_eq!(turns, [0, 1], "a thread of a low priority is next");
        assert_eq!(queue.next(1, Priority::Low).unwrap().1, [2]);
    }

    #[test]
    fn one_project_leaves_room_for_others() {
        let (queue, loud) = (queue(1), project("loud"));
        let taken = (0..200).filter(|task| queue.push(&loud, *task).is_ok()).count();
        assert_eq!(taken, 51);
        queue.push(&project("quiet"), 0).unwrap();
    }

    #[test]
    fn all_tasks_of_a_project_come_together_and_alone() {
        let (queue, one) = (queue(1), project("one"));
        for task in 0..5 {
            queue.push(&one, task).unwrap();
        }
        let (turn, tasks) = queue.next(3, Priority::Normal).unwrap();
        assert_eq!(tasks, [0, 1, 2]);
        queue.push(&one, 5).unwrap();
        assert!(queue.lock().turns[0].is_empty());
        drop(turn);
        queue.close();
        assert!(matches!(queue.push(&one, 6), Err(Refused::Closed)));
        let (turn, tasks) = queue.next(10, Priority::Normal).unwrap();
        assert_eq!(tasks, [3, 4, 5], "what was taken is done before the end");
        drop(turn);
        assert!(queue.next(1, Priority::Normal).is_none());
        assert!(queue.lock().lanes.is_empty());
    }
}
