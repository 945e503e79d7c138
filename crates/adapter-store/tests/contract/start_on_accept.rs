//! Calls that are accepted while slots are offered.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

use futures::future::join_all;
use kernel::{
    Clock, ShareId, Timestamp,
    id::{NodeId, RunId},
};
use runs::{
    Automation, RunStatus, RunsTx as _, Trigger,
    queue::{AttemptOutcome, ClaimLimit, ClaimedRun, LEASE, RunQueue as _, RunSlot, RunSlots},
    webhooks::{AcceptCall, AcceptOutcome, Proof, WebhookStore as _},
};

use crate::{
    contract,
    harness::{Database, World, at, finished_run, json},
};

contract!(
    a_run_that_starts_at_once_is_as_one_that_was_queued,
    no_more_start_than_there_are_slots,
    a_run_starts_when_it_is_taken_and_not_when_it_was_asked_for,
    what_waits_is_older_than_what_comes,
    an_end_makes_room_for_what_waits,
    bounded_automations_go_through_the_queue,
    runs_of_every_workspace_start_at_once,
    what_is_not_accepted_gives_its_slot_back,
);

/// The slots of a node, and the runs that took them.
pub(crate) struct Slots {
    node: NodeId,
    count: u32,
    taken: Arc<AtomicU32>,
    started: Arc<Mutex<Vec<(ClaimedRun, Timestamp)>>>,
}

impl Slots {
    /// Offers so many slots of a new node.
    pub(crate) fn offer(world: &World, count: u32) -> Arc<Self> {
        let slots =
            Arc::new(Self { node: world.id(), count, taken: Arc::default(), started: Arc::default() });
        world.store.offer_slots(Some(Arc::<Self>::clone(&slots)));
        slots
    }

    pub(crate) fn started_ids(&self) -> Vec<RunId> {
        let mut ids: Vec<RunId> = self.started.lock().unwrap().iter().map(|(run, _)| run.id).collect();
        ids.sort_unstable();
        ids
    }

    fn taken(&self) -> u32 {
        self.taken.load(Ordering::SeqCst)
    }
}

impl RunSlots for Slots {
    fn node(&self) -> NodeId {
        self.node
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(at(5))
    }

    fn limit(&self) -> Option<ClaimLimit> {
        let left = self.count.saturating_sub(self.taken());
        (left > 0).then(|| ClaimLimit::with_total(left))
    }

    fn reserve(&self, _: ShareId) -> Option<Box<dyn RunSlot>> {
        let one_more = |taken| (taken < self.count).then_some(taken + 1);
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).ok()?;
        let (taken, started) = (Arc::clone(&self.taken), Arc::clone(&self.started));
        Some(Box::new(Slot { taken, started, has_started: false }))
    }
}

struct Slot {
    taken: Arc<AtomicU32>,
    started: Arc<Mutex<Vec<(ClaimedRun, Timestamp)>>>,
    has_started: bool,
}

impl RunSlot for Slot {
    fn start(mut self: Box<Self>, run: ClaimedRun, lease_until: Timestamp) {
        self.has_started = true;
        self.started.lock().unwrap().push((run, lease_until));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.has_started {
            self.taken.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

async fn accept_all(world: &World, calls: Vec<AcceptCall>) {
    for verdict in join_all(calls.into_iter().map(|call| world.store.accept(call))).await {
        assert_eq!(verdict.unwrap(), AcceptOutcome::Accepted);
    }
}

async fn a_run_that_starts_at_once_is_as_one_that_was_queued(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let input = r#"{"n": 1.50, "text": "қала"}"#;
    let call = || AcceptCall { input: json(input), at: at(4), ..world.call(&state) };

    world.store.accept(call()).await.unwrap();
    let [queued] = world.claim(world.id(), 1, at(5)).await.try_into().unwrap();
    let slots = Slots::offer(&world, 1);
    world.store.accept(call()).await.unwrap();
    let [(begun, lease_until)] = std::mem::take(&mut *slots.started.lock().unwrap()).try_into().unwrap();
    assert_eq!(lease_until, at(5) + LEASE);
    let but_for_its_id = |run: &ClaimedRun| format!("{run:?}").replace(&format!("{:?}", run.id), "");
    assert_eq!(but_for_its_id(&begun), but_for_its_id(&queued));
    assert_eq!(begun.input.get(), input);

    let [of_begun, of_queued] = [world.run(begun.id).await, world.run(queued.id).await];
    assert_eq!(of_begun.state.status(), RunStatus::Running);
    assert_eq!(of_begun.state, of_queued.state);
    assert_eq!((of_begun.version.map(|version| version.id), of_begun.attempt), (Some(world.version), 1));
    // It is the node's, and nobody else's.
    let node = slots.node;
    assert!(world.claim(world.id(), 1, at(5)).await.is_empty());
    assert_eq!(world.store.extend_leases(node, &[begun.id], at(6)).await.unwrap(), [begun.id]);
    assert!(!world.store.finish(world.id(), finished_run(&begun, AttemptOutcome::Succeeded)).await.unwrap());
    assert!(world.store.finish(node, finished_run(&begun, AttemptOutcome::Succeeded)).await.unwrap());
    assert_eq!(world.run(begun.id).await.state.status(), RunStatus::Succeeded);
}

/// A clock that goes on with each look at it.
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        at(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

async fn a_run_starts_when_it_is_taken_and_not_when_it_was_asked_for(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    world.store.accept(world.call(&*world.state(&webhook).await)).await.unwrap();
    let clock = Arc::new(TickingClock(AtomicI64::new(5)));
    let asked: Arc<dyn Clock> = Arc::<TickingClock>::clone(&clock);
    let [run] =
        world.store.claim(world.id(), ClaimLimit::with_total(1), asked).await.unwrap().try_into().unwrap();
    // The last look, once it was taken.
    assert_eq!(run.started_at, at(clock.0.load(Ordering::Relaxed) - 1));
    assert!(run.started_at > at(5), "{run:?}");
}

async fn no_more_start_than_there_are_slots(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..3).map(|_| world.call(&state)).collect();
    let ids: Vec<_> = calls.iter().map(|call| call.run).collect();
    let slots = Slots::offer(&world, 2);
    accept_all(&world, calls).await;
    assert_eq!((slots.started_ids().len(), slots.taken()), (2, 2));
    // The others are found in the queue, also once nothing is offered.
    world.store.offer_slots(None);
    world.store.accept(world.call(&state)).await.unwrap();
    let claimed = world.claim(world.id(), 10, at(5)).await;
    assert_eq!(claimed.len(), 2);
    let mut of_all = [slots.started_ids(), claimed.iter().map(|run| run.id).collect()].concat();
    of_all.sort_unstable();
    assert_eq!(of_all[..3], ids);
}

async fn what_waits_is_older_than_what_comes(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..4).map(|_| world.call(&state)).collect();
    let ids: Vec<_> = calls.iter().map(|call| call.run).collect();
    let [first, second, third, fourth] = calls.try_into().unwrap();
    for call in [first, second] {
        world.store.accept(call).await.unwrap();
    }
    let slots = Slots::offer(&world, 1);
    world.store.accept(third).await.unwrap();
    assert_eq!((slots.started_ids(), slots.taken()), (ids[..1].to_vec(), 1), "the oldest takes the slot");
    assert_eq!(world.run(ids[0]).await.state.status(), RunStatus::Running);
    // Enough for all that wait: then what comes may start too.
    let more = Slots::offer(&world, 9);
    world.store.accept(fourth).await.unwrap();
    assert_eq!((more.started_ids(), more.taken()), (ids[1..].to_vec(), 3));
    assert!(world.claim(world.id(), 9, at(5)).await.is_empty());
}

async fn an_end_makes_room_for_what_waits(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..3).map(|_| world.call(&state)).collect();
    let ids: Vec<_> = calls.iter().map(|call| call.run).collect();
    let slots = Slots::offer(&world, 1);
    accept_all(&world, calls).await;
    assert_eq!(slots.started_ids(), ids[..1]);
    let ended = finished_run(&slots.started.lock().unwrap()[0].0, AttemptOutcome::Succeeded);
    slots.taken.store(0, Ordering::SeqCst);
    assert!(world.store.finish(slots.node, ended).await.unwrap());
    assert_eq!((slots.started_ids(), slots.taken()), (ids[..2].to_vec(), 1));
    // The lease is the node's, as that of a claim.
    let held = world.store.held_runs(slots.node, &ids).await.unwrap();
    assert_eq!(held, ids[1..2]);
}

async fn bounded_automations_go_through_the_queue(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(Some(1)).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..4).map(|_| world.call(&state)).collect();
    let slots = Slots::offer(&world, 9);
    // One after the other: the first is let into the queue, where a later batch finds it.
    for call in calls {
        world.store.accept(call).await.unwrap();
    }
    assert_eq!(slots.taken(), 1, "its automation runs once at a time");
    assert!(world.claim(slots.node, 10, at(5)).await.is_empty());
}

/// On PostgreSQL several writers accept, each for its workspaces.
async fn runs_of_every_workspace_start_at_once(database: Database) {
    let world = World::new(database).await;
    let slots = Slots::offer(&world, 64);
    let mut ids = Vec::new();
    for number in 0..12 {
        let workspace = world.id();
        world.add_workspace(workspace, &format!("of-{number}")).await;
        let automation = Automation { workspace, ..world.automation(Trigger::Webhook) };
        let webhook = world.webhook(&automation, Proof::None);
        world
            .write(async |tx| {
                tx.insert_automation(&automation).await?;
                tx.upsert_webhook(&webhook).await
            })
            .await;
        let call = world.call(&*world.state(&webhook).await);
        ids.push(call.run);
        accept_all(&world, vec![call]).await;
    }
    ids.sort_unstable();
    assert_eq!(slots.started_ids(), ids);
    assert!(world.claim(world.id(), 64, at(5)).await.is_empty());
}

/// The database refuses a run whose id exists. Those who came with it are accepted.
async fn what_is_not_accepted_gives_its_slot_back(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let slots = Slots::offer(&world, 9);
    let first = world.call(&state);
    let again = AcceptCall { run: first.run, ..world.call(&state) };
    accept_all(&world, vec![first]).await;
    let other = world.call(&state);
    let (refused, accepted) = tokio::join!(world.store.accept(again), world.store.accept(other));
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(accepted.unwrap(), AcceptOutcome::Accepted);
    assert_eq!((slots.started_ids().len(), slots.taken()), (2, 2));
}
