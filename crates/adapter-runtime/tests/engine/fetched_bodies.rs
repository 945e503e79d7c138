//! Bodies of `fetch` that come, or are sent, in pieces.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::StreamExt as _;
use runs::engine::{
    Engine as _, Failure, HandlerCall, HandlerOutput, HostError, HttpRequest, StreamedResponse,
};
use serde_json::{Value, json};

use crate::support::*;

/// Runs the body of a handler whose host answers `https://pieces.example/a` with these pieces.
async fn run_with_pieces(code: &str, pieces: &[&str]) -> (Result<Value, Failure>, Arc<TestHost>) {
    let host = TestHost::new();
    let sender = host.respond_in_pieces("a");
    for piece in pieces {
        sender.unbounded_send(Ok(Bytes::copy_from_slice(piece.as_bytes()))).unwrap();
    }
    drop(sender);
    run_on(code, host).await
}

async fn run_on(code: &str, host: Arc<TestHost>) -> (Result<Value, Failure>, Arc<TestHost>) {
    let invocation = scheduled(1, bundle_of(&[("main.js", &body(code))]), &json!(null));
    let result = engine().invoke(invocation, host.clone()).await.map(|output| match output {
        HandlerOutput::Scheduled(json) => serde_json::from_str(json.get()).unwrap(),
        other => panic!("{other:?}"),
    });
    (result, host)
}

#[tokio::test]
async fn every_reader_gets_all_pieces() {
    for (code, expected) in [
        (
            "return [r.status, r.headers.get('content-type'), await r.text(), r.bodyUsed];",
            json!([203, "text/plain", "onetwothree", true]),
        ),
        ("return (await r.arrayBuffer()).byteLength;", json!(11)),
        (
            "const out = []; for await (const piece of r.body) out.push(new TextDecoder().decode(piece)); return out;",
            json!(["one", "two", "three"]),
        ),
        (
            "const copy = r.clone(); return [await r.text(), await copy.text()];",
            json!(["onetwothree", "onetwothree"]),
        ),
        (
            "return new Response(r.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({ transform(text, c) { c.enqueue(text.toUpperCase()) } })).pipeThrough(new TextEncoderStream())).text();",
            json!("ONETWOTHREE"),
        ),
        (
            "const reader = r.body.getReader(); const { value } = await reader.read(); await reader.cancel(); return [value.length, (await reader.read()).done];",
            json!([3, true]),
        ),
        (
            "await r.text(); try { await r.text() } catch (error) { return [error.name, r.body.locked] }",
            json!(["TypeError", false]),
        ),
        ("const { body } = r; return [body === r.body, await r.text()];", json!([true, "onetwothree"])),
        ("await r.body.cancel(); return r.bodyUsed;", json!(true)),
        (
            "const [a, b] = r.body.tee(); return [await new Response(a).text(), await new Response(b).text()];",
            json!(["onetwothree", "onetwothree"]),
        ),
        ("return (await r.blob()).size;", json!(11)),
    ] {
        let code = format!("const r = await fetch('https://pieces.example/a'); {code}");
        let (result, host) = run_with_pieces(&code, &["one", "two", "three"]).await;
        assert_eq!(result.unwrap(), expected, "{code}");
        assert_eq!(*host.dropped_bodies.lock().unwrap(), ["https://pieces.example/a"], "{code}");
    }
}

#[tokio::test]
async fn a_large_body_arrives_unchanged() {
    let piece = "0123456789abcdef".repeat(64 << 10);
    let (result, _) = run_with_pieces(
        "const r = await fetch('https://pieces.example/a'); let length = 0, most = 0, sum = 0;
         for await (const piece of r.body) { length += piece.length; most = Math.max(most, piece.length); for (let at = 0; at < piece.length; at += 4096) sum += piece[at] } return [length, most, sum > 0];",
        &[&piece, "", &piece, &piece],
    )
    .await;
    assert_eq!(result.unwrap(), json!([3 << 20, 256 << 10, true]));
}

#[tokio::test]
async fn a_piece_is_there_before_the_next_is_sent() {
    let host = TestHost::new();
    let sender = host.respond_in_pieces("a");
    sender.unbounded_send(Ok(Bytes::from_static(b"first"))).unwrap();
    let code = "const r = await fetch('https://pieces.example/a'); const reader = r.body.getReader();
        const text = async () => { const { done, value } = await reader.read(); return done ? null : new TextDecoder().decode(value) };
        const out = [await text()]; console.log('got it'); out.push(await text(), await text()); return out;";
    let running = tokio::spawn(run_on(code, host.clone()));
    while host.log_messages().is_empty() {
        tokio::task::yield_now().await;
    }
    sender.unbounded_send(Ok(Bytes::from_static(b"second"))).unwrap();
    drop(sender);
    assert_eq!(running.await.unwrap().0.unwrap(), json!(["first", "second", null]));
}

#[tokio::test]
async fn a_body_that_breaks_off_fails_its_readers() {
    for code in [
        "const r = await fetch('https://pieces.example/a'); try { await r.text() } catch (error) { return [r.status, error.code, error.message] }",
        "const r = await fetch('https://pieces.example/a'); try { for await (const _ of r.body); } catch (error) { return [r.status, error.code, error.message] }",
        "const r = await fetch('https://pieces.example/a'); try { await r.clone().text() } catch (error) { return [r.status, error.code, error.message] }",
    ] {
        let host = TestHost::new();
        let sender = host.respond_in_pieces("a");
        sender.unbounded_send(Ok(Bytes::from_static(b"half"))).unwrap();
        let error = HostError { code: "timeout".into(), message: "pieces.example took too long".into() };
        sender.unbounded_send(Err(error)).unwrap();
        let (result, _) = run_on(code, host).await;
        assert_eq!(result.unwrap(), json!([203, "timeout", "pieces.example took too long"]), "{code}");
    }
}

#[tokio::test]
async fn an_abort_stops_a_body_that_is_coming() {
    for code in [
        "const text = r.text(); setTimeout(() => c.abort('enough'), 5); return text.catch((error) => error);",
        "const reader = r.body.getReader(); setTimeout(() => c.abort('enough'), 5); return reader.read().catch((error) => error);",
        "const reader = r.body.getReader(); c.abort('enough'); return reader.closed.catch((error) => error);",
        "c.abort('enough'); return r.text().catch((error) => error);",
        "c.abort('enough'); return r.body.getReader().read().catch((error) => error);",
    ] {
        let host = TestHost::new();
        let _open = host.respond_in_pieces("a");
        let code = format!(
            "const c = new AbortController(); const r = await fetch('https://pieces.example/a', {{ signal: c.signal }}); {code}"
        );
        let (result, host) = run_on(&code, host).await;
        assert_eq!(result.unwrap(), json!("enough"), "{code}");
        assert_eq!(*host.dropped_bodies.lock().unwrap(), ["https://pieces.example/a"]);
    }
}

#[tokio::test]
async fn bodies_that_nobody_reads_block_no_other_request() {
    let host = TestHost::new();
    let senders: Vec<_> = (0..30).map(|number| host.respond_in_pieces(&number.to_string())).collect();
    for sender in &senders {
        sender.unbounded_send(Ok(Bytes::from_static(b"x"))).unwrap();
        sender.close_channel();
    }
    let code =
        "const all = []; for (let n = 0; n < 30; n++) all.push(await fetch(`https://pieces.example/${n}`));
        return (await Promise.all(all.map((r) => r.text()))).join('');";
    let (result, _) = run_on(code, host).await;
    assert_eq!(result.unwrap(), json!("x".repeat(30)));
}

#[tokio::test]
async fn a_read_that_nobody_ends_is_stopped_at_the_limit() {
    let host = TestHost::new();
    let _open = host.respond_in_pieces("a");
    let source = body("const r = await fetch('https://pieces.example/a'); return r.text();");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.limits.wall_time = Duration::from_millis(300);
    let failure = engine().invoke(invocation, host.clone()).await.unwrap_err();
    assert_failed_with(runs::engine::FailureCode::Timeout, &failure);
    assert_eq!(host.dropped_bodies.lock().unwrap().len(), 1);
}

/// Serves a visitor with `https://pieces.example/a` through the body of a `fetch` handler.
async fn proxied(code: &str) -> (StreamedResponse, Arc<TestHost>) {
    let host = TestHost::new();
    let source = format!("export default {{ async fetch(request) {{\n{code}\n}} }};");
    let mut invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "GET".into(),
        url: "https://shop.example/".into(),
        headers: Vec::new(),
        body: Bytes::new(),
    });
    let sender = host.respond_in_pieces("a");
    let engine = engine();
    let invoking = engine.invoke(invocation, host.clone());
    let HandlerOutput::Streamed(mut streamed) = invoking.await.unwrap() else { panic!("no stream") };
    for piece in ["one", "two"] {
        sender.unbounded_send(Ok(Bytes::from_static(piece.as_bytes()))).unwrap();
        assert_eq!(&streamed.body.next().await.unwrap().unwrap()[..], piece.as_bytes());
    }
    (streamed, host)
}

#[tokio::test]
async fn a_handler_hands_a_body_on_as_it_comes() {
    for code in [
        "return fetch('https://pieces.example/a');",
        "return new Response((await fetch('https://pieces.example/a')).body, { headers: { 'x-own': '1' } });",
        "const r = await fetch('https://pieces.example/a'); r.body; return r;",
    ] {
        let (mut streamed, host) = proxied(code).await;
        assert!(host.dropped_bodies.lock().unwrap().is_empty());
        drop(streamed.body);
        tokio::time::timeout(Duration::from_secs(10), &mut streamed.completion).await.unwrap().unwrap();
        assert_eq!(*host.dropped_bodies.lock().unwrap(), ["https://pieces.example/a"], "{code}");
    }
}

#[tokio::test]
async fn a_request_is_sent_as_it_is_written() {
    let (result, _) = run("const parts = ['one', 'two', 'three'].map((text) => new TextEncoder().encode(text));
        const stream = new ReadableStream({ async pull(c) { await new Promise((done) => setTimeout(done, 1)); const part = parts.shift(); part ? c.enqueue(part) : c.close() } });
        const r = await fetch('https://x.example/', { method: 'POST', body: stream, duplex: 'half' }); const { body } = await r.json();
        const whole = await fetch('https://x.example/', { method: 'POST', body: 'text' });
        return [body, r.headers.get('x-streamed'), whole.headers.get('x-streamed'), stream.locked];")
    .await;
    assert_eq!(result.unwrap(), json!(["onetwothree", "yes", null, true]));
}

#[tokio::test]
async fn a_request_whose_body_fails_is_not_sent_as_if_it_were_whole() {
    for (source, expected) in [
        (
            "{ pull(c) { c.enqueue(new Uint8Array(3)); c.error(new RangeError('broken')) } }",
            json!(["RangeError", "broken"]),
        ),
        (
            "{ pull(c) { c.enqueue('text') } }",
            json!(["TypeError", "a body is made of Uint8Array chunks, not of a string"]),
        ),
        (
            "{ pull(c) { c.enqueue(new Uint8Array(700_000)) } }",
            json!(["Error", "the body of the request is too long"]),
        ),
    ] {
        let code = format!(
            "return fetch('https://x.example/', {{ method: 'POST', body: new ReadableStream({source}), duplex: 'half' }}).then(() => 'sent', (error) => [error.name, error.message]);"
        );
        let (result, _) = run(&code).await;
        assert_eq!(result.unwrap(), expected, "{source}");
    }
}

#[tokio::test]
async fn an_abort_stops_a_request_that_is_being_written() {
    let (result, host) = run("const c = new AbortController(); let cancelled = null;
        const stream = new ReadableStream({ pull() { return new Promise(() => {}) }, cancel(reason) { cancelled = reason } });
        const call = fetch('https://x.example/?wait=60000', { method: 'POST', body: stream, duplex: 'half', signal: c.signal });
        setTimeout(() => c.abort('enough'), 20); return [await call.catch((error) => error), cancelled];")
    .await;
    assert_eq!(result.unwrap(), json!(["enough", "enough"]));
    assert_eq!(host.dropped_fetches.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_left_of_an_invocation_reaches_no_other() {
    let engine = engine();
    for _ in 0..3 {
        let host = TestHost::new();
        let _open = host.respond_in_pieces("a");
        let source = body(
            "const r = await fetch('https://pieces.example/a'); r.text().catch(() => {}); return (await fetch('https://x.example/')).status;",
        );
        let invocation = scheduled(1, bundle_of(&[("main.js", &source)]), &json!(null));
        let HandlerOutput::Scheduled(json) = engine.invoke(invocation, host.clone()).await.unwrap() else {
            panic!("no value")
        };
        assert_eq!(json.get(), "201");
        assert_eq!(host.dropped_bodies.lock().unwrap().len(), 1);
    }
}
