//! A queue that is fair between shares, fair between the workspaces of a share, and first come, first served within one
//! workspace.

use std::collections::{HashMap, VecDeque};

use kernel::ShareId;
use runs::fair_share::can_acquire;

use super::workload::WorkloadKey;

/// Waiting callers, with a ticket number each.
pub(super) struct FairQueue<T> {
    waiters: HashMap<WorkloadKey, VecDeque<(u64, T)>>,
    length: usize,
    last_ticket: u64,
}

/// Slots that a workspace holds, alone and with the others of its share.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeldSlots {
    pub(super) by_share: usize,
    pub(super) by_workspace: usize,
}

/// The caller of a workspace that has waited the longest. The one with the fewest slots comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    held: HeldSlots,
    ticket: u64,
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
        key: WorkloadKey,
        item: T,
        (max, max_here): (usize, usize),
        gone: impl Fn(&T) -> bool,
    ) -> bool {
        if !self.has_capacity(key, max, max_here) {
            self.remove_gone(key.share, gone);
            if !self.has_capacity(key, max, max_here) {
                return false;
            }
        }
        self.last_ticket += 1;
        self.length += 1;
        self.waiters.entry(key).or_default().push_back((self.last_ticket, item));
        true
    }

    fn remove_gone(&mut self, share: ShareId, gone: impl Fn(&T) -> bool) {
        let Self { waiters, length, .. } = self;
        waiters.retain(|key, line| {
            if key.share == share {
                let before = line.len();
                line.retain(|(_, item)| !gone(item));
                *length -= before - line.len();
            }
            !line.is_empty()
        });
    }

    /// Returns true if the share may have another of all places, and the workspace another of those of the share.
    fn has_capacity(&self, key: WorkloadKey, max: usize, max_here: usize) -> bool {
        let lines = self.waiters.iter().filter(|(other, _)| other.share == key.share);
        let here: usize = lines.map(|(_, line)| line.len()).sum();
        let own = self.waiters.get(&key).map_or(0, VecDeque::len);
        can_acquire(own, max_here.saturating_sub(here)) && can_acquire(here, max.saturating_sub(self.length))
    }

    /// Removes the next waiter whose share may have a slot: of the share that holds the fewest slots, its workspace that holds
    /// the fewest, the longest waiting.
    ///
    /// A slot that `releasing` has freed stays with that workspace, since another one needs another process, unless one that
    /// waits would still hold fewer slots than `releasing` keeps, or holds none and waits longer. Workspaces of one share compare
    /// what each of them holds, and other workspaces what their shares hold.
    pub(super) fn pop(
        &mut self,
        releasing: Option<WorkloadKey>,
        held: impl Fn(WorkloadKey) -> HeldSlots,
        can_acquire: impl Fn(ShareId) -> bool,
    ) -> Option<(WorkloadKey, T)> {
        let candidate = |key: WorkloadKey| {
            let (ticket, _) = self.waiters.get(&key)?.front()?;
            can_acquire(key.share).then(|| Candidate { held: held(key), ticket: *ticket })
        };
        let own = releasing.and_then(|own| Some((candidate(own)?, own)));
        let others = self.waiters.keys().filter(|key| Some(**key) != releasing);
        let others = others.filter_map(|key| Some((candidate(*key)?, *key)));
        let (siblings, strangers): (Vec<_>, Vec<_>) =
            others.partition(|(_, key)| releasing.is_some_and(|own| own.share == key.share));
        let first = |candidates: Vec<(Candidate, WorkloadKey)>| {
            candidates.into_iter().min_by(|(one, _), (other, _)| one.cmp(other))
        };
        let within_share = prefer(own, first(siblings), |held| held.by_workspace);
        let (_, next) = prefer(within_share, first(strangers), |held| held.by_share)?;
        let line = self.waiters.get_mut(&next)?;
        let (_, item) = line.pop_front()?;
        if line.is_empty() {
            self.waiters.remove(&next);
        }
        self.length -= 1;
        Some((next, item))
    }
}

/// Returns the other candidate if it holds fewer slots, or none and has waited longer; otherwise the own one.
fn prefer(
    own: Option<(Candidate, WorkloadKey)>,
    other: Option<(Candidate, WorkloadKey)>,
    slots: impl Fn(HeldSlots) -> usize,
) -> Option<(Candidate, WorkloadKey)> {
    let (Some(one), Some((candidate, _))) = (&own, &other) else { return own.or(other) };
    let is_poorer = slots(candidate.held) < slots(one.0.held);
    let is_starved = slots(candidate.held) == 0 && candidate.ticket < one.0.ticket;
    if is_poorer || is_starved { other } else { own }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;
    use crate::pool::WorkloadKind;

    /// Returns a workspace of a share. Shares have the numbers of persons.
    fn of_share(share: u128, workspace: u128) -> WorkloadKey {
        WorkloadKey {
            workspace: Id::from_uuid(Uuid::from_u128(workspace)),
            kind: WorkloadKind::Run,
            share: ShareId::of(Some(Id::from_uuid(Uuid::from_u128(share))), Id::from_uuid(Uuid::nil())),
        }
    }

    /// Returns the only workspace of a share.
    fn ws(number: u128) -> WorkloadKey {
        of_share(number, number)
    }

    /// Returns the next of these waiters, where workspaces hold so many slots beside the one that is freed.
    fn order_of(
        pushes: &[(WorkloadKey, &'static str)],
        held: &[(WorkloadKey, usize)],
        releasing: WorkloadKey,
    ) -> &'static str {
        let mut queue = FairQueue::default();
        for (key, item) in pushes {
            assert!(queue.push(*key, *item, (100, 100), |_| false));
        }
        let sum = |of: &dyn Fn(&WorkloadKey) -> bool| {
            held.iter().filter(|(key, _)| of(key)).map(|(_, count)| *count).sum()
        };
        let held = |key: WorkloadKey| HeldSlots {
            by_share: sum(&|other| other.share == key.share),
            by_workspace: sum(&|other| *other == key),
        };
        queue.pop(Some(releasing), held, |_| true).unwrap().1
    }

    /// Returns the same where each workspace is alone in its share.
    fn order(pushes: &[(u128, &'static str)], held: &[(u128, usize)], releasing: u128) -> &'static str {
        let pushes: Vec<_> = pushes.iter().map(|(workspace, item)| (ws(*workspace), *item)).collect();
        let held: Vec<_> = held.iter().map(|(workspace, count)| (ws(*workspace), *count)).collect();
        order_of(&pushes, &held, ws(releasing))
    }

    #[test]
    fn a_flood_does_not_starve_a_quiet_workspace() {
        assert_eq!(order(&[(1, "flood"), (1, "flood"), (2, "quiet")], &[(1, 7)], 1), "quiet");
        assert_eq!(order(&[(1, "flood"), (2, "other")], &[(1, 4), (2, 3)], 1), "other");
    }

    #[test]
    fn a_flood_over_many_workspaces_of_a_person_does_not_starve_another_person() {
        let flood: Vec<_> = (10..17).map(|workspace| (of_share(1, workspace), 1)).collect();
        let waiting = [(of_share(1, 20), "flood"), (ws(2), "quiet")];
        assert_eq!(order_of(&waiting, &flood, of_share(1, 10)), "quiet");
        let next = [(of_share(1, 10), "own"), (ws(2), "other")];
        assert_eq!(order_of(&next, &[(ws(2), 6), (of_share(1, 10), 6)], of_share(1, 10)), "own");
    }

    #[test]
    fn workspaces_of_one_share_take_turns() {
        let [busy, quiet] = [10, 11].map(|workspace| of_share(1, workspace));
        assert_eq!(order_of(&[(busy, "busy"), (quiet, "quiet")], &[(busy, 5)], busy), "quiet");
        assert_eq!(order_of(&[(busy, "busy"), (quiet, "quiet")], &[(busy, 2), (quiet, 2)], busy), "busy");
        assert_eq!(order_of(&[(busy, "busy"), (quiet, "quiet")], &[(busy, 5)], ws(2)), "quiet");
        // Others who hold as much do not hide that one of the share has none.
        let waiting = [(ws(2), "other"), (busy, "busy"), (quiet, "quiet")];
        assert_eq!(order_of(&waiting, &[(busy, 2), (ws(2), 2), (ws(3), 2)], busy), "quiet");
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
            let may_have = |share| but.iter().all(|number| ws(*number).share != share);
            queue.pop(Some(ws(1)), |_| HeldSlots::default(), may_have)
        };
        assert_eq!(next(&mut queue, &[1, 2, 3]), None);
        assert_eq!(next(&mut queue, &[1]), Some((ws(2), "second")));
        assert_eq!(next(&mut queue, &[1, 3]), None);
        assert_eq!(next(&mut queue, &[]), Some((ws(1), "first")));
    }

    #[test]
    fn the_queue_has_two_bounds_and_leaves_room_to_others() {
        let mut queue = FairQueue::default();
        let mut push = |key, gone: bool| queue.push(key, (), (4, 2), |()| gone);
        assert!(
            push(ws(1), false) && !push(ws(1), false),
            "the last place is for another workspace of the share"
        );
        assert!(push(of_share(1, 10), false));
        assert!(!push(of_share(1, 11), false), "and no share has more places for many workspaces");
        assert!(push(of_share(1, 11), true), "those who are gone make room");
        assert!(push(ws(2), false) && push(ws(3), false));
        assert!(!push(ws(3), false) && push(ws(4), false), "the last place is for who has none");
        assert!(!push(ws(5), false));
    }
}
