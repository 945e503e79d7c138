//! Automations and webhooks.

use kernel::{
    authority::Visibility,
    token::{Digest, Peppers},
    vault::MasterKeys,
};
use runs::{
    Automation, AutomationStatus, RunStatus, RunsRead as _, RunsTx as _, Trigger, Webhook,
    automations::schedule::Schedule,
    runs::RunState,
    webhooks::{
        Proof, RefusedCalls, RefusedCallsEntry, RefusedCallsLog as _, SealedSecret, TokenDigest,
        WebhookStore as _,
    },
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    every_trigger_is_read_as_it_was_written,
    an_automation_changes,
    every_proof_is_read_as_it_was_written,
    a_webhook_is_replaced_and_seen_at_once,
    a_hook_is_remembered_until_it_changes,
    a_deleted_automation_takes_its_webhook_and_ends_what_waited,
    refused_calls_are_added_up,
);

async fn every_trigger_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let triggers = [
        Trigger::Schedule(Schedule::parse("30 9 * * 1", Some("Asia/Almaty")).unwrap()),
        Trigger::Schedule(Schedule::parse("*/5 * * * *", None).unwrap()),
        Trigger::Webhook,
        Trigger::Form,
        Trigger::Manual,
        Trigger::Event("row.created".to_owned()),
    ];
    let mut newest_first = Vec::new();
    for trigger in triggers {
        let automation = Automation {
            status: AutomationStatus::Draft,
            max_concurrency: Some(1000),
            retries: 5,
            next_run_at: Some(at(60_000)),
            ..world.automation(trigger)
        };
        world.write(async |tx| tx.insert_automation(&automation).await).await;
        let found = world.store.automation(world.workspace, automation.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&automation));
        let scope = world.store.automation_scope(automation.id).await.unwrap();
        assert_eq!(scope, Some((world.workspace, world.app)));
        newest_first.insert(0, automation);
    }
    let list = world.store.automations(world.workspace, Visibility::All, None, PAGE).await.unwrap();
    assert_eq!(list, newest_first);
    assert_eq!(world.store.automation_scope(world.id()).await.unwrap(), None);
}

async fn an_automation_changes(database: Database) {
    let world = World::new(database).await;
    let schedule = Trigger::Schedule(Schedule::parse("0 0 * * *", None).unwrap());
    let automation = Automation { next_run_at: Some(at(1)), ..world.automation(schedule) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let changed = Automation {
        name: "Hourly".to_owned(),
        trigger: Trigger::Event("row.updated".to_owned()),
        status: AutomationStatus::Paused,
        max_concurrency: Some(3),
        retries: 0,
        next_run_at: None,
        ..automation.clone()
    };
    world
        .write(async |tx| {
            let found = tx.automation_for_update(world.workspace, automation.id).await?;
            assert_eq!(found.as_ref(), Some(&automation));
            tx.update_automation(&changed).await
        })
        .await;
    assert_eq!(world.store.automation(world.workspace, automation.id).await.unwrap(), Some(changed));
    assert_eq!(world.count("automations WHERE cron IS NULL AND timezone IS NULL").await, 1);
}

fn digest(secret: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap()).digest(secret)
}

fn sealed(text: &str) -> SealedSecret {
    SealedSecret { sealed: text.to_owned(), hint: "qws_…wxyz".to_owned() }
}

async fn every_proof_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let token = TokenDigest { digest: digest("token"), hint: "qwt_…wxyz".to_owned() };
    let proofs =
        [Proof::Signed(sealed("one")), Proof::CodeHost(sealed("two")), Proof::Token(token), Proof::None];
    for proof in proofs {
        let automation = world.automation(Trigger::Webhook);
        let webhook = Webhook {
            is_enabled: false,
            per_minute: 600,
            updated_at: at(9),
            ..world.webhook(&automation, proof)
        };
        world
            .write(async |tx| {
                tx.insert_automation(&automation).await?;
                tx.upsert_webhook(&webhook).await?;
                let found = tx.webhook_for_update(world.workspace, automation.id).await?;
                assert_eq!(found.as_ref(), Some(&webhook));
                Ok(())
            })
            .await;
        let found = world.store.webhook(world.workspace, automation.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&webhook));
        assert_eq!(world.state(&webhook).await.webhook, webhook);
    }
}

async fn a_webhook_is_replaced_and_seen_at_once(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(Some(4)).await;
    let state = world.store.webhook_snapshot(webhook.id, false).await.unwrap().unwrap();
    assert_eq!((state.max_concurrency, state.automation_status), (Some(4), AutomationStatus::Active));
    assert_eq!(state.runs_per_month, None);
    let token = TokenDigest { digest: digest("token"), hint: "qwt_…wxyz".to_owned() };
    let revision = async || -> i64 {
        world
            .query_scalar("SELECT revision FROM webhooks WHERE id = $1", vec![webhook.id.uuid().into()])
            .await
    };
    assert_eq!(revision().await, 1);
    let mut stamps = vec![state.revisions];
    for (proof, expected) in [(Proof::Signed(sealed("one")), 2), (Proof::Token(token), 3)] {
        let changed =
            Webhook { proof, is_enabled: false, per_minute: 1, updated_at: at(3), ..webhook.clone() };
        world.write(async |tx| tx.upsert_webhook(&changed).await).await;
        assert_eq!(revision().await, expected);
        // The remembered state is gone: nobody asked for a fresh one.
        let state = world.store.webhook_snapshot(webhook.id, false).await.unwrap().unwrap();
        assert_eq!(state.webhook, changed);
        assert!(!stamps.contains(&state.revisions));
        stamps.push(state.revisions);
    }
    assert_eq!(world.count("webhooks WHERE secret_sealed IS NULL").await, 1);
    assert!(world.store.webhook(world.workspace, automation.id).await.unwrap().is_some());
}

async fn a_hook_is_remembered_until_it_changes(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let unknown = world.id();
    assert!(world.store.webhook_snapshot(unknown, false).await.unwrap().is_none());
    let first = world.store.webhook_snapshot(webhook.id, false).await.unwrap().unwrap();
    // Another store on the same database stands for another node.
    let elsewhere = world.database.open().await;
    assert!(elsewhere.webhook_snapshot(webhook.id, false).await.unwrap().is_some());
    let paused = Automation { status: AutomationStatus::Paused, ..automation };
    world.write(async |tx| tx.update_automation(&paused).await).await;
    let remembered = elsewhere.webhook_snapshot(webhook.id, false).await.unwrap().unwrap();
    assert_eq!(remembered.revisions, first.revisions);
    let fresh = elsewhere.webhook_snapshot(webhook.id, true).await.unwrap().unwrap();
    assert_eq!(fresh.automation_status, AutomationStatus::Paused);
    assert_ne!(fresh.revisions, first.revisions);
    let remembered = elsewhere.webhook_snapshot(webhook.id, false).await.unwrap().unwrap();
    assert_eq!(remembered.revisions, fresh.revisions);
}

async fn a_deleted_automation_takes_its_webhook_and_ends_what_waited(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(Some(1)).await;
    let (other, _) = world.add_webhook_automation(None).await;
    world.state(&webhook).await;
    let (ready, held) = (world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(0)).await);
    let untouched = world.enqueue(&other, at(0)).await;
    world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(7)).await).await;
    assert!(world.store.webhook_snapshot(webhook.id, false).await.unwrap().is_none());
    assert_eq!(world.store.automation(world.workspace, automation.id).await.unwrap(), None);
    for run in [ready, held] {
        let run = world.run(run).await;
        let RunState::Failed(span, fault) = &run.state else { panic!("{:?}", run.state) };
        assert_eq!((span.started_at, span.finished_at), (at(7), at(7)));
        assert_eq!(fault.code, "automation_deleted");
        assert_eq!(run.automation_name, None);
    }
    assert_eq!(world.run(untouched).await.state.status(), RunStatus::Queued);
    assert_eq!(world.count("run_queue").await, 1);
    assert_eq!(world.count("webhooks").await, 1);
}

async fn refused_calls_are_added_up(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let (_, quiet) = world.add_webhook_automation(None).await;
    let entry = |calls, millis, code| RefusedCallsEntry {
        hook: webhook.id,
        workspace: world.workspace,
        calls,
        last_at: at(millis),
        code,
    };
    let read =
        async |workspace, hook, millis| world.store.refused_calls(workspace, hook, at(millis)).await.unwrap();
    // Two nodes write the same minute.
    for entry in
        [entry(3, 1_000, "bad_signature"), entry(2, 2_000, "bad_token"), entry(4, 90_000, "stale_timestamp")]
    {
        world.store.add_refused_calls(&[entry]).await.unwrap();
    }
    let found =
        |calls, millis, code: &str| Some(RefusedCalls { calls, last_at: at(millis), code: code.to_owned() });
    let hour = 3_600_000;
    assert_eq!(read(world.workspace, webhook.id, -hour).await, found(9, 90_000, "stale_timestamp"));
    assert_eq!(read(world.workspace, webhook.id, 0).await, found(4, 90_000, "stale_timestamp"));
    assert_eq!(read(world.workspace, webhook.id, hour).await, None);
    assert_eq!(read(world.workspace, quiet.id, -hour).await, None);
    assert_eq!(read(world.id(), webhook.id, -hour).await, None);
    world.store.delete_expired(at(25 * hour)).await.unwrap();
    assert_eq!(read(world.workspace, webhook.id, -hour).await, None);
}
