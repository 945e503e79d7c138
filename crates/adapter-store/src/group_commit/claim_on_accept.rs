//! Runs that are claimed as they are accepted.

use std::collections::{BTreeMap, HashMap};

use kernel::{
    Id, Timestamp,
    id::{HookId, NodeId, RunId, WorkspaceId},
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

/// Claims the runs of accepted calls that `claim` takes: of each workspace in turn, in the order they came. What its
/// automation bounds is not among them, since others may have the places.
pub(super) fn claim_accepted(
    accepted: &[&AcceptCall],
    webhook_rows: &HashMap<HookId, WebhookRow>,
    claim: &ClaimRequest,
) -> BTreeMap<RunId, ClaimedOnAccept> {
    let mut earlier: HashMap<WorkspaceId, u32> = HashMap::new();
    let mut by_round: Vec<(u32, &AcceptCall)> = accepted
        .iter()
        .filter(|call| call.max_concurrency.is_none())
        .map(|call| {
            let round = earlier.entry(call.workspace).or_default();
            *round += 1;
            (*round, *call)
        })
        .collect();
    by_round.retain(|(turn, call)| *turn <= claim.limit.for_workspace(call.workspace));
    by_round.sort_by_key(|(turn, _)| *turn);
    let now = claim.clock.now();
    by_round
        .into_iter()
        .take(claim.limit.total() as usize)
        .filter_map(|(_, call)| {
            let run = to_claimed_run(call, webhook_rows.get(&call.hook)?, now);
            Some((call.run, ClaimedOnAccept { run, node: claim.node, lease_until: now + LEASE }))
        })
        .collect()
}

/// Returns the run as it would be read back.
fn to_claimed_run(call: &AcceptCall, webhook_row: &WebhookRow, now: Timestamp) -> ClaimedRun {
    ClaimedRun {
        id: call.run,
        workspace: call.workspace,
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

    use kernel::id::AutomationId;
    use runs::{TriggerKind, queue::ClaimLimit, webhooks::RevisionVector};
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    fn call(number: u128, workspace: u128, max_concurrency: Option<u16>) -> AcceptCall {
        AcceptCall {
            hook: id(1),
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
        let webhook_rows = HashMap::from([(
            id(1),
            WebhookRow { revisions: RevisionVector([0; 4]), version: None, retries: 0 },
        )]);
        let clock = Arc::new(Timestamp::UNIX_EPOCH);
        let claim = ClaimRequest { node: id(1), limit, clock, after_workspace: Uuid::nil() };
        claim_accepted(&calls, &webhook_rows, &claim).into_keys().collect()
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
    fn of_each_workspace_begins_what_may() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        let share = |in_all, of_others, of: &[(u128, u32)]| {
            let of = of.iter().map(|(workspace, most)| (id(*workspace), *most)).collect();
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
