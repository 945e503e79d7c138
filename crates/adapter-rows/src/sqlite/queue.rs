//! A bounded queue between callers and threads, with a share for each project.
//!
//! Projects take turns, and no more than a share of the threads works for one of them at a time. A project whose
//! statements take long has one thread until they take less: how much of everybody's time one project can use is bounded
//! in both ways.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::ProjectRef;
use lru::LruCache;

/// Work that takes less is not counted as long.
const SHORT: Duration = Duration::from_millis(20);
/// A project that used more than this has one thread. Half of what it used is forgotten every [`HALF_LIFE`].
const MUCH: Duration = Duration::from_secs(1);
const HALF_LIFE: Duration = Duration::from_secs(1);
/// The most projects whose time is remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);

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
    share: usize,
}

#[derive(Debug)]
struct State<T> {
    lanes: HashMap<ProjectRef, Lane<T>>,
    /// The projects that have work and are below their share, each once.
    turns: VecDeque<ProjectRef>,
    waiting: usize,
    idle: usize,
    closed: bool,
    used: LruCache<ProjectRef, Used>,
}

/// What waits for one project, and how many threads work for it.
#[derive(Debug)]
struct Lane<T> {
    tasks: VecDeque<T>,
    running: usize,
    in_turns: bool,
}

/// How long threads worked for a project, most recently.
#[derive(Clone, Copy, Debug)]
struct Used {
    time: Duration,
    at: Instant,
}

impl Used {
    /// What is left of it now.
    fn now(self, now: Instant) -> Duration {
        let halves = now.saturating_duration_since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.time.mul_f64(0.5_f64.powf(halves))
    }
}

impl<T> State<T> {
    /// How many threads may work for a project.
    fn share(&self, project: &ProjectRef, share: usize) -> usize {
        if self.used.is_empty() {
            return share;
        }
        let used = self.used.peek(project).map_or(Duration::ZERO, |used| used.now(Instant::now()));
        if used > MUCH { 1 } else { share }
    }

    /// Puts a project among those whose turn comes, where it may have one.
    fn queue(&mut self, project: &ProjectRef, share: usize) {
        let share = self.share(project, share);
        if let Some(lane) = self.lanes.get_mut(project)
            && !lane.in_turns
            && !lane.tasks.is_empty()
            && lane.running < share
        {
            lane.in_turns = true;
            self.turns.push_back(project.clone());
        }
    }
}

impl<T> Queue<T> {
    /// A queue of `most` tasks whose projects have `share` threads at once.
    pub(super) fn new(most: usize, share: usize) -> Self {
        let state = State {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            idle: 0,
            closed: false,
            used: LruCache::new(REMEMBERED),
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), most, share: share.max(1) }
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
        let wake = state.idle > 0 && !state.turns.is_empty();
        drop(state);
        // Threads at work look again before they rest: waking costs a system call.
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The next tasks of the project whose turn it is, at most `most`; nothing when the queue is closed and empty. They
    /// are worked on until the turn is dropped.
    pub(super) fn next(self: &Arc<Self>, most: usize) -> Option<(Turn<T>, VecDeque<T>)> {
        let mut state = self.lock();
        loop {
            if let Some(project) = state.turns.pop_front()
                && let Some(lane) = state.lanes.get_mut(&project)
            {
                lane.in_turns = false;
                lane.running += 1;
                let rest = lane.tasks.split_off(lane.tasks.len().min(most));
                let tasks = std::mem::replace(&mut lane.tasks, rest);
                state.waiting -= tasks.len();
                state.queue(&project, self.share);
                let wake = state.idle > 0 && !state.turns.is_empty();
                drop(state);
                if wake {
                    self.filled.notify_one();
                }
                let turn = Turn { queue: Arc::clone(self), project, begun: Instant::now() };
                return Some((turn, tasks));
            }
            if state.closed && state.waiting == 0 {
                return None;
            }
            state.idle += 1;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn done(&self, project: &ProjectRef, took: Duration) {
        let mut state = self.lock();
        if took > SHORT {
            let now = Instant::now();
            let before = state.used.get(project).map_or(Duration::ZERO, |used| used.now(now));
            state.used.put(project.clone(), Used { time: before + took, at: now });
        }
        let Some(lane) = state.lanes.get_mut(project) else { return };
        lane.running -= 1;
        if lane.running == 0 && lane.tasks.is_empty() {
            state.lanes.remove(project);
        } else {
            state.queue(project, self.share);
        }
        // Whoever waits for the last tasks of a closed queue is told that there may be none.
        let wake_all = state.closed;
        let wake = state.idle > 0 && !state.turns.is_empty();
        drop(state);
        if wake_all {
            self.filled.notify_all();
        } else if wake {
            self.filled.notify_one();
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
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
        let (turn, tasks) = queue.next(1).unwrap();
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
        assert!(queue.lock().turns.is_empty());
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
        assert!(queue.lock().turns.is_empty(), "one thread works for it, and one is its share now");
        drop(another);
        assert_eq!(queue.lock().turns.len(), 1);
        let forgotten = Used { time: Duration::from_secs(5), at: Instant::now() };
        assert!(forgotten.now(Instant::now() + Duration::from_secs(3)) < MUCH);
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
        let (turn, tasks) = queue.next(3).unwrap();
        assert_eq!(tasks, [0, 1, 2]);
        queue.push(&one, 5).unwrap();
        assert!(queue.lock().turns.is_empty());
        drop(turn);
        queue.close();
        assert!(matches!(queue.push(&one, 6), Err(Refused::Closed)));
        let (turn, tasks) = queue.next(10).unwrap();
        assert_eq!(tasks, [3, 4, 5], "what was taken is done before the end");
        drop(turn);
        assert!(queue.next(1).is_none());
        assert!(queue.lock().lanes.is_empty());
    }
}
