//! Runs that are claimed as they are accepted.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use kernel::{
    Id, Timestamp,
    id::{HookId, NodeId, RunId},
};
use runs::{
    queue::{AppAvailability, ClaimedRun, LEASE},
    webhooks::AcceptCall,
};

use super::{accept::webhook_rows::WebhookRow, claim::ClaimRequest};
use crate::convert::truncate_to_millis;

/// A run that a node has from its first moment.
pub(super) struct ClaimedOnAccept {
    pub(super) run: ClaimedRun,
    pub(super) node: NodeId,
    pub(super) lease_until: Timestamp,
}

/// Claims the runs of accepted calls that `claim` takes: of each share in turn, and of each workspace of a share in turn, in
/// the order they came. What its automation bounds is not among them, since others may have the places.
pub(super) fn claim_accepted(
    accepted: &[&AcceptCall],
    webhook_rows: &HashMap<HookId, WebhookRow>,
    claim: &ClaimRequest,
) -> BTreeMap<RunId, ClaimedOnAccept> {
    let unbounded = accepted.iter().filter(|call| call.max_concurrency.is_none());
    let found = unbounded.filter_map(|call| Some((*call, webhook_rows.get(&call.hook)?))).collect();
    let by_workspace = in_turns(found, |(call, _)| call.workspace);
    let by_workspace = by_workspace.into_iter().map(|(_, call)| call).collect();
    let by_share = in_turns(by_workspace, |(_, webhook)| webhook.share);
    let may_start =
        by_share.into_iter().filter(|(turn, (_, webhook))| *turn <= claim.limit.for_share(webhook.share));
    let now = claim.clock.now();
    may_start
        .take(claim.limit.total() as usize)
        .map(|(_, (call, webhook))| {
            let run = to_claimed_run(call, webhook, now);
            (call.run, ClaimedOnAccept { run, node: claim.node, lease_until: now + LEASE })
        })
        .collect()
}

/// Sorts items so that each of those that a key names has its turn: the first of each, then the second of each, each with its
/// number from 1. Items of one key keep their order.
fn in_turns<T, K: Hash + Eq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<(u32, T)> {
    let mut earlier: HashMap<K, u32> = HashMap::new();
    let numbered = items.into_iter().map(|item| {
        let turn = earlier.entry(key(&item)).or_default();
        *turn += 1;
        (*turn, item)
    });
    let mut numbered: Vec<(u32, T)> = numbered.collect();
    numbered.sort_by_key(|(turn, _)| *turn);
    numbered
}

/// Returns the run as it would be read back.
fn to_claimed_run(call: &AcceptCall, webhook_row: &WebhookRow, now: Timestamp) -> ClaimedRun {
    ClaimedRun {
        id: call.run,
        workspace: call.workspace,
        share: webhook_row.share,
        app: call.app,
        // The call's stamp fits: the app is as it was when the call was found good.
        app_availability: AppAvailability::Ready,
        automation: Some(call.automation),
        version: webhook_row.version.map(Id::from_uuid),
        trigger: call.trigger,
        input: call.input.clone(),
        scheduled_for: truncate_to_millis(call.at),
        started_at: truncate_to_millis(now),
        attempt: 1,
        retries: webhook_row.retries,
        cron: None,
        answers: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::{slice::from_ref, sync::Arc};

    use kernel::{
        ShareId,
        id::{AutomationId, WorkspaceId},
    };
    use runs::{TriggerKind, queue::ClaimLimit, webhooks::RevisionVector};
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    /// Returns a call of the only webhook of a workspace.
    fn call(number: u128, workspace: u128, max_concurrency: Option<u16>) -> AcceptCall {
        AcceptCall {
            hook: id(workspace),
            revisions: RevisionVector([0; 4]),
            workspace: id(workspace),
            automation: AutomationId::from_uuid(Uuid::nil()),
            app: id(1),
            trigger: TriggerKind::Webhook,
            run: id(number),
            delivery: id(number),
            keys: Vec::new(),
            signature: None,
            input: RawValue::NULL.to_owned(),
            bytes: 0,
            is_sample: false,
            at: Timestamp::UNIX_EPOCH,
            max_concurrency,
            runs_per_month: None,
            audit: None,
            may_start: true,
        }
    }

    fn claimed_ids(calls: &[AcceptCall], limit: u32) -> Vec<RunId> {
        claimed_ids_within(calls, ClaimLimit::with_total(limit))
    }

    fn claimed_ids_within(calls: &[AcceptCall], limit: ClaimLimit) -> Vec<RunId> {
        let calls: Vec<&AcceptCall> = calls.iter().collect();
        let webhook_rows = calls.iter().map(|call| {
            let revisions = RevisionVector([0; 4]);
            (call.hook, WebhookRow { revisions, version: None, retries: 0, share: share_of(call.workspace) })
        });
        let clock = Arc::new(Timestamp::UNIX_EPOCH);
        let claim = ClaimRequest { node: id(1), limit, clock, history: Arc::default() };
        claim_accepted(&calls, &webhook_rows.collect(), &claim).into_keys().collect()
    }

    /// Returns the share of a workspace: workspaces from 100 are of one person, and the others are alone in theirs.
    fn share_of(workspace: WorkspaceId) -> ShareId {
        let of_person = workspace >= id(100);
        ShareId::of(of_person.then(|| id(1000)), workspace)
    }

    #[test]
    fn workspaces_take_turns() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        assert_eq!(claimed_ids(&calls, 2), [id(1), id(4)]);
        assert_eq!(claimed_ids(&calls, 3), [id(1), id(2), id(4)]);
        assert_eq!(claimed_ids(&calls, 9).len(), 4);
        assert!(claimed_ids(&calls, 0).is_empty());
    }

    #[test]
    fn persons_take_turns_however_many_workspaces_they_have() {
        let calls = [
            call(1, 100, None),
            call(2, 100, None),
            call(3, 101, None),
            call(4, 102, None),
            call(5, 1, None),
            call(6, 1, None),
        ];
        assert_eq!(claimed_ids(&calls, 2), [id(1), id(5)]);
        assert_eq!(claimed_ids(&calls, 4), [id(1), id(3), id(5), id(6)], "and their workspaces among them");
        let of_person = share_of(id(100));
        let limit = ClaimLimit::with_shares(9, 9, HashMap::from([(of_person, 2)]));
        assert_eq!(claimed_ids_within(&calls, limit), [id(1), id(3), id(5), id(6)]);
    }

    #[test]
    fn of_each_share_begins_what_may() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        let share = |in_all, of_others, of: &[(u128, u32)]| {
            let of = of.iter().map(|(workspace, most)| (share_of(id(*workspace)), *most)).collect();
            claimed_ids_within(&calls, ClaimLimit::with_shares(in_all, of_others, of))
        };
        assert_eq!(share(9, 2, &[]), [id(1), id(2), id(4)]);
        assert_eq!(share(9, 9, &[(1, 1)]), [id(1), id(4)]);
        assert_eq!(share(9, 9, &[(1, 0)]), [id(4)]);
        assert_eq!(share(1, 9, &[(1, 0)]), [id(4)]);
    }

    #[test]
    fn what_is_bounded_does_not_begin() {
        assert!(claimed_ids(from_ref(&call(1, 1, Some(5))), 9).is_empty());
    }
}
