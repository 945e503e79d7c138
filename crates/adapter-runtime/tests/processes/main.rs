//! Workers as processes: what holds them in, and what happens when they die. A program of its own with one test at
//! a time, since it looks at every worker it finds and kills some.

#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests say so by failing"
)]

#[path = "../engine/support.rs"]
mod support;

use std::time::Duration;

use runs::engine::{Failure, FailureCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use support::*;

#[tokio::test]
async fn workers_are_held_in_and_may_die() {
    a_worker_is_confined().await;
    a_process_serves_one_workspace().await;
    a_worker_killed_from_outside_is_lost_and_replaced().await;
}

async fn a_worker_killed_from_outside_is_lost_and_replaced() {
    let engine = engine();
    let source = body("await fetch('https://example.com/?wait=3000');");
    let killer = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        for worker in children() {
            kill_process(worker, Signal::KILL).unwrap();
        }
    };
    let ((result, _), ()) = tokio::join!(run_with(&engine, &source, |_| ()), killer);
    limited(FailureCode::WorkerLost, &result.unwrap_err());
    // The spare one was killed too; the system takes a moment to bury it.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let again: Result<_, Failure> = run_with(&engine, &body("return 1;"), |_| ()).await.0;
    assert_eq!(again.unwrap(), json!(1));
    // One that dies while it is idle is noticed before it is used.
    for worker in children() {
        kill_process(worker, Signal::KILL).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(run_with(&engine, &body("return 2;"), |_| ()).await.0.unwrap(), json!(2));
}

/// The processes that this one started.
fn children() -> Vec<Pid> {
    let me = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1);
        if parent == Some(me.as_str()) {
            found.extend(Pid::from_raw(pid));
        }
    }
    found
}

async fn a_worker_is_confined() {
    let engine = engine();
    run_with(&engine, &body(""), |_| ()).await.0.unwrap();
    let workers = children();
    assert!(!workers.is_empty());
    for worker in workers {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", worker.as_raw_nonzero()));
        let status = read("status").unwrap();
        for line in ["Seccomp:\t2", "NoNewPrivs:\t1", "Threads:\t1"] {
            assert!(status.contains(line), "{line} is missing in\n{status}");
        }
        // Only root may look further into a process that is not dumpable.
        if let Ok(environment) = read("environ") {
            assert_eq!(environment, "TZ=UTC0\0");
        }
        if let Ok(descriptors) = std::fs::read_dir(format!("/proc/{}/fd", worker.as_raw_nonzero())) {
            let mut names: Vec<_> =
                descriptors.flatten().map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.sort();
            assert_eq!(names, ["0", "1", "2"]);
        }
    }
}

/// With one place, a second workspace gets another process, and the first one's is gone.
async fn a_process_serves_one_workspace() {
    let engine = adapter_runtime::QuickJsEngine::start(adapter_runtime::RuntimeConfig {
        max_processes: 1,
        blank: 0,
        ..config()
    })
    .unwrap();
    let mut seen = Vec::new();
    for workspace in [1, 1, 2, 1] {
        let (result, _) =
            run_with(&engine, &body(""), |invocation| invocation.workspace = id(workspace)).await;
        result.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        seen.push(children());
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[1] != seen[2] && seen[2] != seen[3] && seen[1] != seen[3]);
    assert!(seen.iter().all(|workers| workers.len() == 1), "{seen:?}");
}
