//! Processor time as the host is told: of results, of failures, of streamed responses and of code that was stopped.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use runs::engine::{Engine as _, FailureCode, HandlerCall, HandlerOutput, HttpRequest, Invocation};
use serde_json::json;

use crate::support::*;

/// Processor time of code that does nothing; far more than it takes.
const LITTLE: Duration = Duration::from_millis(60);
/// Processor time of code that computes until it is stopped; far less than it takes.
const MUCH: Duration = Duration::from_millis(150);
const ENDLESS: &str = "for (;;) {}";

fn stopped_after_200_ms(invocation: &mut Invocation) {
    invocation.limits.cpu_time = Duration::from_millis(200);
}

fn visit(code: &str) -> Invocation {
    let source = format!("export default {{ async fetch(request, env, ctx) {{\n{code}\n}} }};");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "GET".into(),
        url: "https://shop.example/".into(),
        headers: Vec::new(),
        body: Default::default(),
    });
    invocation
}

#[tokio::test]
async fn results_and_failures_have_their_time() {
    let engine = engine_with_one_slot();
    for code in ["return 1;", "throw new Error('no');", "await new Promise((done) => setTimeout(done, 300));"]
    {
        let (_, host) = run_with(&engine, &body(code), |_| ()).await;
        assert!(
            host.cpu_time() > Duration::ZERO && host.cpu_time() < LITTLE,
            "{code}: {:?}",
            host.cpu_time()
        );
    }
    let (result, host) = run_with(&engine, &body(ENDLESS), stopped_after_200_ms).await;
    assert_failed_with(FailureCode::CpuExceeded, &result.unwrap_err());
    assert!(host.cpu_time() >= MUCH, "{:?}", host.cpu_time());
}

/// The next invocation of a process pays neither for the one before, nor for the memory that is reset after it.
#[tokio::test]
async fn an_invocation_has_no_time_of_another_one_of_its_process() {
    let engine = engine_with_one_slot();
    let fills = body(
        "const all = []; for (let i = 0; i < 40; i++) all.push(new Uint8Array(1 << 20).fill(i)); return all.length;",
    );
    for _ in 0..3 {
        let (result, _) = run_with(&engine, &body(ENDLESS), stopped_after_200_ms).await;
        assert_failed_with(FailureCode::CpuExceeded, &result.unwrap_err());
        assert_eq!(run_with(&engine, &fills, |_| ()).await.0.unwrap(), json!(40));
        let (result, host) = run_with(&engine, &body("return 1;"), |_| ()).await;
        assert_eq!(result.unwrap(), json!(1));
        assert!(host.cpu_time() < LITTLE, "{:?}", host.cpu_time());
    }
}

/// Only the parent can stop native code, and it kills the process.
#[tokio::test]
async fn code_that_is_killed_has_its_time() {
    let native = body("const all = new Array(3e6).fill(0); for (;;) all.includes(1);");
    let (result, host) = run_with(&engine(), &native, |invocation| {
        stopped_after_200_ms(invocation);
        invocation.limits.wall_time = Duration::from_secs(60);
    })
    .await;
    assert_failed_with(FailureCode::CpuExceeded, &result.unwrap_err());
    assert!(host.cpu_time() >= MUCH, "{:?}", host.cpu_time());
}

#[tokio::test]
async fn code_whose_caller_goes_away_has_its_time_at_once() {
    let engine = engine();
    let host = TestHost::new();
    let endless = scheduled(1, bundle_of(&[("main.js", &body(ENDLESS))]), &json!(0));
    let invoked = engine.invoke(endless, host.clone());
    assert!(tokio::time::timeout(Duration::from_millis(600), invoked).await.is_err());
    assert!(host.cpu_time() > Duration::ZERO);
}

/// Code that never got a process has no time.
#[tokio::test]
async fn an_invocation_that_finds_no_process_has_none() {
    let engine = adapter_runtime::QuickJsEngine::start(adapter_runtime::RuntimeConfig {
        concurrency: adapter_runtime::ConcurrencyLimits { runs: 1, requests: 1, checks: 1 },
        max_queued: 0,
        ..config()
    })
    .unwrap();
    let slow = body("await new Promise((done) => setTimeout(done, 300)); return 1;");
    let (first, second) = tokio::join!(run_with(&engine, &slow, |_| ()), run_with(&engine, &slow, |_| ()));
    assert_failed_with(FailureCode::Overloaded, &second.0.unwrap_err());
    assert!(first.1.cpu_time() < LITTLE && second.1.cpu_times.lock().unwrap().is_empty());
}

/// A body of one piece, before and after which the code computes.
const BUSY_STREAM: &str = "const busy = () => { const end = Date.now() + 150; while (Date.now() < end); };
    busy();
    return new Response(new ReadableStream({ async start(controller) {
        controller.enqueue(new TextEncoder().encode('first'));
        await fetch('https://gate.example/');
        busy();
        controller.close();
    } }));";

#[tokio::test]
async fn a_streamed_response_has_the_time_of_all_its_code_at_its_completion() {
    let (engine, host) = (engine(), TestHost::new());
    let Ok(HandlerOutput::Streamed(mut streamed)) = engine.invoke(visit(BUSY_STREAM), host.clone()).await
    else {
        panic!("it is not streamed");
    };
    assert_eq!(streamed.body.next().await.unwrap().unwrap(), "first");
    assert!(host.cpu_times.lock().unwrap().is_empty(), "it goes on");
    host.release_fetch.notify_one();
    while streamed.body.next().await.is_some() {}
    streamed.completion.await.unwrap();
    // On a machine that is busy with other things, less than the time that passed.
    assert!(host.cpu_time() > Duration::from_millis(20), "{:?}", host.cpu_time());
}

#[tokio::test]
async fn a_streamed_response_that_is_cut_off_or_killed_has_its_time() {
    let endless_body = "return new Response(new ReadableStream({ async start(controller) {
        controller.enqueue(new TextEncoder().encode('first'));
        await fetch('https://gate.example/');
        for (;;) {}
    } }));";
    let engine = engine();
    let begin = async |host: &Arc<TestHost>| {
        let mut invocation = visit(endless_body);
        stopped_after_200_ms(&mut invocation);
        let Ok(HandlerOutput::Streamed(mut streamed)) = engine.invoke(invocation, host.clone()).await else {
            panic!("it is not streamed");
        };
        assert_eq!(streamed.body.next().await.unwrap().unwrap(), "first");
        streamed
    };
    let host = TestHost::new();
    let streamed = begin(&host).await;
    host.release_fetch.notify_one();
    assert_failed_with(FailureCode::CpuExceeded, &streamed.completion.await.unwrap_err());
    assert!(host.cpu_time() >= MUCH, "{:?}", host.cpu_time());

    let host = TestHost::new();
    drop(begin(&host).await);
    while host.cpu_times.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(host.cpu_time() < LITTLE, "{:?}", host.cpu_time());
}
