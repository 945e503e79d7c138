//! Workers as processes: their confinement, their priority and their end. A program of its own with one test at a time, since
//! it looks at all children of its process and kills some.

#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests say so by failing"
)]

#[path = "../engine/support.rs"]
mod support;

use std::time::{Duration, Instant};

use adapter_runtime::QuickJsEngine;
use runs::engine::{Engine as _, Failure, FailureCode, Invocation};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use support::*;

#[tokio::test]
async fn workers_are_held_in_and_may_die() {
    a_worker_is_confined().await;
    a_process_serves_one_workspace().await;
    workers_draw_different_random_numbers().await;
    a_long_computation_yields_to_short_ones().await;
    many_short_computations_yield_too().await;
    a_long_compilation_leaves_the_process_of_the_app_alone().await;
    a_worker_killed_from_outside_is_lost_and_replaced().await;
}

/// Its process keeps a lower priority, and so serves only invocations that should have one.
async fn a_long_computation_yields_to_short_ones() {
    let engine = engine_with_slots(8);
    assert_eq!(run_with(&engine, &body("return 1;"), |_| ()).await.0.unwrap(), json!(1));
    assert!(workers().iter().all(|worker| nice(*worker) == Some(0)), "short code keeps its priority");
    let short = workers();

    let long = body("for (;;);");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &long)]), &json!(null));
    invocation.limits.cpu_time = Duration::from_secs(1);
    let host = TestHost::new();
    let seen = async {
        let lowered = || workers().into_iter().find(|worker| nice(*worker) == Some(10));
        wait_until(|| lowered().is_some()).await;
        let has_low_session = |worker: Pid| autogroup_nice(worker).is_none_or(|nice| nice == "10");
        wait_until(|| lowered().is_none_or(has_low_session)).await;
        lowered()
    };
    let (result, lowered) = tokio::join!(engine.invoke(invocation, host), seen);
    assert_failed_with(FailureCode::CpuExceeded, &result.unwrap_err());
    assert!(short.contains(&lowered.unwrap()), "the process of the workspace took it");

    let other = |job: &mut Invocation| move_to_workspace(job, 2);
    assert_eq!(run_with(&engine, &body("return 2;"), other).await.0.unwrap(), json!(2));
    wait_until(|| !workers().contains(&lowered.unwrap())).await;
    assert!(workers().iter().all(|worker| nice(*worker) == Some(0)), "short code keeps its priority");
}

/// A workspace that computes all the time yields from the first instruction if others run code too, in one process that is
/// reused.
async fn many_short_computations_yield_too() {
    let engine = engine_with_slots(8);
    let short = body("let sum = 0; for (let i = 0; i < 50000; i++) sum += i; return 1;");
    let idle = || workers().into_iter().find(|worker| policy(*worker) == Some(SCHED_IDLE));
    let run = async || assert_eq!(run_with(&engine, &short, |_| ()).await.0.unwrap(), json!(1));
    let until_lowered = async |limit: Duration| {
        let begun = Instant::now();
        while idle().is_none() && begun.elapsed() < limit {
            run().await;
        }
        idle()
    };
    assert_eq!(until_lowered(Duration::from_secs(1)).await, None, "alone it yields to nobody");
    let other = |job: &mut Invocation| move_to_workspace(job, 2);
    assert_eq!(run_with(&engine, &body("return 2;"), other).await.0.unwrap(), json!(2));
    let lowered = until_lowered(Duration::from_secs(20)).await;
    assert!(lowered.is_some(), "beside another it yields");
    run().await;
    assert_eq!(idle(), lowered, "its process is used again");
    assert_eq!(run_with(&engine, &body("return 2;"), other).await.0.unwrap(), json!(2));
    let others = workers().into_iter().filter(|worker| policy(*worker) == Some(0)).count();
    assert!(others >= 1, "the other one's keeps its priority");
}

/// Code that takes far longer to compile than to load and to run: what follows a `return` is parsed, and dropped.
fn slow_to_compile() -> String {
    let dropped = (0..30_000).map(|at| format!("x = [x, {at} + x].concat(x);\n")).collect::<String>();
    format!("function unused(x) {{ return x;\n{dropped} }}\n{}", body("return 1;"))
}

/// The code runs in a process that did not compile it: it keeps its priority, and runs the next call too.
async fn a_long_compilation_leaves_the_process_of_the_app_alone() {
    let engine = engine_with_slots(1);
    let source = slow_to_compile();
    let mut seen = Vec::new();
    for _ in 0..3 {
        assert_eq!(run_with(&engine, &source, |_| ()).await.0.unwrap(), json!(1));
        wait_until(|| workers().len() == 1).await;
        assert_eq!(nice(workers()[0]), Some(0));
        seen.push(workers());
    }
    assert!(seen.iter().all(|workers| *workers == seen[0]), "{seen:?}");
    // Its successor gets the bytecode that is there.
    kill(&workers()).await;
    assert_eq!(run_with(&engine, &source, |_| ()).await.0.unwrap(), json!(1));
    wait_until(|| workers().len() == 1).await;
    assert_eq!(nice(workers()[0]), Some(0));
}

/// The scheduling policy of processes that run only while no other does (sched(7)).
const SCHED_IDLE: i32 = 5;

fn workers() -> Vec<Pid> {
    workers_named("app-worker")
}

/// Returns the nice value of a process; `None` if it is gone.
fn nice(process: Pid) -> Option<i32> {
    field(process, 19)
}

/// Returns the nice value of the autogroup of a process (sched(7)); `None` if the kernel has none, or the process is gone.
fn autogroup_nice(process: Pid) -> Option<String> {
    let autogroup = std::fs::read_to_string(format!("/proc/{}/autogroup", process.as_raw_nonzero())).ok()?;
    Some(autogroup.rsplit_once("nice ")?.1.trim().to_owned())
}

/// Returns the scheduling policy of a process; `None` if it is gone.
fn policy(process: Pid) -> Option<i32> {
    field(process, 41)
}

/// Returns a field of proc_pid_stat(5), counted from one as there.
fn field(process: Pid, number: usize) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // Split behind the name, which is in parentheses and may contain anything; the first field after it is the third.
    stat.rsplit_once(')')?.1.split_whitespace().nth(number - 3)?.parse().ok()
}

async fn a_worker_killed_from_outside_is_lost_and_replaced() {
    let engine = engine();
    let source = body("await fetch('https://example.com/?wait=3000');");
    let host = TestHost::new();
    let invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    let killer = async {
        wait_until(|| host.concurrent_calls.lock().unwrap().0 == 1).await;
        // That of the engine before this one may still be ending.
        wait_until(|| workers_named("app-forkserver").len() == 1).await;
        let original = workers_named("app-forkserver");
        kill(&workers_named("app-worker")).await;
        original
    };
    let (result, original) = tokio::join!(engine.invoke(invocation, host.clone()), killer);
    assert_failed_with(FailureCode::WorkerLost, &result.unwrap_err());
    assert!(host.cpu_time() > Duration::ZERO, "what it used until then is known");
    let again: Result<_, Failure> = run_with(&engine, &body("return 1;"), |_| ()).await.0;
    assert_eq!(again.unwrap(), json!(1));
    // A broken worker may know the addresses of its siblings: the next ones are forked from another process.
    wait_until(|| workers_named("app-forkserver").len() == 1).await;
    assert!(original.len() == 1 && workers_named("app-forkserver") != original);
    // A worker that dies while it is idle is noticed before it is used, and so is the fork server.
    kill(&children()).await;
    assert_eq!(run_with(&engine, &body("return 2;"), |_| ()).await.0.unwrap(), json!(2));
}

/// Random numbers drawn before a fork would be the same in every worker.
async fn workers_draw_different_random_numbers() {
    let engine = engine_with_slots(8);
    let code =
        "return [Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(16)).join()];";
    let mut drawn = Vec::new();
    for workspace in 1..=3 {
        let (result, _) =
            run_with(&engine, &body(code), |invocation| move_to_workspace(invocation, workspace)).await;
        drawn.push(result.unwrap());
    }
    // The process that compiled the code may still be ending.
    wait_until(|| (workers_named("app-forkserver").len(), workers().len()) == (1, 3)).await;
    for at in 0..3 {
        assert!(drawn[0][at] != drawn[1][at] && drawn[1][at] != drawn[2][at], "{drawn:?}");
    }
}

async fn wait_until(holds: impl Fn() -> bool) {
    let limit = Duration::from_secs(20);
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(limit, waiting).await.unwrap();
}

/// Kills processes and waits until each is a zombie, or gone.
async fn kill(workers: &[Pid]) {
    for worker in workers {
        kill_process(*worker, Signal::KILL).unwrap();
    }
    let dead = |worker: &Pid| {
        std::fs::read_to_string(format!("/proc/{}/stat", worker.as_raw_nonzero()))
            .map_or(true, |stat| stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
    };
    wait_until(|| workers.iter().all(dead)).await;
}

/// Returns the children that have this name.
fn workers_named(name: &str) -> Vec<Pid> {
    let called = |id: &Pid| std::fs::read_to_string(format!("/proc/{}/comm", id.as_raw_nonzero()));
    children().into_iter().filter(|id| called(id).is_ok_and(|called| called.trim_end() == name)).collect()
}

/// Returns the children of this process, those that the fork server made included.
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
    // No prewarmed process: it may not be confined yet.
    let engine = engine_with_slots(8);
    run_with(&engine, &body(""), |_| ()).await.0.unwrap();
    // The process that compiled the code may still be ending.
    wait_until(|| workers().len() == 1).await;
    for worker in workers() {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", worker.as_raw_nonzero()));
        let status = read("status").unwrap();
        for line in [
            "Seccomp:\t2",
            "NoNewPrivs:\t1",
            "Threads:\t1",
            "CapEff:\t0000000000000000",
            "CapPrm:\t0000000000000000",
            "CapInh:\t0000000000000000",
        ] {
            assert!(status.contains(line), "{line} is missing in\n{status}");
        }
        // Only root may read these of a process that is not dumpable.
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

/// An engine that starts a process only when it needs one.
fn engine_with_slots(runs: usize) -> QuickJsEngine {
    let places = adapter_runtime::ConcurrencyLimits { runs, requests: 0, checks: 0 };
    QuickJsEngine::start(adapter_runtime::RuntimeConfig { concurrency: places, prewarmed: 0, ..config() })
        .unwrap()
}

/// With one slot, a second workspace gets another process, and the first one's is gone.
async fn a_process_serves_one_workspace() {
    let engine = engine_with_slots(1);
    let mut seen = Vec::new();
    for workspace in [1, 1, 2, 1] {
        let (result, _) =
            run_with(&engine, &body(""), |invocation| move_to_workspace(invocation, workspace)).await;
        result.unwrap();
        wait_until(|| workers_named("app-worker").len() == 1).await;
        seen.push(workers_named("app-worker"));
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[1] != seen[2] && seen[2] != seen[3] && seen[1] != seen[3]);
    assert!(seen.iter().all(|workers| workers.len() == 1), "{seen:?}");
}
