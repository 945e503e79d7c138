//! Code that exceeds its limits, and code that breaks its process.

use std::time::{Duration, Instant};

use runs::engine::{Engine as _, FailureCode, Invocation, LogLevel};
use serde_json::json;

use crate::support::*;

fn short_cpu(invocation: &mut Invocation) {
    invocation.limits.cpu_time = Duration::from_millis(100);
}

#[tokio::test]
async fn endless_code_ends_at_the_cpu_limit() {
    for code in [
        "for (;;) {}",
        "while (true) { try { while (true) {} } catch {} finally { while (true) {} } }",
        "const spin = () => Promise.resolve().then(spin); await spin();",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "setInterval(() => { for (let i = 0; i < 1e5; i++); }, 0); await new Promise(() => {});",
        "throw { get message() { for (;;) {} }, toString() { for (;;) {} } };",
    ] {
        let started = Instant::now();
        let failure = run_expecting_failure(code, short_cpu).await;
        assert_failed_with(FailureCode::CpuExceeded, &failure);
        assert!(started.elapsed() < Duration::from_secs(5), "{code} took {:?}", started.elapsed());
    }
}

/// A person who reads the log sees what code wrote that computes, and what it wrote is there if its process has to be killed.
#[tokio::test]
async fn what_code_logs_arrives_while_it_computes() {
    let engine = engine();
    let source = body("console.log('begun'); for (;;);");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.limits.cpu_time = Duration::from_secs(100);
    let host = TestHost::new();
    let arrives = async {
        while host.log_messages().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        result = engine.invoke(invocation, host.clone()) => panic!("it ended before: {:?}", result.err()),
        () = arrives => {}
    }
    assert_eq!(host.log_messages(), ["begun"]);
}

#[tokio::test]
async fn endless_code_at_the_top_level_or_in_an_error_ends_too() {
    let source = "for (;;) {} export default {}";
    assert_failed_with(
        FailureCode::CpuExceeded,
        &run_with(&engine(), source, short_cpu).await.0.unwrap_err(),
    );
    let failure = run_expecting_failure(
        "class E extends Error { get stack() { for (;;) {} } }; throw new E();",
        short_cpu,
    )
    .await;
    assert_failed_with(FailureCode::CpuExceeded, &failure);
}

#[tokio::test]
async fn waiting_ends_at_the_wall_limit() {
    for code in [
        "await new Promise((done) => setTimeout(done, 60000));",
        "await fetch('https://example.com/?wait=60000');",
    ] {
        let started = Instant::now();
        let failure = run_expecting_failure(code, |invocation| {
            invocation.limits.wall_time = Duration::from_millis(150);
        })
        .await;
        assert_failed_with(FailureCode::Timeout, &failure);
        // Far from the minute that it would take, and with time for a busy machine.
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[tokio::test]
async fn memory_bombs_are_told_even_when_the_code_goes_on() {
    for code in [
        "const all = []; for (;;) all.push(new Array(1000).fill(all.length));",
        "let s = 'x'; for (;;) s += s + 'y'.repeat(s.length % 7);",
        "new Uint8Array(1e9);",
        "try { new ArrayBuffer(1e9) } catch {} return 'fine';",
        "const held = []; try { for (;;) held.push(new Uint8Array(1 << 20)); } catch {} held.length = 0; return 'fine';",
    ] {
        let failure =
            run_expecting_failure(code, |invocation| invocation.limits.memory_bytes = 16 << 20).await;
        assert!(
            failure.code == FailureCode::MemoryExceeded || failure.message.contains("string too long"),
            "{code}: {failure}"
        );
    }
}

#[tokio::test]
async fn deep_recursion_is_an_error_of_the_code() {
    let (result, _) =
        run("const deep = () => deep() + 1; try { deep() } catch (error) { return error.name }").await;
    assert!(["RangeError", "InternalError"].contains(&result.unwrap().as_str().unwrap()));
    let (result, _) = run("let x = []; for (let i = 0; i < 1e5; i++) x = [x]; try { JSON.stringify(x) } catch (error) { return 'caught' }").await;
    assert_eq!(result.unwrap(), json!("caught"));
}

/// Native functions of the engine do not call the interrupt handler: only the parent can stop them.
#[tokio::test]
async fn a_long_native_call_is_killed_while_others_go_on() {
    let engine = engine();
    let native = body("return ('a'.repeat(300000) + 'c').indexOf('a'.repeat(150000) + 'b');");
    let slow =
        run_with(&engine, &native, |invocation| invocation.limits.wall_time = Duration::from_millis(400));
    let quick = async {
        for _ in 0..20 {
            let (result, _) =
                run_with(&engine, &body("return 1;"), |invocation| move_to_workspace(invocation, 2)).await;
            assert_eq!(result.unwrap(), json!(1));
        }
        Instant::now()
    };
    let started = Instant::now();
    let ((slow, _), quick_done) = tokio::join!(slow, quick);
    assert_failed_with(FailureCode::Timeout, &slow.unwrap_err());
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(quick_done.duration_since(started) < started.elapsed());
    // The slot is free again.
    assert_eq!(run_with(&engine, &body("return 2;"), |_| ()).await.0.unwrap(), json!(2));
}

/// An object that grows as memory is refused is being moved at that moment: the engine must not crash.
#[tokio::test]
async fn code_at_its_memory_limit_is_stopped_and_breaks_nothing() {
    let patient = |invocation: &mut Invocation| {
        invocation.limits.wall_time = Duration::from_secs(120);
        invocation.limits.cpu_time = Duration::from_secs(100);
    };
    let engine = engine();
    for grows in [
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = i;",
        "const o = []; for (let i = 0; ; i++) { o[i] = {}; o[i].self = o; }",
        "const o = new Map(); for (let i = 0; ; i++) o.set(i, { o });",
        "const o = new Set(); for (;;) o.add(Symbol());",
        "class O { constructor() { for (let i = 0; i < 500; i++) this['p' + i] = this; } } const all = []; for (;;) all.push(new O());",
        "let o = null; for (;;) o = { o, f() { return o; } };",
    ] {
        for keep in [0, 31_600_000, 60_000_000] {
            let source = body(&format!("const keep = new Uint8Array({keep}); {grows}"));
            let failure = run_with(&engine, &source, patient).await.0.unwrap_err();
            assert_failed_with(FailureCode::MemoryExceeded, &failure);
            let caught =
                body(&format!("const keep = new Uint8Array({keep}); for (;;) try {{ {grows} }} catch {{}}"));
            // A map that could not grow makes the engine loop in native code, which the parent stops.
            let short = |invocation: &mut Invocation| {
                patient(invocation);
                invocation.limits.cpu_time = Duration::from_secs(5);
            };
            let failure = run_with(&engine, &caught, short).await.0.unwrap_err();
            let stopped = matches!(failure.code, FailureCode::MemoryExceeded | FailureCode::CpuExceeded);
            assert!(stopped, "{caught}: {failure}");
        }
    }
}

/// The engine is in native code all the time, where nothing interrupts it: the parent stops it.
#[tokio::test]
async fn native_code_ends_at_the_cpu_limit_too() {
    for code in [
        "const text = 'a'.repeat(3e5), near = 'a'.repeat(1.5e5) + 'c'; for (let i = 0; i < 1e6; i++) text.indexOf(near);",
        "const all = new Array(3e6).fill(0); for (;;) all.includes(1);",
    ] {
        let failure = run_expecting_failure(code, |invocation| {
            invocation.limits.cpu_time = Duration::from_millis(300);
            invocation.limits.wall_time = Duration::from_secs(120);
        })
        .await;
        assert_failed_with(FailureCode::CpuExceeded, &failure);
    }
}

/// Waiting costs no processor time, however long it takes.
#[tokio::test]
async fn code_that_waits_longer_than_its_cpu_limit_goes_on() {
    let code = "await new Promise((done) => setTimeout(done, 900)); return 1;";
    let (result, _) = run_with(&engine(), &body(code), |invocation| {
        invocation.limits.cpu_time = Duration::from_millis(150);
    })
    .await;
    assert_eq!(result.unwrap(), json!(1));
}

#[tokio::test]
async fn a_promise_that_nothing_settles_is_told_at_once() {
    let started = Instant::now();
    assert_failed_with(
        FailureCode::NeverSettled,
        &run_expecting_failure("await new Promise(() => {});", |_| ()).await,
    );
    assert_failed_with(
        FailureCode::NeverSettled,
        &run_expecting_failure("ctx.waitUntil(new Promise(() => {}));", |_| ()).await,
    );
    let cleared = "clearTimeout(setTimeout(() => {}, 60000)); await new Promise(() => {});";
    assert_failed_with(FailureCode::NeverSettled, &run_expecting_failure(cleared, |_| ()).await);
    assert!(started.elapsed() < Duration::from_secs(5));
    let source = "await new Promise(() => {}); export default { scheduled() {} }";
    assert_failed_with(FailureCode::NeverSettled, &run_with(&engine(), source, |_| ()).await.0.unwrap_err());
}

#[tokio::test]
async fn output_is_bounded() {
    let small = |invocation: &mut Invocation| invocation.limits.output_bytes = 1000;
    assert_failed_with(
        FailureCode::OutputTooLarge,
        &run_expecting_failure("return 'x'.repeat(1000);", small).await,
    );
    let (result, _) = run_with(&engine(), &body("return 'x'.repeat(998);"), small).await;
    assert_eq!(result.unwrap().as_str().unwrap().len(), 998);
}

#[tokio::test]
async fn a_flood_of_log_is_cut_and_counted() {
    let source = body("for (let i = 0; i < 1000; i++) console.warn('line', i);");
    let (result, host) = run_with(&engine(), &source, |invocation| invocation.limits.log_lines = 10).await;
    result.unwrap();
    let lines = host.lines.lock().unwrap();
    assert_eq!(lines.len(), 11);
    assert_eq!(lines[9], (LogLevel::Warn, "line 9".to_owned()));
    assert_eq!(lines[10].1, "990 more lines of log were dropped");
}

#[tokio::test]
async fn host_calls_are_counted() {
    let source = body(
        "const all = await Promise.allSettled([1, 2, 3].map(() => fetch('https://example.com/')));
         return all.map((one) => one.reason?.code ?? one.value.status);",
    );
    let (result, _) = run_with(&engine(), &source, |invocation| invocation.limits.host_calls = 2).await;
    assert_eq!(result.unwrap(), json!([201, 201, "too_many_calls"]));
}

#[tokio::test]
async fn a_caller_that_goes_away_frees_the_place() {
    let engine = engine_with_one_slot();
    let waits = scheduled(
        1,
        bundle_of(&[("main.js", &body("await fetch('https://x.example/?wait=9000')"))]),
        &json!(0),
    );
    let invoked = engine.invoke(waits, TestHost::new());
    assert!(tokio::time::timeout(Duration::from_millis(200), invoked).await.is_err());
    assert_eq!(run_with(&engine, &body("return 3;"), |_| ()).await.0.unwrap(), json!(3));
}

#[tokio::test]
async fn the_queue_is_bounded_and_served() {
    let engine = adapter_runtime::QuickJsEngine::start(adapter_runtime::RuntimeConfig {
        concurrency: adapter_runtime::ConcurrencyLimits { runs: 1, requests: 1, checks: 1 },
        max_queued: 2,
        ..config()
    })
    .unwrap();
    let source = body("await new Promise((done) => setTimeout(done, 100)); return 1;");
    let one = || run_with(&engine, &source, |_| ());
    let other = || run_with(&engine, &source, |invocation| move_to_workspace(invocation, 2));
    let (a, b, c, d) = tokio::join!(one(), other(), one(), one());
    assert!(a.0.is_ok() && b.0.is_ok() && c.0.is_ok());
    assert_failed_with(FailureCode::Overloaded, &d.0.unwrap_err());
}
