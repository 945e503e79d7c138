//! Who is next when a process becomes free: fair between workspaces, first come first served inside one.

use std::collections::{HashMap, VecDeque};

use kernel::id::WorkspaceId;

/// Callers in waiting.
pub(super) struct Queue<T> {
    waiting: HashMap<WorkspaceId, VecDeque<(u64, T)>>,
    length: usize,
    last: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), length: 0, last: 0 }
    }
}

impl<T> Queue<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Joins the queue; `false` when it is full.
    pub(super) fn push(&mut self, workspace: WorkspaceId, item: T, max: usize, max_here: usize) -> bool {
        let here = self.waiting.get(&workspace).map_or(0, VecDeque::len);
        if self.length >= max || here >= max_here {
            return false;
        }
        self.last += 1;
        self.length += 1;
        self.waiting.entry(workspace).or_default().push_back((self.last, item));
        true
    }

    /// The next caller for a place that `releasing` held.
    ///
    /// A place stays with its workspace, since changing hands costs a process, unless another workspace that
    /// waits would still hold fewer places than this one keeps, or holds none and waits longer.
    pub(super) fn pop(
        &mut self,
        releasing: WorkspaceId,
        held: impl Fn(WorkspaceId) -> usize,
    ) -> Option<(WorkspaceId, T)> {
        let first = |workspace: &WorkspaceId| self.waiting.get(workspace)?.front().map(|(number, _)| *number);
        let own = first(&releasing);
        let other = self
            .waiting
            .keys()
            .filter(|workspace| **workspace != releasing)
            .filter_map(|workspace| Some((held(*workspace), first(workspace)?, *workspace)))
            .min();
        let next = match (own, other) {
            (Some(own), Some((holds, number, other))) => {
                let richer = holds + 1 < held(releasing);
                let starved = holds == 0 && number < own;
                if richer || starved { other } else { releasing }
            }
            (Some(_), None) => releasing,
            (None, Some((_, _, other))) => other,
            (None, None) => return None,
        };
        let line = self.waiting.get_mut(&next)?;
        let (_, item) = line.pop_front()?;
        if line.is_empty() {
            self.waiting.remove(&next);
        }
        self.length -= 1;
        Some((next, item))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn ws(number: u128) -> WorkspaceId {
        WorkspaceId::from_uuid(Uuid::from_u128(number))
    }

    fn order(pushes: &[(u128, &'static str)], held: &[(u128, usize)], releasing: u128) -> &'static str {
        let mut queue = Queue::default();
        for (workspace, item) in pushes {
            assert!(queue.push(ws(*workspace), *item, 100, 100));
        }
        let held =
            |workspace| held.iter().find(|(id, _)| ws(*id) == workspace).map_or(0, |(_, count)| *count);
        queue.pop(ws(releasing), held).unwrap().1
    }

    #[test]
    fn a_flood_does_not_starve_a_quiet_workspace() {
        assert_eq!(order(&[(1, "flood"), (1, "flood"), (2, "quiet")], &[(1, 8)], 1), "quiet");
        assert_eq!(order(&[(1, "flood"), (2, "other")], &[(1, 5), (2, 3)], 1), "other");
    }

    #[test]
    fn equals_keep_their_processes() {
        assert_eq!(order(&[(2, "other"), (1, "own")], &[(1, 4), (2, 4)], 1), "own");
        assert_eq!(order(&[(2, "other"), (1, "own")], &[(1, 4), (2, 3)], 1), "own");
    }

    #[test]
    fn with_fewer_places_than_workspaces_the_longest_wait_is_next() {
        assert_eq!(order(&[(2, "older"), (1, "own")], &[(1, 1)], 1), "older");
        assert_eq!(order(&[(1, "own"), (2, "younger")], &[(1, 1)], 1), "own");
    }

    #[test]
    fn the_queue_has_two_bounds() {
        let mut queue = Queue::default();
        assert!(queue.push(ws(1), (), 3, 2) && queue.push(ws(1), (), 3, 2));
        assert!(!queue.push(ws(1), (), 3, 2));
        assert!(queue.push(ws(2), (), 3, 2) && !queue.push(ws(2), (), 3, 2));
    }
}
