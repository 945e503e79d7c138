//! The order in which steps run: each after all that lead to it. Links that lead back are left out.

use std::collections::BTreeSet;

use crate::{Sentence, workflow::Step};

/// Returns the indices of the steps of the flow in the order in which they run, and removes the links that lead back.
pub(crate) fn order(steps: &mut [Step]) -> Vec<usize> {
    let runs: Vec<bool> = steps.iter().map(|step| step.translation.runs).collect();
    let is_step = |index: usize| runs.get(index).copied().unwrap_or(false);
    for (index, step) in steps.iter_mut().enumerate() {
        // What is no step of the flow leads nowhere; a step that leads to itself is a loop.
        step.inputs.retain(|link| is_step(link.from) && link.from != index);
    }
    let mut waiting: Vec<BTreeSet<usize>> =
        steps.iter().map(|step| step.inputs.iter().map(|link| link.from).collect()).collect();
    let mut followers = vec![Vec::new(); steps.len()];
    for (index, before) in waiting.iter().enumerate() {
        for from in before {
            if let Some(followers) = followers.get_mut(*from) {
                followers.push(index);
            }
        }
    }
    let mut left: BTreeSet<usize> = (0..steps.len()).filter(|index| is_step(*index)).collect();
    let mut found = Vec::with_capacity(left.len());
    let mut ready: Vec<usize> = left
        .iter()
        .rev()
        .copied()
        .filter(|index| waiting.get(*index).is_some_and(BTreeSet::is_empty))
        .collect();
    while !left.is_empty() {
        let next = match ready.pop() {
            Some(next) if left.contains(&next) => next,
            Some(_) => continue,
            None => {
                // A loop: the step in it that something reached first goes on without what comes back to it.
                let Some(next) = first_of_loop(&left, &waiting, steps) else { break };
                if let Some(step) = steps.get_mut(next) {
                    step.inputs.retain(|link| !left.contains(&link.from));
                    step.translation.lower(Sentence::Loop);
                }
                next
            }
        };
        left.remove(&next);
        found.push(next);
        for follower in followers.get(next).into_iter().flatten().rev() {
            if let Some(waiting) = waiting.get_mut(*follower) {
                waiting.remove(&next);
                if waiting.is_empty() && left.contains(follower) {
                    ready.push(*follower);
                }
            }
        }
    }
    found
}

fn first_of_loop(left: &BTreeSet<usize>, waiting: &[BTreeSet<usize>], steps: &[Step]) -> Option<usize> {
    let is_reached = |index: &usize| {
        let (waits, all) = (waiting.get(*index), steps.get(*index));
        waits.zip(all).is_some_and(|(waits, step)| step.inputs.iter().any(|link| !waits.contains(&link.from)))
    };
    left.iter().find(|index| is_reached(index)).or_else(|| left.iter().next()).copied()
}
