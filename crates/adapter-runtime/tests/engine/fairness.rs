//! Fairness between a workspace, or a person with many workspaces, whose code sleeps, computes or streams without end, and others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use adapter_runtime::QuickJsEngine;
use bytes::Bytes;
use kernel::{ShareId, id::kind};
use runs::engine::{Engine as _, Failure, FailureCode, HandlerCall, HandlerOutput, HttpRequest, Invocation};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::support::{TestHost, assert_failed_with, bundle_of, engine, id, scheduled};

const HOSTILE: u128 = 1;
const QUIET: u128 = 2;

fn visit(workspace: u128, code: &str) -> Invocation {
    let source =
        format!("export default {{ async fetch(request, env, ctx) {{ console.log('at work'); {code} }} }};");
    let request = HttpRequest {
        method: "GET".to_owned(),
        url: "https://app.example/".to_owned(),
        headers: Vec::new(),
        body: Bytes::new(),
    };
    let entry = HandlerCall::Fetch(request);
    let mut invocation = Invocation {
        handler: entry,
        ..scheduled(workspace, bundle_of(&[("main.js", &source)]), &json!(null))
    };
    invocation.limits.wall_time = Duration::from_secs(60);
    invocation
}

fn run(workspace: u128, code: &str) -> Invocation {
    let source = format!("export default {{ async scheduled() {{ console.log('at work'); {code} }} }};");
    let mut invocation = scheduled(workspace, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.limits.wall_time = Duration::from_secs(60);
    invocation
}

/// Invocations of a hostile workspace that do not end, and the host that counts them.
struct Flood {
    host: Arc<TestHost>,
    tasks: Vec<JoinHandle<Result<HandlerOutput, Failure>>>,
}

impl Flood {
    /// Starts more invocations than there are slots, and returns when that many run.
    async fn spawn(engine: &Arc<QuickJsEngine>, at_work: usize, one: impl Fn() -> Invocation) -> Self {
        let host = TestHost::new();
        let start = |_| {
            let (engine, invocation, host) = (Arc::clone(engine), one(), Arc::clone(&host));
            tokio::spawn(async move { engine.invoke(invocation, host).await })
        };
        let tasks: Vec<JoinHandle<_>> = (0..20).map(start).collect();
        while host.log_messages().len() < at_work {
            assert!(!tasks.iter().all(JoinHandle::is_finished), "all ended before so many ran");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Self { host, tasks }
    }

    fn running(&self) -> usize {
        self.host.log_messages().len()
    }

    fn abort(self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Checks that responses and runs of a quiet workspace complete while the whole flood goes on.
async fn assert_served(engine: &QuickJsEngine, flood: &Flood, visits: usize, runs: usize) {
    for _ in 0..visits {
        let answered = engine.invoke(visit(QUIET, "return new Response('hello');"), TestHost::new()).await;
        assert!(matches!(answered.unwrap(), HandlerOutput::Response(_)));
    }
    for _ in 0..runs {
        engine.invoke(run(QUIET, "return 1;"), TestHost::new()).await.unwrap();
    }
    engine.check(id(QUIET), None, bundle_of(&[("main.js", "export default { fetch() {} };")])).await.unwrap();
    assert!(flood.tasks.iter().all(|task| !task.is_finished()), "none of the flood had to end for it");
}

#[tokio::test]
async fn sleeping_visits_leave_places_for_answers_and_runs() {
    let engine = Arc::new(engine());
    let flood =
        Flood::spawn(&engine, 6, || visit(HOSTILE, "await new Promise((done) => setTimeout(done, 59000));"))
            .await;
    assert_served(&engine, &flood, 3, 3).await;
    // Its runs have slots of their own.
    engine.invoke(run(HOSTILE, "return 1;"), TestHost::new()).await.unwrap();
    assert_eq!(flood.running(), 6);
    flood.abort();
}

/// Returns the invocation as one of a workspace that the hostile person created.
fn of_hostile(invocation: Invocation) -> Invocation {
    Invocation { share: ShareId::from(id::<kind::User>(HOSTILE)), ..invocation }
}

/// One person may create many workspaces, and each flood is in another.
#[tokio::test]
async fn a_person_with_many_workspaces_leaves_places_to_others() {
    let engine = Arc::new(engine());
    let next = AtomicU32::new(100);
    let other_workspace = || u128::from(next.fetch_add(1, Ordering::Relaxed));
    let sleep = "await new Promise((done) => setTimeout(done, 59000));";
    let visits = Flood::spawn(&engine, 6, || of_hostile(visit(other_workspace(), sleep))).await;
    let runs = Flood::spawn(&engine, 6, || of_hostile(run(other_workspace(), sleep))).await;
    assert_served(&engine, &visits, 3, 3).await;
    assert_eq!((visits.running(), runs.running()), (6, 6));
    visits.abort();
    runs.abort();
}

#[tokio::test]
async fn sleeping_runs_leave_places_for_answers_and_runs() {
    let engine = Arc::new(engine());
    let flood =
        Flood::spawn(&engine, 6, || run(HOSTILE, "await new Promise((done) => setTimeout(done, 59000));"))
            .await;
    assert_served(&engine, &flood, 3, 3).await;
    engine.invoke(visit(HOSTILE, "return new Response();"), TestHost::new()).await.unwrap();
    assert_eq!(flood.running(), 6);
    flood.abort();
}

#[tokio::test]
async fn code_that_waits_for_the_outside_leaves_places() {
    let engine = Arc::new(engine());
    let flood = Flood::spawn(&engine, 6, || visit(HOSTILE, "await fetch('https://gate.example/');")).await;
    assert_served(&engine, &flood, 3, 3).await;
    flood.abort();
}

#[tokio::test]
async fn code_that_computes_leaves_places() {
    let engine = Arc::new(engine());
    let spinner = || {
        let mut invocation = visit(HOSTILE, "for (;;);");
        invocation.limits.cpu_time = Duration::from_secs(60);
        invocation
    };
    let flood = Flood::spawn(&engine, 6, spinner).await;
    // On few processors that may take a while, so no time is asserted.
    let answered = engine.invoke(visit(QUIET, "return new Response('hello');"), TestHost::new()).await;
    assert!(matches!(answered.unwrap(), HandlerOutput::Response(_)));
    engine.invoke(run(QUIET, "return 1;"), TestHost::new()).await.unwrap();
    assert_eq!(flood.running(), 6);
    flood.abort();
}

/// While slots are freed one by one, each of two floods comes to hold about as many, and a third workspace is served.
#[tokio::test]
async fn two_floods_leave_places_to_a_third_workspace() {
    let engine = Arc::new(engine());
    let waits = |workspace| move || visit(workspace, "await fetch('https://gate.example/');");
    let first = Flood::spawn(&engine, 6, waits(HOSTILE)).await;
    let second = Flood::spawn(&engine, 1, waits(3)).await;
    assert_served(&engine, &first, 2, 2).await;
    // The longest waiting goes on as slots are freed; a slot of the workspace that holds more goes to the one that holds less.
    for at_work in 2..=3 {
        first.host.release_fetch.notify_one();
        while second.running() < at_work {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(first.running(), 6, "it got none of the places it gave back");
    assert_served(&engine, &second, 2, 2).await;
    first.abort();
    second.abort();
}

/// The queue is bounded too, and one workspace does not fill it.
#[tokio::test]
async fn a_flood_does_not_fill_the_queue() {
    let engine = Arc::new(
        QuickJsEngine::start(adapter_runtime::RuntimeConfig { max_queued: 8, ..crate::support::config() })
            .unwrap(),
    );
    let waits = |workspace| visit(workspace, "await fetch('https://gate.example/'); return new Response();");
    let flood = Flood::spawn(&engine, 6, || waits(HOSTILE)).await;
    // Six run and six may wait.
    while flood.tasks.iter().filter(|task| task.is_finished()).count() < 8 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let over = engine.invoke(waits(HOSTILE), TestHost::new()).await.unwrap_err();
    assert_failed_with(FailureCode::Overloaded, &over);
    // Two others take the remaining slots; a third workspace waits and is not refused.
    let others = [3, 4].map(|workspace| {
        let (engine, host) = (Arc::clone(&engine), Arc::clone(&flood.host));
        tokio::spawn(async move { engine.invoke(waits(workspace), host).await })
    });
    while flood.running() < 8 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let third = engine.invoke(visit(QUIET, "return new Response();"), TestHost::new());
    tokio::pin!(third);
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut third).await.is_err(), "it waits");
    others.iter().for_each(JoinHandle::abort);
    third.await.unwrap();
    flood.abort();
}
