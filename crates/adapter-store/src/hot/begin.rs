//! Runs that are claimed as they are accepted.

use std::collections::{BTreeMap, HashMap};

use kernel::{
    Id, Timestamp,
    id::{HookId, NodeId, RunId, WorkspaceId},
};
use runs::{
    queue::{AppStanding, ClaimedRun, LEASE},
    webhooks::Acceptance,
};

use super::{accept::Standing, claim::Claim};
use crate::convert::whole_millis;

/// A run that a node has from its first moment.
pub(super) struct Begun {
    pub(super) run: ClaimedRun,
    pub(super) node: NodeId,
    pub(super) until: Timestamp,
}

/// Those of the accepted that `claim` takes: of each workspace in turn, in the order they came. What its automation
/// bounds is not among them, since others may have the places.
pub(super) fn begin(
    accepted: &[&Acceptance],
    standings: &HashMap<HookId, Standing>,
    claim: &Claim,
) -> BTreeMap<RunId, Begun> {
    let mut earlier: HashMap<WorkspaceId, u32> = HashMap::new();
    let mut turns: Vec<(u32, &Acceptance)> = accepted
        .iter()
        .filter(|call| call.max_concurrency.is_none())
        .map(|call| {
            let turn = earlier.entry(call.workspace).or_default();
            *turn += 1;
            (*turn, *call)
        })
        .collect();
    turns.retain(|(turn, call)| *turn <= claim.limit.of(call.workspace));
    turns.sort_by_key(|(turn, _)| *turn);
    let now = claim.clock.now();
    turns
        .into_iter()
        .take(claim.limit.in_all() as usize)
        .filter_map(|(_, call)| {
            let run = claimed(call, standings.get(&call.hook)?, now);
            Some((call.run, Begun { run, node: claim.node, until: now + LEASE }))
        })
        .collect()
}

/// As it would be read back.
fn claimed(call: &Acceptance, standing: &Standing, now: Timestamp) -> ClaimedRun {
    ClaimedRun {
        id: call.run,
        workspace: call.workspace,
        app: call.app,
        // The call's stamp fits: the app is as it was when the call was found good.
        standing: AppStanding::Ready,
        automation: Some(call.automation),
        version: standing.version.map(Id::from_uuid),
        trigger: call.trigger,
        input: call.input.clone(),
        scheduled_for: whole_millis(call.at),
        started_at: whole_millis(now),
        attempt: 1,
        retries: standing.retries,
        cron: None,
        answers: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::{slice::from_ref, sync::Arc};

    use kernel::id::AutomationId;
    use runs::{TriggerKind, queue::ClaimLimit, webhooks::Stamp};
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::*;

    fn id<K>(number: u128) -> Id<K> {
        Id::from_uuid(Uuid::from_u128(number))
    }

    fn call(number: u128, workspace: u128, max_concurrency: Option<u16>) -> Acceptance {
        Acceptance {
            hook: id(1),
            stamp: Stamp([0; 4]),
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
            sample: false,
            at: Timestamp::UNIX_EPOCH,
            max_concurrency,
            runs_per_month: None,
            audit: None,
            may_start: true,
        }
    }

    fn begun(calls: &[Acceptance], limit: u32) -> Vec<RunId> {
        begun_within(calls, ClaimLimit::of_any(limit))
    }

    fn begun_within(calls: &[Acceptance], limit: ClaimLimit) -> Vec<RunId> {
        let calls: Vec<&Acceptance> = calls.iter().collect();
        let standings =
            HashMap::from([(id(1), Standing { stamp: Stamp([0; 4]), version: None, retries: 0 })]);
        let clock = Arc::new(Timestamp::UNIX_EPOCH);
        let claim = Claim { node: id(1), limit, clock, after: Uuid::nil() };
        begin(&calls, &standings, &claim).into_keys().collect()
    }

    #[test]
    fn workspaces_take_turns() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        assert_eq!(begun(&calls, 2), [id(1), id(4)]);
        assert_eq!(begun(&calls, 3), [id(1), id(2), id(4)]);
        assert_eq!(begun(&calls, 9).len(), 4);
        assert!(begun(&calls, 0).is_empty());
    }

    #[test]
    fn of_each_workspace_begins_what_may() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        let share = |in_all, of_others, of: &[(u128, u32)]| {
            let of = of.iter().map(|(workspace, most)| (id(*workspace), *most)).collect();
            begun_within(&calls, ClaimLimit::shared(in_all, of_others, of))
        };
        assert_eq!(share(9, 2, &[]), [id(1), id(2), id(4)]);
        assert_eq!(share(9, 9, &[(1, 1)]), [id(1), id(4)]);
        assert_eq!(share(9, 9, &[(1, 0)]), [id(4)]);
        assert_eq!(share(1, 9, &[(1, 0)]), [id(4)]);
    }

    #[test]
    fn what_is_bounded_does_not_begin() {
        assert!(begun(from_ref(&call(1, 1, Some(5))), 9).is_empty());
    }
}
