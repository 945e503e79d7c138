//! What becomes of each call of a batch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kernel::{
    StoreError,
    id::{HookId, WorkspaceId},
};
use runs::webhooks::{Acceptance, DedupKey, Verdict};

use super::{
    Standing,
    keys::{self, Key, place},
};
use crate::{
    hot::{quota, signatures::Signatures},
    sql::Db,
};

/// What is decided of a call so far.
enum Fate {
    /// It goes on.
    Open,
    /// It is decided.
    Decided(Verdict),
    /// It is the same as an earlier call of this very batch.
    Follows { leader: usize, shared: Shared },
}

/// What two same calls have in common.
#[derive(Clone, Copy)]
enum Shared {
    /// A key: the second is told what the first was told.
    Key,
    /// Their signature: the second is a replay.
    Signature,
}

/// The calls of a batch, and what is decided of them.
pub(super) struct Plan<'a> {
    batch: &'a [&'a Acceptance],
    fates: Vec<Fate>,
}

impl<'a> Plan<'a> {
    pub(super) fn of(batch: &'a [&'a Acceptance], standings: &HashMap<HookId, Standing>) -> Self {
        let mut owners: HashMap<Key, usize> = HashMap::new();
        let fates = batch.iter().enumerate().map(|(index, acceptance)| {
            if standings.get(&acceptance.hook).is_none_or(|standing| standing.stamp != acceptance.stamp) {
                return Fate::Decided(Verdict::Stale);
            }
            let known = shared(acceptance).find_map(|(key, shared)| {
                let leader = *owners.get(&place(acceptance, key))?;
                Some(Fate::Follows { leader, shared })
            });
            // A call that follows owns what it brings anew: its signature must not start another run either.
            for key in acceptance.all_keys() {
                owners.entry(place(acceptance, key)).or_insert(index);
            }
            known.unwrap_or(Fate::Open)
        });
        Self { batch, fates: fates.collect() }
    }

    /// The calls that go on, with their places.
    fn open(&self) -> impl Iterator<Item = (usize, &'a Acceptance)> {
        let batch = self.batch;
        self.fates
            .iter()
            .enumerate()
            .filter(|(_, fate)| matches!(fate, Fate::Open))
            .map(move |(index, _)| (index, batch[index]))
    }

    /// Claims the keys of the calls that go on. One that is taken already decides its call. Signatures are keys of the
    /// table too, unless the lane has them in `signatures`.
    pub(super) async fn claim_keys<D: Db>(
        &mut self,
        db: &D,
        signatures: Option<&Signatures>,
    ) -> Result<(), StoreError> {
        let in_table = |call: &'a Acceptance| keys::in_table(call, signatures.is_none());
        // In the order of the primary key, so that two nodes with the same keys wait for each other one way only.
        let wanted: BTreeMap<Key, (&Acceptance, &DedupKey)> = self
            .open()
            .flat_map(|(_, call)| in_table(call).map(move |key| (place(call, key), (call, key))))
            .collect();
        let claimed = keys::claim(db, &wanted).await?;
        let taken: Vec<Key> = wanted.into_keys().filter(|key| !claimed.contains(key)).collect();
        let earlier = keys::earlier_calls(db, &taken).await?;
        let mut given_back = Vec::new();
        for (index, call) in self.open().collect::<Vec<_>>() {
            let is_taken = |(key, shared): &(&DedupKey, Shared)| match (shared, signatures) {
                (Shared::Signature, Some(signatures)) => signatures.know(call.hook, key),
                _ => !claimed.contains(&place(call, key)),
            };
            let verdict = match shared(call).find(is_taken) {
                None => continue,
                Some((_, Shared::Signature)) => Verdict::Replayed,
                Some((key, Shared::Key)) => match earlier.get(&place(call, key)) {
                    Some((run, delivery)) => Verdict::Repeated { run: *run, delivery: *delivery },
                    // It was swept away between the two statements.
                    None => Verdict::Stale,
                },
            };
            self.fates[index] = Fate::Decided(verdict);
            given_back.extend(in_table(call).map(|key| place(call, key)).filter(|key| claimed.contains(key)));
        }
        for (index, call) in self.open().filter(|(_, call)| !call.may_start).collect::<Vec<_>>() {
            self.fates[index] = Fate::Decided(Verdict::New);
            given_back.extend(in_table(call).map(|key| place(call, key)));
        }
        keys::delete(db, &given_back).await
    }

    /// Takes the runs from their workspaces' months. What goes over is refused and gives its keys back.
    pub(super) async fn take_quota<D: Db>(
        &mut self,
        db: &D,
        signatures: Option<&Signatures>,
    ) -> Result<(), StoreError> {
        let mut by_workspace: BTreeMap<WorkspaceId, Vec<usize>> = BTreeMap::new();
        for (index, acceptance) in self.open() {
            by_workspace.entry(acceptance.workspace).or_default().push(index);
        }
        for (workspace, calls) in by_workspace {
            let Some(first) = calls.first().map(|index| self.batch[*index]) else { continue };
            let granted =
                quota::take(db, workspace, first.at, calls.len() as u64, first.runs_per_month).await?;
            let mut given_back = BTreeSet::new();
            for index in calls.into_iter().skip(usize::try_from(granted).unwrap_or(usize::MAX)) {
                self.fates[index] = Fate::Decided(Verdict::QuotaReached);
                let call = self.batch[index];
                given_back.extend(keys::in_table(call, signatures.is_none()).map(|key| place(call, key)));
            }
            keys::delete(db, &given_back.into_iter().collect::<Vec<_>>()).await?;
        }
        Ok(())
    }

    pub(super) fn accepted(&self) -> Vec<&'a Acceptance> {
        self.open().map(|(_, acceptance)| acceptance).collect()
    }

    pub(super) fn into_verdicts(self) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(self.fates.len());
        for (fate, call) in self.fates.into_iter().zip(self.batch) {
            let verdict = match fate {
                Fate::Open => Verdict::Accepted,
                Fate::Decided(verdict) => verdict,
                Fate::Follows { leader, shared } => match (verdicts[leader], shared) {
                    (Verdict::Accepted | Verdict::Repeated { .. }, Shared::Signature) => Verdict::Replayed,
                    (Verdict::Accepted, Shared::Key) => {
                        let leader = self.batch[leader];
                        Verdict::Repeated { run: leader.run, delivery: leader.delivery }
                    }
                    (repeated @ Verdict::Repeated { .. }, Shared::Key) => repeated,
                    // The signature they share is known from before.
                    (Verdict::Replayed, Shared::Signature) => Verdict::Replayed,
                    (Verdict::New, _) if !call.may_start => Verdict::New,
                    // Nothing is left for this one either.
                    (Verdict::QuotaReached, _) => Verdict::QuotaReached,
                    // The leader came to nothing: decide about this one by itself.
                    (Verdict::Replayed | Verdict::Stale | Verdict::New, _) => Verdict::Stale,
                },
            };
            verdicts.push(verdict);
        }
        verdicts
    }
}

/// What a call may have in common with another. A caller's own key comes first: an honest retry of the very same bytes
/// is no replay.
fn shared(call: &Acceptance) -> impl Iterator<Item = (&DedupKey, Shared)> {
    let keys = call.keys.iter().map(|key| (key, Shared::Key));
    keys.chain(call.signature.iter().map(|signature| (signature, Shared::Signature)))
}
