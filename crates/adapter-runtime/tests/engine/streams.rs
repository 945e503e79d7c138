//! Streamed responses: their arrival, their end, and readers that go away.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_runtime::{ConcurrencyLimits, QuickJsEngine, RuntimeConfig};
use futures::{FutureExt as _, StreamExt as _};
use runs::engine::{
    BodyStream, Engine as _, Failure, FailureCode, HandlerCall, HandlerOutput, HttpRequest, Invocation,
    StreamedResponse,
};
use serde_json::json;

use crate::support::*;

/// Invokes a `fetch` handler whose body is `code`.
async fn invoke_fetch(
    engine: &QuickJsEngine,
    code: &str,
    change: impl FnOnce(&mut Invocation),
) -> (Result<HandlerOutput, Failure>, Arc<TestHost>) {
    let source = format!("export default {{ async fetch(request, env, ctx) {{\n{code}\n}} }};");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "GET".into(),
        url: "https://shop.example/".into(),
        headers: Vec::new(),
        body: Default::default(),
    });
    change(&mut invocation);
    let host = TestHost::new();
    (engine.invoke(invocation, host.clone()).await, host)
}

async fn streamed(code: &str, change: impl FnOnce(&mut Invocation)) -> (StreamedResponse, Arc<TestHost>) {
    let (output, host) = invoke_fetch(&engine(), code, change).await;
    match output.unwrap() {
        HandlerOutput::Streamed(streamed) => (streamed, host),
        other => panic!("{code} is not streamed: {other:?}"),
    }
}

/// Reads the whole body, and returns it with its end.
async fn read_to_end(mut body: BodyStream) -> (Vec<u8>, Result<(), Failure>) {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await {
        match piece {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(failure) => return (bytes, Err(failure)),
        }
    }
    (bytes, Ok(()))
}

async fn next_chunk(body: &mut BodyStream) -> String {
    String::from_utf8(body.next().await.unwrap().unwrap().to_vec()).unwrap()
}

const ENCODER: &str = "const utf8 = (text) => new TextEncoder().encode(text);";

fn with_encoder(code: &str) -> String {
    format!("{ENCODER}\n{code}")
}

#[tokio::test]
async fn pieces_come_when_they_are_enqueued() {
    let code = with_encoder(
        "const body = new ReadableStream({ async start(controller) {
             controller.enqueue(utf8('first'));
             await fetch('https://gate.example/');
             controller.enqueue(utf8('second'));
             await fetch('https://gate.example/');
             controller.close();
         } });
         return new Response(body, { status: 203, headers: { 'X-Made': 'yes' } });",
    );
    let (StreamedResponse { status, headers, mut body, completion }, host) = streamed(&code, |_| ()).await;
    assert_eq!((status, headers), (203, vec![("x-made".to_owned(), "yes".to_owned())]));
    // The code goes on only after this has arrived.
    assert_eq!(next_chunk(&mut body).await, "first");
    assert!(body.next().now_or_never().is_none());
    host.release_fetch.notify_one();
    assert_eq!(next_chunk(&mut body).await, "second");
    host.release_fetch.notify_one();
    assert_eq!(body.next().await, None);
    completion.await.unwrap();
}

#[tokio::test]
async fn what_was_enqueued_comes_before_code_that_goes_on_without_waiting() {
    let code = with_encoder(
        "const body = new ReadableStream({ async pull(controller) {
             controller.enqueue(utf8('soon'));
             for (;;) await null;
         } });
         return new Response(body);",
    );
    let (StreamedResponse { mut body, mut completion, .. }, _) =
        streamed(&code, |invocation| invocation.limits.cpu_time = Duration::from_secs(2)).await;
    let first = tokio::select! {
        biased;
        ended = &mut completion => panic!("the code ended before its chunk came: {ended:?}"),
        chunk = next_chunk(&mut body) => chunk,
    };
    assert_eq!(first, "soon");
    assert_failed_with(FailureCode::CpuExceeded, &completion.await.unwrap_err());
    assert_failed_with(FailureCode::CpuExceeded, &body.next().await.unwrap().unwrap_err());
    assert_eq!(body.next().await, None);
}

#[tokio::test]
async fn whole_bodies_stay_whole() {
    for code in [
        "return new Response('text');",
        "new ReadableStream(); return new Response('text');",
        "const answer = new Response('text'); answer.clone(); return answer;",
    ] {
        let (output, _) = invoke_fetch(&engine(), code, |_| ()).await;
        let HandlerOutput::Response(response) = output.unwrap() else { panic!("{code} is streamed") };
        assert_eq!(response.body, "text");
    }
}

#[tokio::test]
async fn a_body_larger_than_what_is_held_in_memory_comes_whole() {
    let code = "let left = 40;
        const body = new ReadableStream({ pull(controller) {
            if (left-- === 0) controller.close();
            else controller.enqueue(new Uint8Array(1 << 20).fill(left));
        } });
        return new Response(body);";
    let (StreamedResponse { body, completion, .. }, _) =
        streamed(code, |invocation| invocation.limits.memory_bytes = 16 << 20).await;
    let (bytes, how) = read_to_end(body).await;
    how.unwrap();
    completion.await.unwrap();
    assert_eq!(bytes.len(), 40 << 20);
    for (number, part) in bytes.chunks(1 << 20).enumerate() {
        assert!(part.iter().all(|byte| usize::from(*byte) == 39 - number), "part {number}");
    }
}

#[tokio::test]
async fn small_pieces_arrive_in_order_and_empty_ones_say_nothing() {
    let code = with_encoder(
        "let at = 0;
         const body = new ReadableStream({ pull(controller) {
             if (at === 20000) return controller.close();
             controller.enqueue(new Uint8Array(0));
             controller.enqueue(utf8(`${at++} `));
         } });
         return new Response(body);",
    );
    let (StreamedResponse { body, completion, .. }, _) = streamed(&code, |_| ()).await;
    let (bytes, how) = read_to_end(body).await;
    how.unwrap();
    completion.await.unwrap();
    let expected: String = (0..20_000).map(|at| format!("{at} ")).collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[tokio::test]
async fn an_empty_stream_is_an_empty_body() {
    for code in [
        "return new Response(new ReadableStream({ start(c) { c.close() } }));",
        "return new Response(new Response('').body);",
        "return new Response(ReadableStream.from([]));",
    ] {
        let (StreamedResponse { body, completion, .. }, _) = streamed(code, |_| ()).await;
        assert_eq!(read_to_end(body).await, (Vec::new(), Ok(())), "{code}");
        completion.await.unwrap();
    }
}

#[tokio::test]
async fn any_readable_end_is_a_body() {
    for (code, expected) in [
        ("return new Response(ReadableStream.from([utf8('a'), utf8('b')]));", "ab"),
        ("return new Response(ReadableStream.from(['a', 'é']).pipeThrough(new TextEncoderStream()));", "aé"),
        ("const { readable, writable } = new TransformStream(); const w = writable.getWriter();
          w.write(utf8('x')); w.write(utf8('y')); w.close(); return new Response(readable);", "xy"),
        ("const from = await fetch('https://x.example/'); return new Response(from.body.pipeThrough(new TransformStream({
              transform(chunk, controller) { controller.enqueue(chunk.slice(0, 8)) } })), from);", "{\"body\":"),
        ("const answer = new Response(ReadableStream.from([utf8('a')])); const copy = answer.clone();
          return new Response(utf8(await copy.text() + await answer.text()).subarray(0));", "aa"),
        ("const answer = new Response('whole'); const [one, other] = answer.body.tee(); await other.cancel === 0;
          for await (const chunk of other) chunk; return new Response(one);", "whole"),
    ] {
        let (output, _) = invoke_fetch(&engine(), &with_encoder(code), |_| ()).await;
        let bytes = match output.unwrap() {
            HandlerOutput::Streamed(streamed) => {
                let (bytes, how) = read_to_end(streamed.body).await;
                how.unwrap();
                streamed.completion.await.unwrap();
                bytes
            }
            HandlerOutput::Response(response) => response.body.to_vec(),
            HandlerOutput::Scheduled(_) => panic!("{code}"),
        };
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{code}");
    }
}

#[tokio::test]
async fn a_stream_that_fails_breaks_off_and_tells_why() {
    for (code, says) in [
        (
            "pull(c) { if (c.sent) throw new TypeError('pulled'); c.sent = true; c.enqueue(utf8('x')) }",
            "pulled",
        ),
        (
            "async pull(c) { if (c.sent) throw new TypeError('pulled late'); c.sent = true; c.enqueue(utf8('x')) }",
            "pulled late",
        ),
        ("start(c) { c.enqueue(utf8('x')); setTimeout(() => c.error(new Error('errored')), 5) }", "errored"),
        ("start(c) { c.enqueue(utf8('x')); c.enqueue('text'); }", "not of a string"),
        ("start(c) { c.enqueue(utf8('x')); c.enqueue(5); }", "not of a number"),
        ("start(c) { c.enqueue(utf8('x')); c.enqueue(new ArrayBuffer(3)); }", "not of other objects"),
        ("start(c) { c.enqueue(utf8('x')); c.enqueue(null); }", "not of null"),
    ] {
        let code = with_encoder(&format!("return new Response(new ReadableStream({{ {code} }}));"));
        let (StreamedResponse { body, completion, .. }, _) = streamed(&code, |_| ()).await;
        let (bytes, how) = read_to_end(body).await;
        assert!(b"x".starts_with(&bytes), "{code}: {bytes:?}");
        let failure = how.unwrap_err();
        assert_failed_with(FailureCode::AppError, &failure);
        assert!(failure.message.contains(says), "{failure} does not say {says}");
        assert_eq!(completion.await.unwrap_err(), failure);
    }
}

#[tokio::test]
async fn a_locked_or_read_stream_is_refused_before_the_head() {
    for code in [
        "const s = new ReadableStream(); s.getReader(); return new Response(s);",
        "const s = ReadableStream.from([]); for await (const x of s) x; return new Response(s);",
        "const r = new Response(new ReadableStream()); r.body.getReader(); return r;",
        "const r = new Response(ReadableStream.from([])); await r.text(); return r;",
        "return new Response(new ReadableStream(), { status: 204 });",
    ] {
        let failure = invoke_fetch(&engine(), code, |_| ()).await.0.unwrap_err();
        assert_failed_with(FailureCode::AppError, &failure);
        assert!(failure.message.starts_with("TypeError"), "{failure}");
    }
}

#[tokio::test]
async fn the_bytes_of_all_pieces_are_bounded() {
    let code = "return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1000)) },
        cancel(reason) { console.log('cancelled', reason.name) } }));";
    let (StreamedResponse { body, completion, .. }, host) =
        streamed(code, |invocation| invocation.limits.streamed_bytes = 5500).await;
    let (bytes, how) = read_to_end(body).await;
    assert_eq!(bytes.len(), 5000);
    assert_failed_with(FailureCode::OutputTooLarge, &how.unwrap_err());
    assert_failed_with(FailureCode::OutputTooLarge, &completion.await.unwrap_err());
    assert_eq!(host.log_messages(), ["cancelled RangeError"]);
}

/// Nobody reads: the stream is pulled for as much as fits into the window, and the worker waits until its time is over.
#[tokio::test]
async fn who_reads_slowly_holds_a_worker_no_longer_than_the_wall_limit() {
    let code = "return new Response(new ReadableStream({ pull(c) { console.log('pull'); c.enqueue(new Uint8Array(32768)) } }));";
    let engine = engine_with_one_slot();
    let (output, host) =
        invoke_fetch(&engine, code, |invocation| invocation.limits.wall_time = Duration::from_millis(500))
            .await;
    let HandlerOutput::Streamed(StreamedResponse { body, completion, .. }) = output.unwrap() else {
        panic!("not streamed")
    };
    let failure = completion.await.unwrap_err();
    assert_failed_with(FailureCode::Timeout, &failure);
    assert!(failure.message.contains("the visitor had not taken"), "{failure}");
    // Eight chunks fill the window, and the stream holds one in its own queue.
    let pulls = host.log_messages().len();
    assert!((8..=10).contains(&pulls), "{pulls} pulls");
    assert_responds(&engine).await;
    let (bytes, how) = read_to_end(body).await;
    assert_eq!(bytes.len(), 256 << 10);
    assert_failed_with(FailureCode::Timeout, &how.unwrap_err());
}

/// Checks that the only slot for a response is free.
async fn assert_responds(engine: &QuickJsEngine) {
    let (output, _) = invoke_fetch(engine, "return new Response('1');", |_| ()).await;
    assert!(matches!(output.unwrap(), HandlerOutput::Response(_)));
}

#[tokio::test]
async fn a_reader_that_goes_away_cancels_the_stream_and_frees_the_worker() {
    let engine = engine_with_one_slot();
    for (source, said) in [
        ("start(c) { timer = setInterval(() => c.enqueue(utf8('x')), 1) }", "cancelled AbortError"),
        // It fills the window and waits.
        ("pull(c) { c.enqueue(new Uint8Array(65536)) }", "cancelled AbortError"),
        (
            "start(c) { c.enqueue(utf8('x')) }, async pull(c) { await fetch('https://x.example/?wait=20000') }",
            "cancelled AbortError",
        ),
    ] {
        let code = with_encoder(&format!(
            "let timer; return new Response(new ReadableStream({{ {source},
                 async cancel(reason) {{ clearInterval(timer); await fetch('https://x.example/'); console.log('cancelled', reason.name) }} }}));"
        ));
        let (output, host) = invoke_fetch(&engine, &code, |_| ()).await;
        let HandlerOutput::Streamed(StreamedResponse { mut body, completion, .. }) = output.unwrap() else {
            panic!("not streamed")
        };
        body.next().await.unwrap().unwrap();
        drop(body);
        completion.await.unwrap();
        assert_eq!(host.log_messages(), [said], "{source}");
        let after = Instant::now();
        assert_responds(&engine).await;
        assert!(after.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn code_that_goes_on_after_its_reader_has_a_short_time() {
    let code = with_encoder(
        "ctx.waitUntil(new Promise((done) => setTimeout(done, 60000)));
         return new Response(new ReadableStream({ start(c) { c.enqueue(utf8('x')) } }));",
    );
    let (StreamedResponse { mut body, completion, .. }, _) =
        streamed(&code, |invocation| invocation.limits.wall_time = Duration::from_secs(60)).await;
    body.next().await.unwrap().unwrap();
    let left = Instant::now();
    drop(body);
    let failure = completion.await.unwrap_err();
    assert_failed_with(FailureCode::Timeout, &failure);
    assert!(failure.message.contains("after the visitor had gone"), "{failure}");
    let took = left.elapsed();
    assert!(took > Duration::from_secs(2) && took < Duration::from_secs(15), "{took:?}");
}

#[tokio::test]
async fn what_is_waited_for_goes_on_after_the_body() {
    let code = with_encoder(
        "ctx.waitUntil(fetch('https://gate.example/').then(() => { console.log('later'); throw new Error('beside') }));
         return new Response(ReadableStream.from([utf8('x')]));",
    );
    let (StreamedResponse { body, completion, .. }, host) = streamed(&code, |_| ()).await;
    let (bytes, how) = read_to_end(body).await;
    assert_eq!((bytes.as_slice(), how), (b"x".as_slice(), Ok(())));
    assert!(host.log_messages().is_empty());
    host.release_fetch.notify_one();
    completion.await.unwrap();
    let said = host.log_messages();
    assert!(said[0] == "later" && said[1].contains("beside"), "{said:?}");
}

#[tokio::test]
async fn a_stream_that_nothing_will_continue_is_told() {
    let code =
        with_encoder("return new Response(new ReadableStream({ start(c) { c.enqueue(utf8('x')) } }));");
    let (StreamedResponse { body, completion, .. }, _) = streamed(&code, |_| ()).await;
    let (bytes, how) = read_to_end(body).await;
    assert_eq!(bytes, b"x");
    assert_failed_with(FailureCode::NeverSettled, &how.unwrap_err());
    assert_failed_with(FailureCode::NeverSettled, &completion.await.unwrap_err());
}

/// Visitors who do not read take neither every process nor, of one workspace, every permit for streams.
#[tokio::test]
async fn streams_leave_processes_to_others() {
    let engine = QuickJsEngine::start(RuntimeConfig {
        concurrency: ConcurrencyLimits { runs: 1, requests: 6, checks: 1 },
        ..config()
    })
    .unwrap();
    let code = "return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)) } }));";
    let of = async |workspace| {
        invoke_fetch(&engine, code, |invocation| move_to_workspace(invocation, workspace)).await.0.map(
            |output| match output {
                HandlerOutput::Streamed(streamed) => streamed,
                other => panic!("not streamed: {other:?}"),
            },
        )
    };
    let (first, second) = (of(1).await.unwrap(), of(1).await.unwrap());
    assert_failed_with(FailureCode::Overloaded, &of(1).await.unwrap_err());
    let third = of(2).await.unwrap();
    assert_failed_with(FailureCode::Overloaded, &of(3).await.unwrap_err());
    // Other responses go on, in the processes that are left.
    for _ in 0..3 {
        assert_responds(&engine).await;
    }
    let StreamedResponse { body, completion, .. } = second;
    drop(body);
    completion.await.unwrap();
    assert_failed_with(FailureCode::Overloaded, &of(1).await.unwrap_err());
    let again = of(3).await.unwrap();
    drop((first, third, again));
}

#[tokio::test]
async fn who_gives_up_the_end_stops_the_code() {
    let engine = engine_with_one_slot();
    let code = "return new Response(new ReadableStream({ pull() { return new Promise((done) => setTimeout(done, 60000)) } }));";
    let (output, _) = invoke_fetch(&engine, code, |_| ()).await;
    let HandlerOutput::Streamed(StreamedResponse { mut body, completion, .. }) = output.unwrap() else {
        panic!("not streamed")
    };
    drop(completion);
    assert!(body.next().await.unwrap().is_err());
    assert_eq!(body.next().await, None);
    assert_responds(&engine).await;
}

#[tokio::test]
async fn scheduled_handlers_may_use_streams_and_give_back_json() {
    let (result, host) =
        run("let all = ''; for await (const text of ReadableStream.from(['a', 'b'])) all += text;
         const sent = await fetch('https://x.example/', { method: 'POST', duplex: 'half',
             body: ReadableStream.from(['hé', 'llo']).pipeThrough(new TextEncoderStream()) });
         console.log((await sent.json()).body); return all;")
        .await;
    assert_eq!(result.unwrap(), json!("ab"));
    assert_eq!(host.log_messages(), ["héllo"]);
}
