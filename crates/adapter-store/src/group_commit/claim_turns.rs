//! Whose turn a claim is: persons in turn, and the workspaces of one person in turn among them, so that nobody gains by
//! creating many workspaces.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use kernel::ShareId;
use runs::queue::ClaimLimit;
use uuid::Uuid;

/// The workspace up to which all had their turn in the claims of a node; nil before the first claim.
#[derive(Default)]
pub(crate) struct ClaimCursor(Mutex<Uuid>);

impl ClaimCursor {
    pub(super) fn get(&self) -> Uuid {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, workspace: Uuid) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = workspace;
    }
}

/// A workspace that has runs to be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadyWorkspace {
    pub(super) workspace: Uuid,
    pub(super) share: ShareId,
}

/// The workspaces that a claim takes runs of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClaimTurns {
    /// Each with the most runs that are taken of it, at least 1.
    pub(super) turns: Vec<(ReadyWorkspace, u32)>,
    /// The workspace after which the next claim begins: the last one before which none was passed over.
    pub(super) cursor: Option<Uuid>,
}

/// The runs of a share that a claim takes, and the workspaces that it takes them of.
#[derive(Default)]
struct SharePart {
    runs: u32,
    workspaces: u32,
}

impl ClaimTurns {
    /// Chooses from workspaces in the order of their turns. Each share gets as many runs as the others, within its limit; what
    /// does not divide is claimed the next time.
    ///
    /// The number of workspaces is a power of two, so that claims come in few shapes and their statements stay prepared.
    pub(super) fn choose(ready: &[ReadyWorkspace], limit: &ClaimLimit) -> Self {
        let mut parts: HashMap<ShareId, SharePart> = HashMap::new();
        for one in ready.iter().filter(|one| limit.for_share(one.share) > 0) {
            parts.entry(one.share).or_default();
        }
        let shares = u32::try_from(parts.len()).unwrap_or(u32::MAX).max(1);
        for (share, part) in &mut parts {
            part.runs = (limit.total() / shares).max(1).min(limit.for_share(*share));
        }
        let mut chosen: Vec<(u32, usize)> = Vec::new();
        for (index, one) in ready.iter().enumerate() {
            let Some(part) = parts.get_mut(&one.share) else { continue };
            if part.workspaces < part.runs {
                part.workspaces += 1;
                chosen.push((part.workspaces, index));
            }
        }
        // The first workspace of each share, then the second of each.
        chosen.sort_unstable();
        chosen.truncate(limit.total() as usize);
        if let Some(power) = chosen.len().checked_ilog2() {
            chosen.truncate(1 << power);
        }
        let mut chosen: Vec<usize> = chosen.into_iter().map(|(_, index)| index).collect();
        chosen.sort_unstable();
        parts.values_mut().for_each(|part| part.workspaces = 0);
        for one in chosen.iter().filter_map(|index| ready.get(*index)) {
            parts.entry(one.share).or_default().workspaces += 1;
        }
        let in_order = chosen.iter().enumerate().take_while(|(at, index)| at == *index).last();
        let cursor = in_order.and_then(|(_, index)| ready.get(*index)).map(|one| one.workspace);
        let turn = |index: &usize| {
            let (one, part) = (ready.get(*index)?, parts.get(&ready.get(*index)?.share)?);
            Some((*one, part.runs.checked_div(part.workspaces)?.max(1)))
        };
        Self { turns: chosen.iter().filter_map(turn).collect(), cursor }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    fn share(person: u128) -> ShareId {
        ShareId::of(Some(Id::from_uuid(Uuid::from_u128(person))), Id::from_uuid(Uuid::nil()))
    }

    /// Returns workspaces with the numbers from 1 on, of these persons.
    fn ready(persons: &[u128]) -> Vec<ReadyWorkspace> {
        let numbered = (1..).zip(persons);
        numbered
            .map(|(number, person)| ReadyWorkspace {
                workspace: Uuid::from_u128(number),
                share: share(*person),
            })
            .collect()
    }

    /// Returns the numbers of the workspaces, with their runs, and that of the cursor.
    fn choose(persons: &[u128], limit: &ClaimLimit) -> (Vec<(u128, u32)>, Option<u128>) {
        let chosen = ClaimTurns::choose(&ready(persons), limit);
        let turns = chosen.turns.iter().map(|(one, runs)| (one.workspace.as_u128(), *runs));
        (turns.collect(), chosen.cursor.map(|workspace| workspace.as_u128()))
    }

    #[test]
    fn who_is_alone_gets_all() {
        assert_eq!(choose(&[1], &ClaimLimit::with_total(8)), (vec![(1, 8)], Some(1)));
        assert_eq!(choose(&[1, 1], &ClaimLimit::with_total(8)), (vec![(1, 4), (2, 4)], Some(2)));
        assert_eq!(choose(&[1; 6], &ClaimLimit::with_total(3)), (vec![(1, 1), (2, 1)], Some(2)));
        assert_eq!(choose(&[], &ClaimLimit::with_total(8)), (vec![], None));
        assert_eq!(choose(&[1], &ClaimLimit::with_total(0)), (vec![], None));
    }

    #[test]
    fn a_person_with_many_workspaces_gets_as_much_as_one_with_one() {
        let persons = [1, 1, 1, 1, 1, 1, 2];
        let (turns, cursor) = choose(&persons, &ClaimLimit::with_total(8));
        assert_eq!((turns, cursor), (vec![(1, 1), (2, 1), (3, 1), (7, 4)], Some(3)));
        assert_eq!(choose(&persons, &ClaimLimit::with_total(1)), (vec![(1, 1)], Some(1)));
        assert_eq!(choose(&persons, &ClaimLimit::with_total(2)), (vec![(1, 1), (7, 1)], Some(1)));
    }

    #[test]
    fn a_share_takes_no_more_than_its_limit() {
        let limit = ClaimLimit::with_shares(8, 3, HashMap::from([(share(1), 1), (share(2), 0)]));
        assert_eq!(choose(&[1, 1, 2, 3], &limit), (vec![(1, 1), (4, 3)], Some(1)));
        assert_eq!(choose(&[2, 2], &limit), (vec![], None));
    }

    /// Claims follow each other until each workspace had its turn, whoever else has one in each claim.
    #[test]
    fn every_workspace_of_a_person_gets_its_turn() {
        let persons: Vec<u128> = [vec![1; 20], vec![2], vec![1; 20]].concat();
        let all = ready(&persons);
        let limit = ClaimLimit::with_total(4);
        let (mut after, mut seen) = (Uuid::nil(), HashMap::<Uuid, u32>::new());
        for _ in 0..41 {
            let (before, next): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.workspace <= after);
            let chosen = ClaimTurns::choose(&[next, before].concat(), &limit);
            for (one, runs) in &chosen.turns {
                *seen.entry(one.workspace).or_default() += runs;
            }
            after = chosen.cursor.unwrap();
        }
        assert_eq!(seen.len(), persons.len());
        let of_second = seen.remove(&Uuid::from_u128(21)).unwrap();
        let of_first: u32 = seen.values().sum();
        assert!(of_second >= of_first, "{of_second} runs of the second person, {of_first} of the first");
    }
}
