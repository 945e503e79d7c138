//! Failed runs and refused calls that are kept, and how long.

use chrono::TimeDelta;
use kernel::{Id, authority::Visibility, id::DeadLetterId};
use runs::{
    RunsRead as _, RunsTx as _, Trigger, TriggerKind,
    dead_letters::{
        DeadLetterFilter, DeadLetterKind, DeadLetterOrigin, DeadLetterState, DeadLetterStatus,
        DeadLettersRead as _, DeadLettersTx as _, MAX_OPEN_CALL_DEAD_LETTERS,
    },
    queue::{AttemptOutcome, NewRun, RunFault},
    webhooks::{NewDeadLetter, RefusedDelivery, Webhook, WebhookStore as _},
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at, json},
};

contract!(
    what_fails_for_good_is_kept_with_its_end,
    a_refused_call_is_kept_once_a_key,
    an_automation_has_room_for_so_many_calls,
    a_letter_is_settled_and_goes,
    old_runs_go_as_the_plan_says,
);

async fn what_fails_for_good_is_kept_with_its_end(database: Database) {
    let world = World::new(database).await;
    let automation = world.automation(Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let fault = || RunFault { code: "app_error".to_owned(), message: "It broke.".to_owned() };
    let ends = [
        (TriggerKind::Webhook, AttemptOutcome::Failed(fault()), true),
        (TriggerKind::Schedule, AttemptOutcome::Blocked(fault()), true),
        (TriggerKind::Manual, AttemptOutcome::Failed(fault()), false),
        (TriggerKind::Webhook, AttemptOutcome::Succeeded, false),
        (TriggerKind::Webhook, AttemptOutcome::Retry { at: at(9_000), fault: fault() }, false),
    ];
    let node = world.id();
    for (trigger, conclusion, kept) in ends {
        let run = NewRun { trigger, input: json(r#"{"қ": 1.50}"#), ..world.manual_run(&automation) };
        world.write(async |tx| tx.enqueue(&run).await).await;
        let claimed = world.claim(node, 1, at(0)).await.pop().unwrap();
        assert!(world.finish(node, &claimed, conclusion).await);
        let id: DeadLetterId = Id::from_uuid(run.id.uuid());
        let found = world.store.dead_letter(world.workspace, id).await.unwrap();
        assert_eq!(found.is_some(), kept, "{trigger}");
        let Some((letter, payload)) = found else { continue };
        assert_eq!(
            (letter.origin, letter.status.state()),
            (DeadLetterOrigin::Run(run.id), DeadLetterState::Open)
        );
        assert_eq!(
            (letter.trigger, letter.reason.as_str(), letter.message.as_str()),
            (trigger, "app_error", "It broke.")
        );
        assert_eq!((letter.attempt, letter.payload_bytes, letter.has_payload), (1, 12, true));
        assert_eq!(payload.map(|payload| payload.get().to_owned()).as_deref(), Some(r#"{"қ": 1.50}"#));
        assert_eq!(
            letter.version.map(|version| (version.id, version.number, version.is_current)),
            Some((world.version, Some(1), true))
        );
        assert_eq!(world.store.dead_letter_scope(id).await.unwrap(), Some((world.workspace, world.app)));
        assert!(world.store.dead_letter(world.id(), id).await.unwrap().is_none(), "another workspace's");
    }
    assert_eq!(world.store.count_open_dead_letters(world.workspace).await.unwrap(), 2);
    let list = async |filter| {
        world.store.dead_letters(world.workspace, Visibility::All, filter, PAGE).await.unwrap().len()
    };
    let all = DeadLetterFilter::default();
    assert_eq!(list(all).await, 2);
    assert_eq!(list(DeadLetterFilter { trigger: Some(TriggerKind::Schedule), ..all }).await, 1);
    assert_eq!(list(DeadLetterFilter { kind: Some(DeadLetterKind::Delivery), ..all }).await, 0);
    let letters = world.store.dead_letters(world.workspace, Visibility::All, all, PAGE).await.unwrap();
    for letter in letters {
        let DeadLetterOrigin::Run(run) = letter.origin else { panic!("{letter:?} is of no run") };
        assert_eq!(list(DeadLetterFilter { run: Some(run), ..all }).await, 1);
    }
    assert_eq!(list(DeadLetterFilter { run: Some(world.id()), ..all }).await, 0);
}

fn refused(world: &World, webhook: &Webhook, digest: Option<[u8; 32]>) -> RefusedDelivery {
    let kept = NewDeadLetter {
        automation: webhook.automation,
        app: world.app,
        trigger: TriggerKind::Webhook,
        message: "The automation is paused.".to_owned(),
        digest,
        input: json("[1]"),
    };
    RefusedDelivery { bytes: 3, dead_letter: Some(kept), ..world.refused(webhook) }
}

async fn a_refused_call_is_kept_once_a_key(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let first = refused(&world, &webhook, Some([1; 32]));
    let id: DeadLetterId = Id::from_uuid(first.id.uuid());
    world.store.record_refusal(first).await.unwrap();
    // Another at the same time, and later ones, alone and together.
    let again = (0..5).map(|_| world.store.record_refusal(refused(&world, &webhook, Some([1; 32]))));
    for noted in world.in_one_batch(futures::future::join_all(again)).await {
        noted.unwrap();
    }
    world.store.record_refusal(refused(&world, &webhook, Some([2; 32]))).await.unwrap();
    world.store.record_refusal(refused(&world, &webhook, None)).await.unwrap();
    world.store.record_refusal(refused(&world, &webhook, None)).await.unwrap();
    assert_eq!(world.store.count_open_dead_letters(world.workspace).await.unwrap(), 4);
    let (letter, payload) = world.store.dead_letter(world.workspace, id).await.unwrap().unwrap();
    assert_eq!((letter.attempt, letter.payload_bytes), (6, 3));
    assert_eq!(payload.unwrap().get(), "[1]");
    assert_eq!(letter.version.map(|version| version.id), Some(world.version));
    assert_eq!(world.count("deliveries WHERE refusal = 'automation_paused'").await, 9);
    // Once it is settled, the same call is kept anew.
    world.write(async |tx| tx.resolve_dead_letter(world.workspace, id, at(9), None, None).await).await;
    world.store.record_refusal(refused(&world, &webhook, Some([1; 32]))).await.unwrap();
    assert_eq!(world.store.count_open_dead_letters(world.workspace).await.unwrap(), 4);
}

async fn an_automation_has_room_for_so_many_calls(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let calls = usize::try_from(MAX_OPEN_CALL_DEAD_LETTERS).unwrap() + 5;
    let refusals = (0..calls).map(|_| world.store.record_refusal(refused(&world, &webhook, None)));
    for noted in futures::future::join_all(refusals).await {
        noted.unwrap();
    }
    assert_eq!(
        world.store.count_open_dead_letters(world.workspace).await.unwrap(),
        MAX_OPEN_CALL_DEAD_LETTERS
    );
    assert_eq!(world.count("deliveries").await, i64::try_from(calls).unwrap());
}

async fn a_letter_is_settled_and_goes(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let mut letters = Vec::new();
    for _ in 0..3 {
        let call = refused(&world, &webhook, None);
        letters.push(Id::from_uuid(call.id.uuid()));
        world.store.record_refusal(call).await.unwrap();
    }
    let [discarded, replayed, open]: [DeadLetterId; 3] = letters.try_into().unwrap();
    let (run, user) = (world.id(), world.user);
    world
        .write(async |tx| {
            let (origin, state, source) =
                tx.dead_letter_for_update(world.workspace, discarded).await?.unwrap();
            assert!(matches!(origin, DeadLetterOrigin::Delivery(_)) && state == DeadLetterState::Open);
            assert_eq!((source.app, source.automation), (world.app, Some(webhook.automation)));
            assert!(tx.dead_letter_for_update(world.id(), discarded).await?.is_none());
            tx.resolve_dead_letter(world.workspace, discarded, at(10), Some(user), None).await?;
            tx.resolve_dead_letter(world.workspace, replayed, at(10), Some(user), Some(run)).await
        })
        .await;
    let fate = async |id| {
        world.store.dead_letter(world.workspace, id).await.unwrap().map(|(letter, _)| letter.status)
    };
    let Some(DeadLetterStatus::Replayed(settled, by)) = fate(replayed).await else { panic!("not replayed") };
    assert_eq!((settled.at, settled.by.as_deref(), by), (at(10), Some("Aru"), run));
    assert!(matches!(fate(discarded).await, Some(DeadLetterStatus::Discarded(_))));
    let sweep = async |days| world.store.delete_expired(at(10) + TimeDelta::days(days)).await.unwrap();
    sweep(6).await;
    assert_eq!(world.count("dead_letters").await, 3);
    sweep(7).await;
    assert_eq!(fate(discarded).await, None);
    assert!(fate(replayed).await.is_some());
    sweep(30).await;
    assert_eq!(fate(replayed).await, None);
    assert_eq!(fate(open).await, Some(DeadLetterStatus::Open));
    sweep(91).await;
    assert_eq!(world.count("dead_letters").await, 0);
}

async fn old_runs_go_as_the_plan_says(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.id();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run = NewRun { trigger: TriggerKind::Webhook, ..world.manual_run(&automation) };
        world.write(async |tx| tx.enqueue(&run).await).await;
        runs.push(run.id);
    }
    let fault = RunFault { code: "app_error".to_owned(), message: "no".to_owned() };
    for (run, conclusion) in world
        .claim(node, 2, at(0))
        .await
        .iter()
        .zip([AttemptOutcome::Succeeded, AttemptOutcome::Failed(fault)])
    {
        assert!(world.finish(node, run, conclusion).await);
    }
    let sweep = async |days| world.store.delete_expired(at(1_000) + TimeDelta::days(days)).await.unwrap();
    sweep(80).await;
    assert_eq!((world.count("runs").await, world.count("dead_letters").await), (3, 1), "kept for ever");
    world.execute("UPDATE workspaces SET plan = 'free'", Vec::new()).await;
    sweep(29).await;
    assert_eq!(world.count("runs").await, 3);
    sweep(30).await;
    assert_eq!(
        (world.count("runs").await, world.count("run_inputs").await),
        (1, 1),
        "what is not over stays"
    );
    assert_eq!(world.count("dead_letters").await, 0);
    assert!(world.store.run(world.workspace, runs[2]).await.unwrap().is_some());
}
