//! The hot path: accepting calls of webhooks.

use std::collections::BTreeSet;

use ::apps::AppsTx as _;
use futures::future::join_all;
use kernel::id::{DeliveryId, RunId};
use runs::{
    RunStatus, RunsRead as _, RunsTx as _, TriggerKind,
    queue::RunQueue as _,
    quota::Admission,
    webhooks::{
        AcceptCall, AcceptOutcome, DedupKey, Delivery, DeliveryOutcome, RevisionVector, WebhookStore as _,
    },
};

use crate::{
    contract,
    harness::{Database, World, at, json, key},
};

contract!(
    an_accepted_call_leaves_run_delivery_and_keys,
    the_same_key_gives_the_first_answer,
    the_same_signature_is_a_replay,
    a_retrys_own_signature_is_remembered,
    signatures_are_remembered_after_a_restart,
    many_replays_at_once_are_all_told_so,
    same_calls_in_one_batch_start_one_run,
    a_key_of_another_webhook_is_another_key,
    an_expired_key_is_free_again,
    a_refused_call_gives_its_other_keys_back,
    a_call_that_may_start_nothing_is_only_looked_up,
    a_call_decided_under_an_older_state_is_stale,
    a_call_of_a_deleted_automation_is_stale,
    a_call_and_a_deletion_at_once_leave_no_run_behind,
    the_quota_is_exact,
    a_quota_is_of_its_month,
    two_hundred_calls_of_twenty_keys_start_twenty_runs,
    a_failing_call_does_not_take_others_with_it,
    refusals_are_noted,
);

async fn accept(world: &World, call: AcceptCall) -> AcceptOutcome {
    world.store.accept(call).await.unwrap()
}

async fn accept_at_once(world: &World, calls: Vec<AcceptCall>) -> Vec<AcceptOutcome> {
    join_all(calls.into_iter().map(|call| accept(world, call))).await
}

/// The call under these keys and with this signature.
fn with_keys(call: AcceptCall, keys: &[u8], signature: Option<u8>) -> AcceptCall {
    AcceptCall { keys: keys.iter().map(|name| key(*name)).collect(), signature: signature.map(key), ..call }
}

fn call_ids(call: &AcceptCall) -> (RunId, DeliveryId) {
    (call.run, call.delivery)
}

fn repeated((run, delivery): (RunId, DeliveryId)) -> AcceptOutcome {
    AcceptOutcome::Duplicate { run, delivery }
}

async fn an_accepted_call_leaves_run_delivery_and_keys(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let input = r#"{"n": 1.50, "text": "қала\u0000"}"#;
    let call = AcceptCall {
        keys: vec![key(1)],
        signature: Some(key(2)),
        input: json(input),
        bytes: 33,
        is_sample: true,
        at: at(5),
        ..world.call(&*world.state(&webhook).await)
    };
    let (run_id, delivery_id) = call_ids(&call);
    assert_eq!(accept(&world, call).await, AcceptOutcome::Accepted);

    let run = world.run(run_id).await;
    assert_eq!((run.app, run.automation), (world.app, Some(automation.id)));
    assert_eq!((run.app_name.as_str(), run.automation_name.as_deref()), ("Invoices", Some("Nightly")));
    assert_eq!((run.trigger, run.state.status()), (TriggerKind::Webhook, RunStatus::Queued));
    assert_eq!((run.accepted_at, run.attempt, run.minutes_saved), (at(5), 0, 0.0));
    assert_eq!((run.version, run.replay_of, run.steps.len()), (None, None, 0));
    assert_eq!(world.store.run_scope(run_id).await.unwrap(), Some((world.workspace, world.app)));

    let deliveries = world.store.deliveries(world.workspace, webhook.id, 10).await.unwrap();
    let expected = Delivery {
        id: delivery_id,
        received_at: at(5),
        outcome: DeliveryOutcome::Accepted(run_id),
        bytes: 33,
        is_sample: true,
    };
    assert_eq!(deliveries, [expected]);
    let keys = world.count("webhook_keys").await;
    let signatures = world.count("deliveries WHERE signature IS NOT NULL").await;
    // Where several nodes accept calls, they share a table of signatures.
    assert_eq!((keys, signatures), if world.database.url.starts_with("postgres") { (2, 0) } else { (1, 1) });
    let used: i64 =
        world.query_scalar("SELECT runs FROM workspace_usage WHERE month = $1", vec!["2026-11".into()]).await;
    assert_eq!(used, 1);

    let claimed = world.claim(world.id(), 10, at(5)).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].input.get(), input);
}

async fn the_same_key_gives_the_first_answer(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = || AcceptCall { keys: vec![key(1)], ..world.call(&state) };
    let first = call();
    let answer = call_ids(&first);
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    for _ in 0..2 {
        assert_eq!(accept(&world, call()).await, repeated(answer));
    }
    assert_eq!((world.count("runs").await, world.count("deliveries").await), (1, 1));
    assert_eq!(world.count("run_inputs").await, 1);
    assert_eq!(world.count("workspace_usage WHERE runs = 1").await, 1);
}

async fn the_same_signature_is_a_replay(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |names: &[u8], signature| with_keys(world.call(&state), names, signature);
    let first = call(&[1], Some(9));
    let answer = call_ids(&first);
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(&[], Some(9))).await, AcceptOutcome::Replayed);
    // The caller's own key comes first: an honest retry of the very same bytes is no replay.
    assert_eq!(accept(&world, call(&[1], Some(9))).await, repeated(answer));
    assert_eq!(world.count("runs").await, 1);
}

async fn a_retrys_own_signature_is_remembered(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |names: &[u8], signature| with_keys(world.call(&state), names, signature);
    let first = call(&[1], Some(9));
    let answer = call_ids(&first);
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(&[1], Some(10))).await, repeated(answer));
    // Somebody captured the retry and sends it again without its key, later or at the same moment.
    assert_eq!(accept(&world, call(&[], Some(10))).await, AcceptOutcome::Replayed);
    let retry_and_capture = vec![call(&[1], Some(11)), call(&[], Some(11))];
    let verdicts = world.in_one_batch(accept_at_once(&world, retry_and_capture)).await;
    assert_eq!(verdicts, [repeated(answer), AcceptOutcome::Replayed]);
}

async fn signatures_are_remembered_after_a_restart(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let (_, other) = world.add_webhook_automation(None).await;
    let (state, other) = (world.state(&webhook).await, world.state(&other).await);
    let call = |names: &[u8], signature| with_keys(world.call(&state), names, signature);
    let first = call(&[1], Some(9));
    let answer = call_ids(&first);
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(&[1], Some(10))).await, repeated(answer));
    let refused = AcceptCall { runs_per_month: Some(1), ..call(&[], Some(11)) };
    assert_eq!(accept(&world, refused).await, AcceptOutcome::QuotaReached);

    let again = world.database.open().await;
    for signature in [9, 10] {
        assert_eq!(again.accept(call(&[], Some(signature))).await.unwrap(), AcceptOutcome::Replayed);
    }
    assert_eq!(again.accept(call(&[1], Some(9))).await.unwrap(), repeated(answer));
    let of_another = with_keys(world.call(&other), &[], Some(9));
    assert_eq!(again.accept(of_another).await.unwrap(), AcceptOutcome::Accepted);
    assert_eq!(again.accept(call(&[], Some(11))).await.unwrap(), AcceptOutcome::Accepted);
}

async fn many_replays_at_once_are_all_told_so(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = || AcceptCall { signature: Some(key(9)), ..world.call(&state) };
    assert_eq!(accept(&world, call()).await, AcceptOutcome::Accepted);
    let verdicts = world.in_one_batch(accept_at_once(&world, (0..20).map(|_| call()).collect())).await;
    assert_eq!(verdicts, vec![AcceptOutcome::Replayed; 20]);
}

async fn same_calls_in_one_batch_start_one_run(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |names: &[u8], signature| with_keys(world.call(&state), names, signature);
    let named: Vec<_> = (0..10).map(|_| call(&[1], None)).collect();
    let signed: Vec<_> = (0..10).map(|_| call(&[], Some(9))).collect();
    let answers: Vec<_> = named.iter().map(call_ids).collect();
    let calls = named.into_iter().chain(signed).collect();
    let verdicts = world.in_one_batch(accept_at_once(&world, calls)).await;

    let (named, signed) = verdicts.split_at(10);
    let first = named.iter().position(|verdict| *verdict == AcceptOutcome::Accepted).unwrap();
    for (index, verdict) in named.iter().enumerate() {
        let expected = if index == first { AcceptOutcome::Accepted } else { repeated(answers[first]) };
        assert_eq!(*verdict, expected);
    }
    let accepted = signed.iter().filter(|verdict| **verdict == AcceptOutcome::Accepted).count();
    let replayed = signed.iter().filter(|verdict| **verdict == AcceptOutcome::Replayed).count();
    assert_eq!((accepted, replayed), (1, 9));
    // One of each, and the call they waited behind.
    assert_eq!((world.count("runs").await, world.count("deliveries").await), (3, 3));
}

async fn a_key_of_another_webhook_is_another_key(database: Database) {
    let world = World::new(database).await;
    let hooks = [world.add_webhook_automation(None).await.1, world.add_webhook_automation(None).await.1];
    for hook in &hooks {
        let call = AcceptCall { keys: vec![key(1)], ..world.call(&*world.state(hook).await) };
        assert_eq!(accept(&world, call).await, AcceptOutcome::Accepted);
    }
    assert_eq!(world.count("runs").await, 2);
}

async fn an_expired_key_is_free_again(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |moment, end| AcceptCall {
        keys: vec![DedupKey { digest: [1; 32], expires_at: at(end) }],
        at: at(moment),
        ..world.call(&state)
    };
    let first = call(0, 1_000);
    let answer = call_ids(&first);
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(999, 9_000)).await, repeated(answer));
    let second = call(1_000, 2_000);
    let answer = call_ids(&second);
    assert_eq!(accept(&world, second).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(1_999, 9_000)).await, repeated(answer));
    assert_eq!((world.count("runs").await, world.count("webhook_keys").await), (2, 1));
}

async fn a_refused_call_gives_its_other_keys_back(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |names: &[u8], signature| with_keys(world.call(&state), names, signature);
    assert_eq!(accept(&world, call(&[], Some(9))).await, AcceptOutcome::Accepted);
    assert_eq!(accept(&world, call(&[1], Some(9))).await, AcceptOutcome::Replayed);
    assert_eq!(accept(&world, call(&[1], None)).await, AcceptOutcome::Accepted);
}

async fn a_call_that_may_start_nothing_is_only_looked_up(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |keys: &[u8], signature| with_keys(world.call(&state), keys, signature);
    let barred = |keys: &[u8], signature| AcceptCall { may_start: false, ..call(keys, signature) };
    let first = call(&[1], Some(11));
    let earlier = repeated(call_ids(&first));
    assert_eq!(accept(&world, barred(&[1], Some(12))).await, AcceptOutcome::New);
    assert_eq!(
        accept(&world, first).await,
        AcceptOutcome::Accepted,
        "neither its key nor its signature is used up"
    );
    assert_eq!(accept(&world, barred(&[1], Some(12))).await, earlier);
    assert_eq!(accept(&world, barred(&[], Some(11))).await, AcceptOutcome::Replayed);
    assert_eq!(
        accept(&world, barred(&[], Some(12))).await,
        AcceptOutcome::Replayed,
        "a repeat's own signature"
    );
    let expired = AcceptCall { at: at(1_000_000_000), ..barred(&[1], None) };
    assert_eq!(accept(&world, expired).await, AcceptOutcome::New);
    let same = accept_at_once(&world, (0..20).map(|_| barred(&[2], None)).collect()).await;
    assert!(same.iter().all(|verdict| *verdict == AcceptOutcome::New), "{same:?}");
    let mixed = vec![barred(&[3], None), call(&[3], None), barred(&[3], None)];
    let started = call_ids(&mixed[1]);
    let verdicts = accept_at_once(&world, mixed).await;
    let fits = |verdict: &AcceptOutcome| {
        matches!(verdict, AcceptOutcome::Accepted | AcceptOutcome::New | AcceptOutcome::Stale)
    };
    assert!(verdicts.iter().all(|verdict| fits(verdict) || *verdict == repeated(started)), "{verdicts:?}");
    assert_eq!(world.count("runs").await, 1 + i64::from(verdicts[1] == AcceptOutcome::Accepted));
}

async fn a_call_decided_under_an_older_state_is_stale(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let mut calls = vec![world.call(&*world.state(&webhook).await)];
    world.write(async |tx| tx.upsert_webhook(&webhook).await).await;
    calls.push(world.call(&*world.state(&webhook).await));
    world.publish(world.app, Some(world.version), false).await;
    calls.push(world.call(&*world.state(&webhook).await));
    world.write(async |tx| tx.update_automation(&automation).await).await;
    for call in calls {
        let call = AcceptCall { keys: vec![key(1)], ..call };
        assert_eq!(accept(&world, call).await, AcceptOutcome::Stale);
    }
    let made_up =
        AcceptCall { revisions: RevisionVector([0; 4]), ..world.call(&*world.state(&webhook).await) };
    assert_eq!(accept(&world, made_up).await, AcceptOutcome::Stale);
    assert_eq!((world.count("runs").await, world.count("webhook_keys").await), (0, 0));

    let call = AcceptCall { keys: vec![key(1)], ..world.call(&*world.state(&webhook).await) };
    assert_eq!(accept(&world, call).await, AcceptOutcome::Accepted);
}

async fn a_call_of_a_deleted_automation_is_stale(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let call = world.call(&*world.state(&webhook).await);
    world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(0)).await).await;
    assert_eq!(accept(&world, call).await, AcceptOutcome::Stale);
    assert_eq!(world.count("runs").await, 0);
}

/// The deletion is under way when the call comes: the call must wait for it.
async fn a_call_and_a_deletion_at_once_leave_no_run_behind(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(Some(1)).await;
    let call = world.call(&*world.state(&webhook).await);
    let deletion = async {
        let mut tx = world.store.begin().await.unwrap();
        tx.delete_app(world.workspace, world.app, at(0)).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let entry = world.context().audit_entry("app.delete").workspace(world.workspace).target(world.app);
        kernel::UnitOfWork::audit(&mut tx, entry);
        kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();
    };
    let call = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        accept(&world, call).await
    };
    let ((), verdict) = tokio::join!(deletion, call);
    assert_eq!(verdict, AcceptOutcome::Stale);
    assert_eq!((world.count("runs").await, world.count("run_queue").await), (0, 0));
}

async fn the_quota_is_exact(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = |digest| AcceptCall { keys: vec![key(digest)], runs_per_month: Some(3), ..world.call(&state) };
    let verdicts = accept_at_once(&world, (0..10).map(call).collect()).await;
    let of = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    assert_eq!((of(AcceptOutcome::Accepted), of(AcceptOutcome::QuotaReached)), (3, 7));
    assert_eq!((world.count("runs").await, world.count("webhook_keys").await), (3, 3));
    assert_eq!(world.count("workspace_usage WHERE runs = 3").await, 1);

    // Calls with one key share one fate, and what is refused takes nothing.
    let same = accept_at_once(&world, (0..10).map(|_| call(77)).collect()).await;
    assert_eq!(same, vec![AcceptOutcome::QuotaReached; 10]);
    // Their keys are free again: with more to spend they are accepted.
    let refused = (0..).zip(&verdicts).filter(|(_, verdict)| **verdict == AcceptOutcome::QuotaReached);
    for (digest, _) in refused {
        let more = AcceptCall { runs_per_month: Some(10), ..call(digest) };
        assert_eq!(accept(&world, more).await, AcceptOutcome::Accepted);
    }
    assert_eq!(
        accept(&world, AcceptCall { runs_per_month: Some(10), ..call(99) }).await,
        AcceptOutcome::QuotaReached
    );
}

async fn a_quota_is_of_its_month(database: Database) {
    let world = World::new(database).await;
    let month = "2026-11-30T23:59:59.999Z".parse().unwrap();
    let next_month = "2026-12-01T00:00:00Z".parse().unwrap();
    let take = async |now, limit| {
        world.write(async |tx| tx.admit_run(world.workspace, now, limit).await).await == Admission::Start
    };
    assert!(take(month, Some(1)).await);
    assert!(!take(month, Some(1)).await);
    assert!(take(next_month, Some(1)).await);
    assert!(!take(next_month, Some(0)).await);
    assert!(take(month, None).await);
    assert_eq!(world.count("workspace_usage WHERE runs = 2 AND month = '2026-11'").await, 1);
    assert_eq!(world.count("workspace_usage WHERE runs = 1 AND month = '2026-12'").await, 1);
}

async fn two_hundred_calls_of_twenty_keys_start_twenty_runs(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let calls: Vec<_> = (0..200)
        .map(|number: u8| AcceptCall { keys: vec![key(number % 20)], ..world.call(&state) })
        .collect();
    let runs: Vec<RunId> = calls.iter().map(|call| call.run).collect();
    let verdicts = accept_at_once(&world, calls).await;
    let mut answers = vec![BTreeSet::new(); 20];
    for (index, (verdict, run)) in verdicts.iter().zip(runs).enumerate() {
        let answered = match verdict {
            AcceptOutcome::Accepted => run,
            AcceptOutcome::Duplicate { run, .. } => *run,
            other => panic!("{other:?}"),
        };
        answers[index % 20].insert(answered);
    }
    assert!(answers.iter().all(|runs| runs.len() == 1), "each key has one run");
    assert_eq!(verdicts.iter().filter(|verdict| **verdict == AcceptOutcome::Accepted).count(), 20);
    for table in ["runs", "deliveries", "run_queue", "run_inputs", "webhook_keys"] {
        assert_eq!(world.count(table).await, 20, "{table}");
    }
}

async fn a_failing_call_does_not_take_others_with_it(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let first = world.call(&state);
    let taken = first.run;
    assert_eq!(accept(&world, first).await, AcceptOutcome::Accepted);
    // A run's id cannot be used twice.
    let mut calls: Vec<_> = (0..8).map(|_| world.call(&state)).collect();
    calls[3].run = taken;
    let results = join_all(calls.into_iter().map(|call| world.store.accept(call))).await;
    for (index, result) in results.into_iter().enumerate() {
        if index == 3 {
            assert!(result.is_err());
        } else {
            assert_eq!(result.unwrap(), AcceptOutcome::Accepted);
        }
    }
    assert_eq!(world.count("runs").await, 8);
}

async fn refusals_are_noted(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let notes: Vec<_> = (0..5).map(|_| world.refused(&webhook)).collect();
    let newest_first: Vec<_> = notes.iter().rev().map(|note| note.id).collect();
    for result in join_all(notes.into_iter().map(|note| world.store.record_refusal(note))).await {
        result.unwrap();
    }
    let deliveries = world.store.deliveries(world.workspace, webhook.id, 3).await.unwrap();
    assert_eq!(deliveries.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), newest_first[..3]);
    let expected = Delivery {
        id: newest_first[0],
        received_at: at(3),
        outcome: DeliveryOutcome::Refused("automation_paused".to_owned()),
        bytes: 12,
        is_sample: false,
    };
    assert_eq!(deliveries[0], expected);
    assert_eq!(world.count("runs").await, 0);
    // Whoever waits for work is not woken by a refusal; what is claimed is nothing.
    assert!(
        world
            .store
            .claim(world.id(), runs::queue::ClaimLimit::with_total(1), std::sync::Arc::new(at(10)))
            .await
            .unwrap()
            .is_empty()
    );
}
