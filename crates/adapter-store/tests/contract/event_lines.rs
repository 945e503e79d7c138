//! The lines of the log that an event tells of.

use std::collections::BTreeSet;

use kernel::events::{EventKind, RefusedRequest};
use observability::{LogLevel, LogRead as _, LogSink as _, LogSource, NewLogLine, logs::EventLinesQuery};
use runs::{
    engine,
    queue::{AttemptOutcome, FinishedRun, RunLogLine, RunQueue as _},
};

use crate::{
    contract,
    events::{fault, read_feed_to_end},
    harness::{Database, World, at, finished_run},
};

contract!(lines_are_found_by_their_event,);

async fn lines_are_found_by_their_event(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let run = world.enqueue(&automation, at(0)).await;
    let node = world.id();
    let say = |message: &str| RunLogLine {
        at: at(3),
        level: engine::LogLevel::Info,
        is_from_gate: false,
        message: message.to_owned(),
    };
    let attempt = async |conclusion, messages: &[&str]| {
        let claimed = world.claim(node, 1, at(5)).await;
        let lines = messages.iter().map(|message| say(message)).collect();
        let finished = FinishedRun { lines, ..finished_run(&claimed[0], conclusion) };
        assert!(world.store.finish(node, finished).await.unwrap());
    };
    attempt(AttemptOutcome::Retry { at: at(4), fault: fault("app_error") }, &["first", "again"]).await;
    attempt(AttemptOutcome::Succeeded, &["second"]).await;
    let line = |message: &str| NewLogLine::new(at(9), LogLevel::Info, LogSource::App, message.to_owned());
    let refused =
        RefusedRequest { request_line: "GET b.example".to_owned(), code: "egress_denied".to_owned() };
    let said = vec![line("one"), line("two"), line("three")];
    world.store.append_log(world.workspace, world.app, said, vec![refused.clone()]).await.unwrap();
    world.store.append_log(world.workspace, world.app, vec![line("four")], Vec::new()).await.unwrap();

    let events = read_feed_to_end(&world, 0).await;
    let whats: Vec<_> = events.iter().map(|event| event.kind.clone()).collect();
    assert_eq!(whats[5], EventKind::LinesLogged { lines: 3 });
    assert_eq!(whats[6], EventKind::EgressRefused { run: None, request: refused });
    assert_eq!(whats[7], EventKind::LinesLogged { lines: 1 });
    let lines = async |seq, run, after, limit| {
        let asked = EventLinesQuery { seq, run, after, limit };
        world.store.event_log_lines(world.workspace, world.app, asked).await.unwrap()
    };
    let said = async |seq, run| {
        lines(seq, run, 0, 10).await.into_iter().map(|line| line.content.message).collect::<Vec<_>>()
    };
    assert_eq!(said(3, Some(run)).await, ["first", "again"]);
    assert_eq!(said(5, Some(run)).await, ["second"]);
    assert_eq!(said(6, None).await, ["one", "two", "three"]);
    assert_eq!(said(8, None).await, ["four"]);
    assert_eq!(said(3, None).await, [] as [&str; 0]);
    let first = lines(6, None, 0, 2).await;
    assert_eq!(first.len(), 2);
    assert_eq!(lines(6, None, first[1].id, 2).await[0].content.message, "three");
    let distinct: BTreeSet<u64> = first.iter().map(|line| line.id).collect();
    assert_eq!(distinct.len(), 2);
}
