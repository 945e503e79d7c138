//! Tests of the queue.

use backend_data::ShareId;

use super::*;
use crate::statement_time::StatementTimeTracker;

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
    assert_eq!((first.1, second.1), (0, 100), "the quiet project does not wait for all tasks of the other");
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
    let (loud, other, sibling) = (project_of(1, "loud"), project_of(1, "other"), project_of(1, "sibling"));
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
