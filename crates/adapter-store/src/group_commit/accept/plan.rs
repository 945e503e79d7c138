//! The decision about each call of a batch.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kernel::{
    StoreError,
    id::{HookId, WorkspaceId},
};
use runs::webhooks::{AcceptCall, AcceptOutcome, DedupKey};

use super::{
    keys::{self, WebhookKey, webhook_key},
    webhook_rows::WebhookRow,
};
use crate::{
    group_commit::{quota, signature_cache::SignatureCache},
    sql::SqlExecutor,
};

/// The decision about a call so far.
enum Decision {
    /// The call goes on.
    Undecided,
    /// The call is decided.
    Final(AcceptOutcome),
    /// The call repeats an earlier one of this batch.
    DuplicateOf { original: usize, matched_by: MatchedBy },
}

/// The feature that two calls have in common.
#[derive(Clone, Copy)]
enum MatchedBy {
    /// A key: the second call gets the outcome of the first.
    Key,
    /// Their signature: the second is a replay.
    Signature,
}

/// The calls of a batch, and what is decided of them.
pub(super) struct AcceptPlan<'a> {
    batch: &'a [&'a AcceptCall],
    decisions: Vec<Decision>,
}

impl<'a> AcceptPlan<'a> {
    pub(super) fn new(batch: &'a [&'a AcceptCall], webhook_rows: &HashMap<HookId, WebhookRow>) -> Self {
        let mut owners: HashMap<WebhookKey, usize> = HashMap::new();
        let decisions = batch.iter().enumerate().map(|(index, acceptance)| {
            if webhook_rows
                .get(&acceptance.hook)
                .is_none_or(|standing| standing.revisions != acceptance.revisions)
            {
                return Decision::Final(AcceptOutcome::Stale);
            }
            let known = dedup_keys(acceptance).find_map(|(key, matched_by)| {
                let original = *owners.get(&webhook_key(acceptance, key))?;
                Some(Decision::DuplicateOf { original, matched_by })
            });
            // A call that follows owns what it brings anew: its signature must not start another run either.
            for key in acceptance.all_dedup_keys() {
                owners.entry(webhook_key(acceptance, key)).or_insert(index);
            }
            known.unwrap_or(Decision::Undecided)
        });
        Self { batch, decisions: decisions.collect() }
    }

    /// The calls that go on, with their places.
    fn undecided(&self) -> impl Iterator<Item = (usize, &'a AcceptCall)> {
        let batch = self.batch;
        self.decisions
            .iter()
            .enumerate()
            .filter(|(_, decision)| matches!(decision, Decision::Undecided))
            .map(move |(index, _)| (index, batch[index]))
    }

    /// Claims the keys of the calls that go on. One that is taken already decides its call. Signatures are keys of the
    /// table too, unless the writer has them in `signatures`.
    pub(super) async fn claim_keys<D: SqlExecutor>(
        &mut self,
        db: &D,
        signatures: Option<&SignatureCache>,
    ) -> Result<(), StoreError> {
        let in_table = |call: &'a AcceptCall| keys::stored_keys(call, signatures.is_none());
        // In the order of the primary key, so that two nodes with the same keys wait for each other one way only.
        let wanted: BTreeMap<WebhookKey, (&AcceptCall, &DedupKey)> = self
            .undecided()
            .flat_map(|(_, call)| in_table(call).map(move |key| (webhook_key(call, key), (call, key))))
            .collect();
        let claimed = keys::claim_keys(db, &wanted).await?;
        let duplicate_keys: Vec<WebhookKey> =
            wanted.into_keys().filter(|key| !claimed.contains(key)).collect();
        let earlier = keys::find_earlier_calls(db, &duplicate_keys).await?;
        let mut released_keys = Vec::new();
        for (index, call) in self.undecided().collect::<Vec<_>>() {
            let is_taken = |(key, matched_by): &(&DedupKey, MatchedBy)| match (matched_by, signatures) {
                (MatchedBy::Signature, Some(signatures)) => signatures.contains(call.hook, key),
                _ => !claimed.contains(&webhook_key(call, key)),
            };
            let verdict = match dedup_keys(call).find(is_taken) {
                None => continue,
                Some((_, MatchedBy::Signature)) => AcceptOutcome::Replayed,
                Some((key, MatchedBy::Key)) => match earlier.get(&webhook_key(call, key)) {
                    Some((run, delivery)) => AcceptOutcome::Duplicate { run: *run, delivery: *delivery },
                    // It was swept away between the two statements.
                    None => AcceptOutcome::Stale,
                },
            };
            self.decisions[index] = Decision::Final(verdict);
            released_keys
                .extend(in_table(call).map(|key| webhook_key(call, key)).filter(|key| claimed.contains(key)));
        }
        for (index, call) in self.undecided().filter(|(_, call)| !call.may_start).collect::<Vec<_>>() {
            self.decisions[index] = Decision::Final(AcceptOutcome::New);
            released_keys.extend(in_table(call).map(|key| webhook_key(call, key)));
        }
        keys::delete_keys(db, &released_keys).await
    }

    /// Takes the runs from their workspaces' months. What goes over is refused and gives its keys back.
    pub(super) async fn consume_quota<D: SqlExecutor>(
        &mut self,
        db: &D,
        signatures: Option<&SignatureCache>,
    ) -> Result<(), StoreError> {
        let mut by_workspace: BTreeMap<WorkspaceId, Vec<usize>> = BTreeMap::new();
        for (index, acceptance) in self.undecided() {
            by_workspace.entry(acceptance.workspace).or_default().push(index);
        }
        for (workspace, calls) in by_workspace {
            let Some(first) = calls.first().map(|index| self.batch[*index]) else { continue };
            let granted =
                quota::consume(db, workspace, first.at, calls.len() as u64, first.runs_per_month).await?;
            let mut released_keys = BTreeSet::new();
            for index in calls.into_iter().skip(usize::try_from(granted).unwrap_or(usize::MAX)) {
                self.decisions[index] = Decision::Final(AcceptOutcome::QuotaReached);
                let call = self.batch[index];
                released_keys
                    .extend(keys::stored_keys(call, signatures.is_none()).map(|key| webhook_key(call, key)));
            }
            keys::delete_keys(db, &released_keys.into_iter().collect::<Vec<_>>()).await?;
        }
        Ok(())
    }

    pub(super) fn accepted(&self) -> Vec<&'a AcceptCall> {
        self.undecided().map(|(_, acceptance)| acceptance).collect()
    }

    pub(super) fn into_outcomes(self) -> Vec<AcceptOutcome> {
        let mut outcomes: Vec<AcceptOutcome> = Vec::with_capacity(self.decisions.len());
        for (decision, call) in self.decisions.into_iter().zip(self.batch) {
            let verdict = match decision {
                Decision::Undecided => AcceptOutcome::Accepted,
                Decision::Final(verdict) => verdict,
                Decision::DuplicateOf { original, matched_by } => match (outcomes[original], matched_by) {
                    (AcceptOutcome::Accepted | AcceptOutcome::Duplicate { .. }, MatchedBy::Signature) => {
                        AcceptOutcome::Replayed
                    }
                    (AcceptOutcome::Accepted, MatchedBy::Key) => {
                        let original_call = self.batch[original];
                        AcceptOutcome::Duplicate { run: original_call.run, delivery: original_call.delivery }
                    }
                    (repeated @ AcceptOutcome::Duplicate { .. }, MatchedBy::Key) => repeated,
                    // The signature they share is known from before.
                    (AcceptOutcome::Replayed, MatchedBy::Signature) => AcceptOutcome::Replayed,
                    (AcceptOutcome::New, _) if !call.may_start => AcceptOutcome::New,
                    // Nothing is left for this one either.
                    (AcceptOutcome::QuotaReached, _) => AcceptOutcome::QuotaReached,
                    // The leader came to nothing: decide about this one by itself.
                    (AcceptOutcome::Replayed | AcceptOutcome::Stale | AcceptOutcome::New, _) => {
                        AcceptOutcome::Stale
                    }
                },
            };
            outcomes.push(verdict);
        }
        outcomes
    }
}

/// The features that a call may have in common with another. A caller's own key comes first: an honest retry of the
/// very same bytes is no replay.
fn dedup_keys(call: &AcceptCall) -> impl Iterator<Item = (&DedupKey, MatchedBy)> {
    let keys = call.keys.iter().map(|key| (key, MatchedBy::Key));
    keys.chain(call.signature.iter().map(|signature| (signature, MatchedBy::Signature)))
}
