//! Whose turn a claim is: the person who has waited the longest for one, and of each person the workspace that has waited the
//! longest. So nobody gains by creating many workspaces.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kernel::ShareId;
use runs::queue::ClaimLimit;
use uuid::Uuid;

/// Shares and workspaces that a node remembers; beyond them it begins anew.
const MAX_REMEMBERED: usize = 16 * 1024;

/// The turns that shares and workspaces had in the claims of a node.
#[derive(Default)]
pub(crate) struct ClaimHistory(Mutex<LastTurns>);

#[derive(Default)]
struct LastTurns {
    /// Number of claims.
    turn: u64,
    shares: HashMap<ShareId, u64>,
    workspaces: HashMap<Uuid, u64>,
    window_start: Uuid,
}

impl ClaimHistory {
    fn lock(&self) -> MutexGuard<'_, LastTurns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the workspace after which the next claim begins to look for ready work; nil for the first.
    pub(super) fn window_start(&self) -> Uuid {
        self.lock().window_start
    }

    /// Sets it. There are more workspaces with ready work than a claim looks at, unless it is nil.
    pub(super) fn set_window_start(&self, workspace: Uuid) {
        self.lock().window_start = workspace;
    }

    /// Records what was claimed.
    pub(super) fn record(&self, claimed: impl Iterator<Item = ReadyWorkspace>) {
        let mut last = self.lock();
        last.turn += 1;
        let turn = last.turn;
        for ReadyWorkspace { workspace, share } in claimed {
            remember(&mut last.shares, share, turn);
            remember(&mut last.workspaces, workspace, turn);
        }
    }
}

fn remember<K: Eq + Hash>(turns: &mut HashMap<K, u64>, key: K, turn: u64) {
    if turns.len() >= MAX_REMEMBERED {
        turns.clear();
    }
    turns.insert(key, turn);
}

/// A workspace that has runs to be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadyWorkspace {
    pub(super) workspace: Uuid,
    pub(super) share: ShareId,
}

/// Returns the workspaces that a claim takes runs of, each with the most runs that are taken of it, at least 1. Each share gets as
/// many runs as the others, within its limit; what does not divide is claimed the next time.
///
/// The number of workspaces is a power of two, so that claims come in few shapes and their statements stay prepared.
pub(super) fn choose_turns(
    ready: &[ReadyWorkspace],
    limit: &ClaimLimit,
    history: &ClaimHistory,
) -> Vec<(ReadyWorkspace, u32)> {
    // In the order of their turns: by the last one, those that had none before all others, and then by id.
    let mut shares: BTreeMap<(u64, ShareId), Vec<(u64, Uuid)>> = BTreeMap::new();
    let last = history.lock();
    for one in ready.iter().filter(|one| limit.for_share(one.share) > 0) {
        let share_turn = last.shares.get(&one.share).copied().unwrap_or_default();
        let turn = last.workspaces.get(&one.workspace).copied().unwrap_or_default();
        shares.entry((share_turn, one.share)).or_default().push((turn, one.workspace));
    }
    drop(last);
    let count = u32::try_from(shares.len()).unwrap_or(u32::MAX).max(1);
    let mut chosen: Vec<(usize, usize, ReadyWorkspace, u32)> = Vec::new();
    for (order, ((_, share), mut workspaces)) in shares.into_iter().enumerate() {
        let runs = (limit.total() / count).max(1).min(limit.for_share(share));
        workspaces.sort_unstable();
        let turns = workspaces.into_iter().take(runs as usize).enumerate();
        chosen.extend(
            turns.map(|(rank, (_, workspace))| (rank, order, ReadyWorkspace { workspace, share }, runs)),
        );
    }
    // One workspace of each share, then a second one of each.
    chosen.sort_unstable_by_key(|(rank, order, ..)| (*rank, *order));
    chosen.truncate(limit.total() as usize);
    if let Some(power) = chosen.len().checked_ilog2() {
        chosen.truncate(1 << power);
    }
    let mut workspaces: HashMap<ShareId, u32> = HashMap::new();
    for (_, _, one, _) in &chosen {
        *workspaces.entry(one.share).or_default() += 1;
    }
    let turns = chosen.into_iter().map(|(_, _, one, runs)| {
        let workspaces = workspaces.get(&one.share).copied().unwrap_or(1).max(1);
        (one, (runs / workspaces).max(1))
    });
    turns.collect()
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
        let workspaces = numbered.map(|(number, person)| ReadyWorkspace {
            workspace: Uuid::from_u128(number),
            share: share(*person),
        });
        workspaces.collect()
    }

    /// Claims once, and returns the numbers of the workspaces, each with its runs.
    fn claim(ready: &[ReadyWorkspace], limit: &ClaimLimit, history: &ClaimHistory) -> Vec<(u128, u32)> {
        let turns = choose_turns(ready, limit, history);
        history.record(turns.iter().map(|(one, _)| *one));
        turns.iter().map(|(one, runs)| (one.workspace.as_u128(), *runs)).collect()
    }

    fn first_claim(persons: &[u128], limit: &ClaimLimit) -> Vec<(u128, u32)> {
        claim(&ready(persons), limit, &ClaimHistory::default())
    }

    #[test]
    fn who_is_alone_gets_all() {
        assert_eq!(first_claim(&[1], &ClaimLimit::with_total(8)), [(1, 8)]);
        assert_eq!(first_claim(&[1, 1], &ClaimLimit::with_total(8)), [(1, 4), (2, 4)]);
        assert_eq!(first_claim(&[1; 6], &ClaimLimit::with_total(3)), [(1, 1), (2, 1)]);
        assert_eq!(first_claim(&[], &ClaimLimit::with_total(8)), []);
        assert_eq!(first_claim(&[1], &ClaimLimit::with_total(0)), []);
    }

    #[test]
    fn a_person_with_many_workspaces_gets_as_much_as_one_with_one() {
        let persons = [1, 1, 1, 1, 1, 1, 2];
        assert_eq!(first_claim(&persons, &ClaimLimit::with_total(8)), [(1, 1), (7, 4), (2, 1), (3, 1)]);
        assert_eq!(first_claim(&persons, &ClaimLimit::with_total(2)), [(1, 1), (7, 1)]);
    }

    #[test]
    fn a_share_takes_no_more_than_its_limit() {
        let limit = ClaimLimit::with_shares(8, 3, HashMap::from([(share(1), 1), (share(2), 0)]));
        assert_eq!(first_claim(&[1, 1, 2, 3], &limit), [(1, 1), (4, 3)]);
        assert_eq!(first_claim(&[2, 2], &limit), []);
    }

    /// However few runs a claim takes, and however many workspaces somebody has, each person has as many turns as the others,
    /// and each of their workspaces has its turn.
    #[test]
    fn persons_and_their_workspaces_take_turns() {
        let persons: Vec<u128> = [vec![1; 20], vec![2, 3], vec![1; 20], vec![4, 4, 5]].concat();
        let ready = ready(&persons);
        for total in [1, 2, 3, 4, 7, 16] {
            let (limit, history) = (ClaimLimit::with_total(total), ClaimHistory::default());
            let (mut by_person, mut by_workspace) =
                (BTreeMap::<u128, u32>::new(), BTreeMap::<u128, u32>::new());
            for _ in 0..400 {
                for (workspace, runs) in claim(&ready, &limit, &history) {
                    *by_person.entry(persons[workspace as usize - 1]).or_default() += runs;
                    *by_workspace.entry(workspace).or_default() += runs;
                }
            }
            let (least, most) = (by_person.values().min().unwrap(), by_person.values().max().unwrap());
            assert_eq!(by_person.len(), 5);
            assert!(*most <= 2 * least, "{total} at a time: {by_person:?}");
            assert_eq!(by_workspace.len(), persons.len(), "{total} at a time: each workspace has its turn");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let history = ClaimHistory::default();
        let many = (1..=2 * MAX_REMEMBERED as u128)
            .map(|number| ReadyWorkspace { workspace: Uuid::from_u128(number), share: share(number) });
        history.record(many);
        let last = history.lock();
        assert!(last.shares.len() <= MAX_REMEMBERED && last.workspaces.len() <= MAX_REMEMBERED);
    }
}
