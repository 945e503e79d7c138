//! A queue that is fair between shares, each of a share or a person, and first come, first served within one.

use std::collections::{HashMap, VecDeque};

use runs::fair_share::can_acquire;

use super::share_id::ShareId;

/// Waiting callers, with a ticket number each.
pub(super) struct FairQueue<T> {
    waiters: HashMap<ShareId, VecDeque<(u64, T)>>,
    length: usize,
    last_ticket: u64,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { waiters: HashMap::new(), length: 0, last_ticket: 0 }
    }
}

impl<T> FairQueue<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Joins the queue. Returns false if it is full (`max`) or the share has its share of it (`max_here`), after waiters that
    /// are `gone` were removed.
    pub(super) fn push(
        &mut self,
        share: ShareId,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        if !self.has_capacity(share, max, max_here) {
            if let Some(line) = self.waiters.get_mut(&share) {
                let before = line.len();
                line.retain(|(_, item)| !gone(item));
                self.length -= before - line.len();
                if line.is_empty() {
                    self.waiters.remove(&share);
                }
            }
            if !self.has_capacity(share, max, max_here) {
                return false;
            }
        }
        self.last_ticket += 1;
        self.length += 1;
        self.waiters.entry(share).or_default().push_back((self.last_ticket, item));
        true
    }

    fn has_capacity(&self, share: ShareId, max: usize, max_here: usize) -> bool {
        let here = self.waiters.get(&share).map_or(0, VecDeque::len);
        here < max_here && can_acquire(here, max.saturating_sub(self.length))
    }

    /// Removes the next waiter whose share may have a slot.
    ///
    /// A slot that `releasing` has freed stays with that share, since another workspace needs another process, unless one that
    /// waits would still hold fewer slots than `releasing` keeps, or holds none and waits longer.
    pub(super) fn pop(
        &mut self,
        releasing: Option<ShareId>,
        held: impl Fn(ShareId) -> usize,
        can_acquire: impl Fn(ShareId) -> bool,
    ) -> Option<(ShareId, T)> {
        let first = |share: ShareId| self.waiters.get(&share)?.front().map(|(number, _)| *number);
        let own =
            releasing.filter(|own| can_acquire(*own)).and_then(|own| Some((held(own), first(own)?, own)));
        let other = self
            .waiters
            .keys()
            .filter(|share| Some(**share) != releasing && can_acquire(**share))
            .filter_map(|share| Some((held(*share), first(*share)?, *share)))
            .min();
        let next = match (own, other) {
            (Some((kept, own, releasing)), Some((holds, number, other))) => {
                let richer = holds < kept;
                let starved = holds == 0 && number < own;
                if richer || starved { other } else { releasing }
            }
            (Some((_, _, next)), None) | (None, Some((_, _, next))) => next,
            (None, None) => return None,
        };
        let line = self.waiters.get_mut(&next)?;
        let (_, item) = line.pop_front()?;
        if line.is_empty() {
            self.waiters.remove(&next);
        }
        self.length -= 1;
        Some((next, item))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn ws(number: u128) -> ShareId {
        ShareId::of(Uuid::from_u128(number))
    }

    /// Returns the next of these waiters, where workspaces hold so many slots beside the one that is freed.
    fn order(pushes: &[(u128, &'static str)], held: &[(u128, usize)], releasing: u128) -> &'static str {
        let mut queue = FairQueue::default();
        for (workspace, item) in pushes {
            assert!(queue.push(ws(*workspace), *item, (100, 100), |_| false));
        }
        let held =
            |workspace| held.iter().find(|(id, _)| ws(*id) == workspace).map_or(0, |(_, count)| *count);
        queue.pop(Some(ws(releasing)), held, |_| true).unwrap().1
    }

    #[test]
    fn a_flood_does_not_starve_a_quiet_workspace() {
        assert_eq!(order(&[(1, "flood"), (1, "flood"), (2, "quiet")], &[(1, 7)], 1), "quiet");
        assert_eq!(order(&[(1, "flood"), (2, "other")], &[(1, 4), (2, 3)], 1), "other");
    }

    #[test]
    fn equals_keep_their_processes() {
        assert_eq!(order(&[(2, "other"), (1, "own")], &[(1, 3), (2, 4)], 1), "own");
        assert_eq!(order(&[(2, "other"), (1, "own")], &[(1, 3), (2, 3)], 1), "own");
    }

    #[test]
    fn with_fewer_places_than_workspaces_the_longest_wait_is_next() {
        assert_eq!(order(&[(2, "older"), (1, "own")], &[], 1), "older");
        assert_eq!(order(&[(1, "own"), (2, "younger")], &[], 1), "own");
    }

    #[test]
    fn who_may_have_none_waits_on() {
        let mut queue = FairQueue::default();
        for (workspace, item) in [(1, "first"), (2, "second"), (3, "third")] {
            assert!(queue.push(ws(workspace), item, (100, 100), |_| false));
        }
        let next = |queue: &mut FairQueue<_>, but: &[u128]| {
            queue.pop(Some(ws(1)), |_| 0, |workspace| but.iter().all(|id| ws(*id) != workspace))
        };
        assert_eq!(next(&mut queue, &[1, 2, 3]), None);
        assert_eq!(next(&mut queue, &[1]), Some((ws(2), "second")));
        assert_eq!(next(&mut queue, &[1, 3]), None);
        assert_eq!(next(&mut queue, &[]), Some((ws(1), "first")));
    }

    #[test]
    fn the_queue_has_two_bounds_and_leaves_room_to_others() {
        let mut queue = FairQueue::default();
        let mut push = |workspace, gone: bool| queue.push(ws(workspace), (), (4, 2), |()| gone);
        assert!(push(1, false) && push(1, false));
        assert!(!push(1, false));
        assert!(push(1, true), "those who are gone make room");
        assert!(push(2, false) && push(3, false));
        assert!(!push(3, false) && push(4, false), "the last place is for who has none");
        assert!(!push(5, false));
    }
}
