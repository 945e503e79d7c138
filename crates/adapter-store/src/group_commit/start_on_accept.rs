//! Runs that get a slot as they are accepted.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use kernel::{
    Id, Timestamp,
    id::{HookId, RunId},
};
use runs::{
    queue::{AppAvailability, ClaimedRun, LEASE},
    webhooks::AcceptCall,
};

use super::{
    accept::webhook_rows::WebhookRow,
    slots::{OpenSlots, StartedRun},
};
use crate::convert::truncate_to_millis;

/// Gives slots to the runs of accepted calls: of each share in turn, and of each workspace of a share in turn, in the order they
/// came. What its automation bounds is not among them, since others may have the places.
pub(super) fn start(
    accepted: &[&AcceptCall],
    webhook_rows: &HashMap<HookId, WebhookRow>,
    open: &OpenSlots,
) -> BTreeMap<RunId, StartedRun> {
    let unbounded = accepted.iter().filter(|call| call.max_concurrency.is_none());
    let found = unbounded.filter_map(|call| Some((*call, webhook_rows.get(&call.hook)?))).collect();
    let by_share = in_turns(in_turns(found, |(call, _)| call.workspace), |(_, webhook)| webhook.share);
    let now = open.claim.clock.now();
    by_share
        .into_iter()
        .filter_map(|(call, webhook)| {
            let slot = open.slots.reserve(webhook.share)?;
            let run = to_claimed_run(call, webhook, now);
            Some((call.run, StartedRun { run, lease_until: now + LEASE, slot }))
        })
        .collect()
}

/// Sorts items so that each of those that a key names has its turn: the first of each, then the second of each. Items of one
/// key keep their order.
fn in_turns<T, K: Hash + Eq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut earlier: HashMap<K, u32> = HashMap::new();
    let numbered = items.into_iter().map(|item| {
        let turn = earlier.entry(key(&item)).or_default();
        *turn += 1;
        (*turn, item)
    });
    let mut numbered: Vec<(u32, T)> = numbered.collect();
    numbered.sort_by_key(|(turn, _)| *turn);
    numbered.into_iter().map(|(_, item)| item).collect()
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
    use std::{
        slice::from_ref,
        sync::{Arc, Mutex},
    };

    use kernel::{
        Clock, ShareId,
        id::{AutomationId, NodeId, WorkspaceId},
    };
    use runs::{
        TriggerKind,
        queue::{ClaimLimit, RunSlot, RunSlots},
        webhooks::RevisionVector,
    };
    use serde_json::value::RawValue;
    use uuid::Uuid;

    use super::*;
    use crate::group_commit::claim::ClaimRequest;

    /// The slots of a node, as many as a limit allows.
    struct Slots {
        limit: ClaimLimit,
        taken: Mutex<Vec<ShareId>>,
    }

    struct Slot;

    impl RunSlot for Slot {
        fn start(self: Box<Self>, _: ClaimedRun, _: Timestamp) {}
    }

    impl RunSlots for Slots {
        fn node(&self) -> NodeId {
            id(1)
        }

        fn clock(&self) -> Arc<dyn Clock> {
            Arc::new(Timestamp::UNIX_EPOCH)
        }

        fn limit(&self) -> Option<ClaimLimit> {
            Some(self.limit.clone())
        }

        fn reserve(&self, share: ShareId) -> Option<Box<dyn RunSlot>> {
            let mut taken = self.taken.lock().unwrap();
            let of_share = taken.iter().filter(|other| **other == share).count();
            let has_room =
                taken.len() < self.limit.total() as usize && of_share < self.limit.for_share(share) as usize;
            has_room.then(|| {
                taken.push(share);
                Box::new(Slot) as Box<dyn RunSlot>
            })
        }
    }

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

    fn started_ids(calls: &[AcceptCall], limit: u32) -> Vec<RunId> {
        started_ids_within(calls, ClaimLimit::with_total(limit))
    }

    fn started_ids_within(calls: &[AcceptCall], limit: ClaimLimit) -> Vec<RunId> {
        let calls: Vec<&AcceptCall> = calls.iter().collect();
        let webhook_rows = calls.iter().map(|call| {
            let revisions = RevisionVector([0; 4]);
            (call.hook, WebhookRow { revisions, version: None, retries: 0, share: share_of(call.workspace) })
        });
        let slots = Arc::new(Slots { limit: limit.clone(), taken: Mutex::default() });
        let (node, clock, history) = (slots.node(), slots.clock(), Arc::default());
        let open = OpenSlots { slots, claim: ClaimRequest { node, limit, clock, history } };
        start(&calls, &webhook_rows.collect(), &open).into_keys().collect()
    }

    /// Returns the share of a workspace: workspaces from 100 are of one person, and the others are alone in theirs.
    fn share_of(workspace: WorkspaceId) -> ShareId {
        let of_person = workspace >= id(100);
        ShareId::of(of_person.then(|| id(1000)), workspace)
    }

    #[test]
    fn workspaces_take_turns() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        assert_eq!(started_ids(&calls, 2), [id(1), id(4)]);
        assert_eq!(started_ids(&calls, 3), [id(1), id(2), id(4)]);
        assert_eq!(started_ids(&calls, 9).len(), 4);
        assert!(started_ids(&calls, 0).is_empty());
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
        assert_eq!(started_ids(&calls, 2), [id(1), id(5)]);
        assert_eq!(started_ids(&calls, 4), [id(1), id(3), id(5), id(6)], "and their workspaces among them");
        let of_person = share_of(id(100));
        let limit = ClaimLimit::with_shares(9, 9, HashMap::from([(of_person, 2)]));
        assert_eq!(started_ids_within(&calls, limit), [id(1), id(3), id(5), id(6)]);
    }

    #[test]
    fn of_each_share_begins_what_may() {
        let calls = [call(1, 1, None), call(2, 1, None), call(3, 1, None), call(4, 2, None)];
        let share = |in_all, of_others, of: &[(u128, u32)]| {
            let of = of.iter().map(|(workspace, most)| (share_of(id(*workspace)), *most)).collect();
            started_ids_within(&calls, ClaimLimit::with_shares(in_all, of_others, of))
        };
        assert_eq!(share(9, 2, &[]), [id(1), id(2), id(4)]);
        assert_eq!(share(9, 9, &[(1, 1)]), [id(1), id(4)]);
        assert_eq!(share(9, 9, &[(1, 0)]), [id(4)]);
        assert_eq!(share(1, 9, &[(1, 0)]), [id(4)]);
    }

    #[test]
    fn what_is_bounded_does_not_begin() {
        assert!(started_ids(from_ref(&call(1, 1, Some(5))), 9).is_empty());
    }
}
