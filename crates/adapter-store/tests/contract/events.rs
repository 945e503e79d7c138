//! The feed of a workspace: an order without gaps, whoever writes at once.

use std::{collections::BTreeMap, time::Duration};

use ::apps::{AppsTx as _, access::AppGrant};
use adapter_store::Store;
use kernel::{
    StoreError, Transactions, UnitOfWork as _,
    authority::{AppRightName, Member, Role, Sharing},
    changes::{Audience, Change, ChangedKind},
    events::{Event, EventKind, RefusedRequest, RunStage},
    id::{RunId, WorkspaceId},
    testing::{context, session_of},
};
use observability::{
    EventFeed as _, EventSink as _,
    feed::{FeedEvent, FeedPage, FeedQuery, Topic},
};
use runs::{
    RunsTx as _, Trigger,
    queue::{AttemptOutcome, FinishedRun, NewRun, RunFault, RunQueue as _},
    runs::{Step, StepStatus},
    webhooks::{AcceptOutcome, RefusedDelivery, WebhookStore as _},
};
use tokio::time::timeout;

use crate::{
    contract,
    harness::{Database, World, at, finished_run, member, reader},
};

contract!(
    eight_writers_and_a_reader_who_loses_nothing,
    every_kind_survives_its_columns,
    a_run_is_told_of_from_start_to_end,
    what_was_undone_leaves_no_gap,
    a_cursor_passes_what_the_reader_may_not_see,
    changes_are_for_those_who_may_see_the_object,
    an_audited_change_is_reported_in_its_transaction,
    runs_of_a_deleted_automation_are_told_of,
);

const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) fn query(after: u64, topic: Topic, limit: u32) -> FeedQuery {
    FeedQuery { after, topic, limit }
}

pub(crate) async fn read_feed(store: &Store, workspace: WorkspaceId, after: u64) -> FeedPage {
    store.feed(&reader(workspace), query(after, Topic::All, 100)).await.unwrap()
}

/// Everything of the world's workspace after a number.
pub(crate) async fn read_feed_to_end(world: &World, mut after: u64) -> Vec<FeedEvent> {
    let mut all = Vec::new();
    loop {
        let page = read_feed(&world.store, world.workspace, after).await;
        assert!(!page.has_gap);
        all.extend(page.events);
        if page.cursor == page.head {
            return all;
        }
        after = page.cursor;
    }
}

pub(crate) fn fault(code: &str) -> RunFault {
    RunFault { code: code.to_owned(), message: "No.".to_owned() }
}

/// Returns the stages of runs that events tell of, in order.
fn stages(events: &[FeedEvent]) -> Vec<(RunId, RunStage)> {
    let stage = |event: &FeedEvent| match &event.kind {
        EventKind::Run { run, stage } => Some((*run, stage.clone())),
        _ => None,
    };
    events.iter().filter_map(stage).collect()
}

async fn eight_writers_and_a_reader_who_loses_nothing(database: Database) {
    const EACH: usize = 30;
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    // Two transactions that meet in two workspaces must not lock each other out.
    let other = world.id();
    world.add_workspace(other, "other").await;
    let by_hand = async || {
        for number in 0..EACH {
            let run = world.manual_run(&automation);
            world
                .write(async |tx| {
                    let what = EventKind::LinesLogged { lines: 1 };
                    let elsewhere = Event::of_app(other, world.app, at(0), what);
                    if number % 2 == 0 {
                        tx.publish(elsewhere);
                        tx.enqueue(&run).await
                    } else {
                        tx.enqueue(&run).await?;
                        tx.publish(elsewhere);
                        Ok(())
                    }
                })
                .await;
        }
    };
    let by_call = async || {
        for _ in 0..EACH {
            assert_eq!(world.store.accept(world.call(&state)).await.unwrap(), AcceptOutcome::Accepted);
        }
    };
    // Six that start runs and two that end them.
    let starts = 6 * EACH;
    let node = world.id();
    let worker = async || {
        let mut finished = 0;
        while finished < starts / 2 {
            let left = u32::try_from(starts / 2 - finished).unwrap();
            let claimed = world.claim(node, left.min(4), at(10)).await;
            if claimed.is_empty() {
                tokio::task::yield_now().await;
            }
            finished += claimed.len();
            for run in &claimed {
                assert!(world.finish(node, run, AttemptOutcome::Succeeded).await);
            }
        }
    };
    let ended = |seen: &[FeedEvent]| {
        let over = |(_, stage): &&(RunId, RunStage)| *stage == RunStage::Succeeded;
        stages(seen).iter().filter(over).count()
    };
    let reader = async {
        let mut bell = world.store.subscribe(world.workspace);
        let (mut seen, mut cursor) = (Vec::new(), 0);
        while ended(&seen) < starts {
            let page = read_feed(&world.store, world.workspace, cursor).await;
            assert!(!page.has_gap);
            assert_eq!(page.cursor, page.events.last().map_or(cursor, |event| event.seq));
            seen.extend(page.events);
            if page.cursor == page.head && ended(&seen) < starts {
                timeout(TIMEOUT, bell.changed()).await.expect("it rings while there is more");
            }
            cursor = page.cursor;
        }
        seen
    };
    let (seen, ..) = tokio::join!(
        reader,
        by_hand(),
        by_hand(),
        by_hand(),
        by_call(),
        by_call(),
        by_call(),
        worker(),
        worker()
    );

    let numbers: Vec<u64> = seen.iter().map(|event| event.seq).collect();
    assert_eq!(
        numbers,
        (1..=seen.len() as u64).collect::<Vec<_>>(),
        "a number is missing, late or there twice"
    );
    let mut told: BTreeMap<RunId, Vec<RunStage>> = BTreeMap::new();
    for (run, stage) in stages(&seen) {
        told.entry(run).or_default().push(stage);
    }
    assert_eq!(told.len(), starts);
    let whole = [RunStage::Queued, RunStage::Running, RunStage::Succeeded];
    // One that begins as it is accepted was never in the queue.
    assert!(told.values().all(|stages| *stages == whole || *stages == whole[1..]), "{told:?}");
    let elsewhere = read_feed(&world.store, other, 0).await;
    assert_eq!((elsewhere.events.len(), elsewhere.head), (3 * EACH, 3 * EACH as u64));
}

async fn every_kind_survives_its_columns(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let run = NewRun { by_agent: true, ..world.manual_run(&automation) };
    let code = || "egress_denied".to_owned();
    let refused = || RefusedRequest { request_line: "GET example.com".to_owned(), code: code() };
    let all = [
        EventKind::Run { run: run.id, stage: RunStage::Retried { code: code() } },
        EventKind::Run {
            run: run.id,
            stage: RunStage::AwaitingApproval { approval: kernel::Id::from_uuid(uuid::Uuid::from_u128(7)) },
        },
        EventKind::Run { run: run.id, stage: RunStage::Succeeded },
        EventKind::Run { run: run.id, stage: RunStage::Failed { code: code() } },
        EventKind::Run { run: run.id, stage: RunStage::Blocked { code: code() } },
        EventKind::VersionCreated { version: world.version, number: 7 },
        EventKind::EgressRefused { run: Some(run.id), request: refused() },
        EventKind::EgressRefused { run: None, request: refused() },
        EventKind::WebhookCallRefused {
            delivery: world.id(),
            automation: automation.id,
            code: "automation_paused".to_owned(),
        },
        EventKind::LinesLogged { lines: 3 },
        EventKind::AppFailing { run: run.id, code: code() },
        EventKind::Run { run: run.id, stage: RunStage::Running },
        EventKind::AutomationFailing { automation: automation.id, run: run.id, code: code() },
        // A stranger may cause it: no outcome of the workspace's.
        EventKind::WebhookCallRefused {
            delivery: world.id(),
            automation: automation.id,
            code: "honeypot".to_owned(),
        },
    ];
    world
        .write(async |tx| {
            tx.enqueue(&run).await?;
            for (number, what) in all.iter().enumerate() {
                let at = at(number as i64);
                tx.publish(Event::of_app(world.workspace, world.app, at, what.clone()));
            }
            Ok(())
        })
        .await;
    let found = read_feed_to_end(&world, 1).await;
    assert_eq!(found.iter().map(|event| event.kind.clone()).collect::<Vec<_>>(), all);
    assert_eq!(found[1].at, at(1));
    assert_eq!((found[0].app, found[0].app_name.as_deref()), (Some(world.app), Some("Invoices")));
    let started = found[0].run_origin.as_ref().unwrap();
    assert_eq!((started.automation, started.trigger.as_str()), (Some(automation.id), "manual"));
    assert!(started.by_agent);
    assert_eq!(found[5].run_origin, None);

    let only = async |topic| {
        let page = world.store.feed(&reader(world.workspace), query(0, topic, 100)).await.unwrap();
        assert_eq!((page.cursor, page.head), (15, 15));
        page.events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(only(Topic::Outcomes).await, [3, 4, 5, 6, 8, 9, 10, 12, 14]);
    assert_eq!(only(Topic::AppLog(world.app)).await, [2, 4, 5, 6, 11]);
    assert_eq!(only(Topic::AppLog(world.id())).await, [] as [u64; 0]);
}

async fn a_run_is_told_of_from_start_to_end(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let state = world.state(&webhook).await;
    let call = world.call(&state);
    let first = call.run;
    world.store.accept(call).await.unwrap();
    let second = world.enqueue(&automation, at(1)).await;
    let node = world.id();
    let claimed = world.claim(node, 2, at(5)).await;
    let retry = AttemptOutcome::Retry { at: at(6), fault: fault("app_error") };
    assert!(world.finish(node, &claimed[0], retry).await);
    let step = |label: &str, status| Step {
        label: label.to_owned(),
        status,
        started_at: None,
        duration_ms: None,
        detail: Some("egress_denied".to_owned()),
    };
    let blocked = FinishedRun {
        // A call that is refused again is told of once.
        steps: vec![
            step("Run main.js", StepStatus::Blocked),
            step("GET a.example", StepStatus::Ok),
            step("GET b.example", StepStatus::Blocked),
            step("GET b.example", StepStatus::Blocked),
        ],
        ..finished_run(&claimed[1], AttemptOutcome::Blocked(fault("egress_denied")))
    };
    assert!(world.store.finish(node, blocked).await.unwrap());
    // Whoever lost the run tells nothing.
    assert!(!world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await);
    let again = world.claim(node, 2, at(9)).await;
    assert!(world.finish(node, &again[0], AttemptOutcome::Failed(fault("timeout"))).await);
    let refused = RefusedDelivery {
        id: world.id(),
        hook: webhook.id,
        workspace: world.workspace,
        automation: automation.id,
        app: world.app,
        code: "automation_paused",
        bytes: 2,
        at: at(11),
        is_sample: false,
        audit: None,
        dead_letter: None,
    };
    let delivery = refused.id;
    world.store.record_refusal(refused).await.unwrap();

    let code = |code: &str| code.to_owned();
    let run = |run, stage| EventKind::Run { run, stage };
    let expected = [
        run(first, RunStage::Queued),
        run(second, RunStage::Queued),
        run(first, RunStage::Running),
        run(second, RunStage::Running),
        run(first, RunStage::Retried { code: code("app_error") }),
        EventKind::EgressRefused {
            run: Some(second),
            request: RefusedRequest { request_line: code("GET b.example"), code: code("egress_denied") },
        },
        run(second, RunStage::Blocked { code: code("egress_denied") }),
        run(first, RunStage::Running),
        run(first, RunStage::Failed { code: code("timeout") }),
        EventKind::WebhookCallRefused {
            delivery,
            automation: automation.id,
            code: code("automation_paused"),
        },
    ];
    let told: Vec<_> = read_feed_to_end(&world, 0).await.into_iter().map(|event| event.kind).collect();
    assert_eq!(told, expected);
}

async fn what_was_undone_leaves_no_gap(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let run = world.enqueue(&automation, at(0)).await;
    // The same run twice: the whole transaction is undone, its events too.
    let twice = NewRun { id: run, ..world.manual_run(&automation) };
    let fresh = world.manual_run(&automation);
    let result = world
        .try_write(async |tx| {
            tx.enqueue(&fresh).await?;
            tx.enqueue(&twice).await
        })
        .await;
    assert!(result.is_err());
    let last = world.enqueue(&automation, at(1)).await;
    let events = read_feed_to_end(&world, 0).await;
    assert_eq!(stages(&events), [(run, RunStage::Queued), (last, RunStage::Queued)]);
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
}

async fn a_cursor_passes_what_the_reader_may_not_see(database: Database) {
    let world = World::new(database).await;
    let shared = world.id();
    world.add_app(shared, Sharing::Team).await;
    let emit = async |app| {
        let event = Event::of_app(world.workspace, app, at(0), EventKind::LinesLogged { lines: 1 });
        world
            .write(async |tx| {
                tx.publish(event);
                Ok(())
            })
            .await;
    };
    for app in [world.app, world.app, shared, world.app] {
        emit(app).await;
    }
    let bek = world.add_person("bek").await;
    let visible = &member(world.workspace, bek, Role::Member);
    let seen = async |after, reader: &Member, limit| {
        let page = world.store.feed(reader, query(after, Topic::All, limit)).await.unwrap();
        (page.events.iter().map(|event| event.seq).collect::<Vec<_>>(), page.cursor)
    };
    assert_eq!(seen(0, visible, 100).await, (vec![3], 4));
    assert_eq!(seen(0, visible, 1).await, (vec![3], 3));
    assert_eq!(seen(3, visible, 100).await, (vec![], 4));
    let viewer = &member(world.workspace, bek, Role::Viewer);
    assert_eq!(seen(0, viewer, 100).await, (vec![], 4));
    let maker = &member(world.workspace, world.user, Role::Viewer);
    assert_eq!(seen(0, maker, 100).await, (vec![1, 2, 3, 4], 4));
    // A right that is granted is one from then on, also to what was before.
    world
        .write(async |tx| {
            let grants = [AppGrant { user: bek, rights: [AppRightName::CanView].into_iter().collect() }];
            tx.replace_access(world.workspace, world.app, Sharing::Private, &grants).await
        })
        .await;
    assert_eq!(seen(0, viewer, 100).await, (vec![1, 2, 4], 4));
    // Nor is another workspace's feed anybody's here.
    assert_eq!(read_feed(&world.store, world.id(), 0).await.head, 0);
}

async fn changes_are_for_those_who_may_see_the_object(database: Database) {
    let world = World::new(database).await;
    let shared = world.id();
    world.add_app(shared, Sharing::Workspace).await;
    let bek = world.add_person("bek").await;
    let person = |user| Audience::Person { user, role: Role::Member };
    let audiences = [
        Audience::AppViewers(world.app),
        Audience::AppViewers(shared),
        Audience::Members(Role::Admin),
        Audience::Members(Role::Member),
        Audience::Members(Role::Viewer),
        person(bek),
        person(world.user),
    ];
    let change = |number: usize| Change {
        kind: ChangedKind::ALL[number],
        id: format!("object {number}"),
        by: number.is_multiple_of(2).then_some(bek),
        app: Some(shared),
        automation: (number == 1).then(|| world.id()),
        project: (number == 2).then(|| world.id()),
        table: (number == 3).then(|| "notes".to_owned()),
    };
    let changes: Vec<Change> = (0..audiences.len()).map(change).collect();
    let events = changes.iter().zip(&audiences).map(|(change, audience)| Event {
        workspace: world.workspace,
        audience: audience.clone(),
        at: at(0),
        kind: EventKind::Changed(change.clone()),
    });
    world.store.publish_events(events.collect()).await.unwrap();

    let seen = async |user, role| {
        let reader = member(world.workspace, user, role);
        let page = world.store.feed(&reader, query(0, Topic::All, 100)).await.unwrap();
        assert_eq!(page.cursor, 7);
        for event in &page.events {
            assert_eq!(event.kind, EventKind::Changed(changes[event.seq as usize - 1].clone()));
            assert_eq!(event.app, Some(shared));
            // By their role alone they do not learn the name of an app.
            assert_eq!(event.app_name.is_some(), event.seq <= 2, "{event:?}");
        }
        page.events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(seen(world.id(), Role::Owner).await, [1, 2, 3, 4, 5]);
    assert_eq!(seen(bek, Role::Admin).await, [1, 2, 3, 4, 5, 6]);
    assert_eq!(seen(bek, Role::Builder).await, [2, 4, 5, 6]);
    assert_eq!(seen(bek, Role::Member).await, [2, 4, 5, 6]);
    assert_eq!(seen(bek, Role::Viewer).await, [2, 5], "a viewer has no projects, not even their own");
    assert_eq!(seen(world.user, Role::Member).await, [1, 2, 4, 5, 7], "the app's creator views it");
    for topic in [Topic::Outcomes, Topic::AppLog(shared)] {
        let page = world.store.feed(&reader(world.workspace), query(0, topic, 100)).await.unwrap();
        assert_eq!((page.events, page.cursor), (Vec::new(), 7));
    }
}

async fn an_audited_change_is_reported_in_its_transaction(database: Database) {
    let world = World::new(database).await;
    let ctx = context(session_of(world.user), at(5));
    let entry = |action| ctx.audit_entry(action).workspace(world.workspace).target(world.app);
    let commit = async |entries: Vec<kernel::AuditEntry>, writes: bool| {
        let mut tx = Transactions::begin(&world.store).await.unwrap();
        if writes {
            tx.publish(Event::of_app(world.workspace, world.app, at(5), EventKind::LinesLogged { lines: 1 }));
        }
        entries.into_iter().for_each(|entry| tx.audit(entry));
        Box::new(tx).commit().await
    };
    commit(vec![entry("app.update"), entry("session.create")], true).await.unwrap();
    let events = read_feed_to_end(&world, 0).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind.clone()).collect();
    let change = Change {
        kind: ChangedKind::App,
        id: world.app.to_string(),
        by: Some(world.user),
        app: Some(world.app),
        automation: None,
        project: None,
        table: None,
    };
    assert_eq!(kinds, [EventKind::LinesLogged { lines: 1 }, EventKind::Changed(change)]);
    assert_eq!((events[1].at, events[1].app_name.as_deref()), (at(5), Some("Invoices")));

    // What cannot be reported is not committed, except an entry of another store that a newer program wrote.
    for action in ["invoice.create", "automation.update"] {
        let refused = commit(vec![entry(action)], true).await;
        assert!(matches!(refused, Err(StoreError::NotReportable(_))), "{refused:?}");
        commit(vec![entry(action)], false).await.unwrap();
    }
    assert_eq!(read_feed_to_end(&world, 0).await.len(), 2);
}

async fn runs_of_a_deleted_automation_are_told_of(database: Database) {
    let world = World::new(database).await;
    let automation = world.automation(Trigger::Manual);
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let run = world.enqueue(&automation, at(0)).await;
    world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(5)).await).await;
    let failed = RunStage::Failed { code: "automation_deleted".to_owned() };
    assert_eq!(stages(&read_feed_to_end(&world, 0).await), [(run, RunStage::Queued), (run, failed)]);
}
