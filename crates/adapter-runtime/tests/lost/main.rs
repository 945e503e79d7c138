//! Workers that die. A program of its own, since it kills every worker it finds.

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
