//! Both handlers: their arguments, logs and results.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use runs::engine::{
    Engine as _, FailureCode, HandlerCall, HandlerOutput, HttpRequest, LogLevel, ScheduledEvent,
};
use serde_json::{json, value::RawValue};

use crate::support::*;

#[tokio::test]
async fn scheduled_sees_its_event_and_gives_back_json() {
    let source = body("console.log('hello', event.data.who); return {...event, got: event.data};");
    let (result, host) = run_with(&engine(), &source, |invocation| {
        invocation.handler =
            HandlerCall::Scheduled(event(&json!({"who": "Ada", "n": 1.5, "deep": [null, {"ü": "✓"}]})));
    })
    .await;
    assert_eq!(
        result.unwrap(),
        json!({
            "trigger": "manual",
            "data": {"who": "Ada", "n": 1.5, "deep": [null, {"ü": "✓"}]},
            "scheduledTime": 1_700_000_000_123_i64,
            "cron": "* * * * *",
            "runId": "run_00000000000000000000000007",
            "attempt": 2,
            "got": {"who": "Ada", "n": 1.5, "deep": [null, {"ü": "✓"}]},
        })
    );
    assert_eq!(*host.lines.lock().unwrap(), [(LogLevel::Info, "hello Ada".to_owned())]);
}

#[tokio::test]
async fn integers_beyond_53_bits_are_read_as_text_and_the_text_of_data_is_there() {
    let source = body(
        "return { data: event.data, text: event.text, keys: Object.keys(event), attempt: event.attempt };",
    );
    let seen = async |json: &str| {
        let (result, _) = run_with(&engine(), &source, |invocation| {
            let data = RawValue::from_string(json.to_owned()).unwrap();
            invocation.handler = HandlerCall::Scheduled(ScheduledEvent { data, ..event(&json!(null)) });
        })
        .await;
        result.unwrap()
    };
    for (json, data) in [
        (r#"{"id":8202522731445525542}"#, json!({"id": "8202522731445525542"})),
        (
            r#"[ -9007199254740992, 9007199254740991 , 9007199254740993.0]"#,
            json!(["-9007199254740992", 9_007_199_254_740_991_i64, 9_007_199_254_740_992_i64]),
        ),
        (
            r#"{"a" : 1.50, "scheduledTime":1,"data":2, "ü": "9007199254740993,\"scheduledTime\":0"}"#,
            json!({"a": 1.5, "scheduledTime": 1, "data": 2, "ü": "9007199254740993,\"scheduledTime\":0"}),
        ),
        ("null", json!(null)),
        ("\"\"", json!("")),
    ] {
        let seen = seen(json).await;
        assert_eq!((&seen["data"], &seen["text"]), (&data, &json!(json)));
        assert_eq!(seen["keys"], json!(["trigger", "data", "scheduledTime", "cron", "runId", "attempt"]));
        assert_eq!(seen["attempt"], 2);
    }
}

#[tokio::test]
async fn nothing_returned_is_null() {
    assert_eq!(run("").await.0.unwrap(), json!(null));
}

#[tokio::test]
async fn fetch_answers_a_request() {
    let source = "export default { async fetch(request, env, ctx) {
        const body = await request.json();
        return Response.json(
            { method: request.method, path: new URL(request.url).pathname, name: body.name, type: request.headers.get('Content-Type') },
            { status: 202, headers: { 'X-Made': 'yes', 'set-cookie': 'a=b' } },
        );
    } };";
    let mut invocation = scheduled(1, bundle_of(&[("main.js", source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "POST".into(),
        url: "https://shop.example/a/b?c=d".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: r#"{"name":"Ada"}"#.into(),
    });
    let HandlerOutput::Response(response) = engine().invoke(invocation, TestHost::new()).await.unwrap()
    else {
        panic!("no response");
    };
    assert_eq!(response.status, 202);
    assert_eq!(
        response.headers,
        [("content-type", "application/json"), ("set-cookie", "a=b"), ("x-made", "yes")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&response.body).unwrap(),
        json!({"method": "POST", "path": "/a/b", "name": "Ada", "type": "application/json"})
    );
}

#[tokio::test]
async fn a_missing_handler_is_told() {
    let (result, _) = run_with(&engine(), "export default { fetch() {} }", |_| ()).await;
    assert_failed_with(FailureCode::HandlerMissing, &result.unwrap_err());
    let (result, _) = run_with(&engine(), "export const x = 1;", |_| ()).await;
    assert_failed_with(FailureCode::HandlerMissing, &result.unwrap_err());
}

#[tokio::test]
async fn modules_import_each_other_and_nothing_else() {
    let files = [
        (
            "main.js",
            "import { twice } from './lib/math.js'; export default { scheduled: (event) => twice(event.data) };",
        ),
        ("lib/math.js", "import two from '../two.js'; export const twice = (x) => two * x;"),
        ("two.js", "export default 2;"),
        ("README.md", "# not code"),
    ];
    let output = engine().invoke(scheduled(1, bundle_of(&files), &json!(21)), TestHost::new()).await.unwrap();
    assert!(matches!(output, HandlerOutput::Scheduled(json) if json.get() == "42"));

    for import in ["fs", "./absent.js", "../main.js", "https://example.com/x.js", "qala:prelude", "std", "os"]
    {
        let source = format!("import x from '{import}'; export default {{ scheduled() {{}} }};");
        let (result, _) = run_with(&engine(), &source, |_| ()).await;
        let failure = result.unwrap_err();
        assert_failed_with(FailureCode::InvalidBundle, &failure);
        assert!(failure.message.contains("not in the bundle"), "{failure}");
    }
}

#[tokio::test]
async fn check_tells_handlers_and_refuses_what_does_not_parse_or_link() {
    let engine = engine();
    let both = "export default { scheduled() {}, fetch() {} }";
    let handlers = engine.check(id(1), None, bundle_of(&[("main.js", both)])).await.unwrap();
    assert!(handlers.scheduled && handlers.fetch);

    for (files, says) in [
        (vec![("main.js", "const ok = 1;\nexport default {\n  scheduled( { }\n};")], "main.js:4"),
        (vec![("main.js", "import { b } from './a.js';"), ("a.js", "export const c = 1;")], "'b'"),
        (vec![("main.js", "\nthrow new Error('at the top');")], "at the top"),
        (vec![("a.js", "export default 1")], "no main.js"),
    ] {
        let failure = engine.check(id(1), None, bundle_of(&files)).await.unwrap_err();
        assert_failed_with(FailureCode::InvalidBundle, &failure);
        assert!(failure.message.contains(says), "{failure} does not say {says}");
    }
}

#[tokio::test]
async fn the_top_level_waits_for_nothing_while_it_is_checked() {
    let engine = engine();
    let waiting = [
        "await new Promise((done) => setTimeout(done, 29000)); export default { fetch() {} }",
        "await new Promise((done) => setTimeout(done, 0)); export default { fetch() {} }",
        "await new Promise(() => {}); export default { fetch() {} }",
        "await fetch('https://a.example/'); export default { fetch() {} }",
        "await crypto.subtle.digest('SHA-256', new Uint8Array(1)); await globalThis.scheduler?.wait?.(1); await new Promise(() => {}); export default {}",
    ];
    for source in waiting {
        let start = Instant::now();
        let failure = engine.check(id(1), None, bundle_of(&[("main.js", source)])).await.unwrap_err();
        assert_failed_with(FailureCode::InvalidBundle, &failure);
        assert!(failure.message.contains("top level waits"), "{source}: {failure}");
        assert!(start.elapsed() < Duration::from_secs(5), "{source} took {:?}", start.elapsed());
    }
    // What nothing waits for does not happen, and promises that need no timer settle.
    let free = "setTimeout(() => { throw new Error('fired') }, 0); fetch('https://a.example/').catch(() => {}); \
        await Promise.resolve().then(() => 1); export default { async fetch() {} }";
    assert!(engine.check(id(1), None, bundle_of(&[("main.js", free)])).await.unwrap().fetch);
}

#[tokio::test]
async fn a_check_computes_for_two_seconds_at_most() {
    let endless = bundle_of(&[("main.js", "for (;;); export default { fetch() {} }")]);
    let failure = engine().check(id(1), None, endless).await.unwrap_err();
    // On a machine with other work, the five seconds that a check may take can be over first.
    let (used, took) = (" 2000 ms of processor time", "longer than 5000 ms");
    let limit = if failure.code == FailureCode::Timeout { took } else { used };
    assert!(failure.to_string().ends_with(limit), "{failure}");
}

#[tokio::test]
async fn a_person_has_one_share_of_checks_in_however_many_workspaces() {
    let engine = Arc::new(engine());
    let attacker = Some(id(66));
    let endless = bundle_of(&[("main.js", "for (;;); export default { fetch() {} }")]);
    let attacks: Vec<_> = (100..106)
        .map(|workspace| {
            let (engine, endless) = (Arc::clone(&engine), endless.clone());
            tokio::spawn(async move { engine.check(id(workspace), attacker, endless).await })
        })
        .collect();
    // Somebody of one of these workspaces, and somebody else: neither waits for the six checks.
    for (workspace, person) in [(100, id(7)), (200, id(8))] {
        let fine = bundle_of(&[("main.js", "export default { fetch() {} }")]);
        engine.check(id(workspace), Some(person), fine).await.unwrap();
    }
    assert!(attacks.iter().any(|attack| !attack.is_finished()), "none of them had to wait for the attack");
    for attack in attacks {
        attack.abort();
    }
}

#[tokio::test]
async fn a_throw_tells_its_place() {
    let failure = run_expecting_failure(
        "const x = 1;\nfunction inner() { throw new TypeError('oh no'); }\ninner();",
        |_| (),
    )
    .await;
    assert_failed_with(FailureCode::AppError, &failure);
    assert!(failure.message.starts_with("TypeError: oh no"), "{failure}");
    assert!(failure.message.contains("inner (main.js:3:"), "{failure}");
    assert!(!failure.message.contains("qala:"), "{failure}");
    let failure = run_expecting_failure("throw {code: 'x'};", |_| ()).await;
    assert!(failure.message.contains("Uncaught"), "{failure}");
    assert_eq!(failure.host_code, None);
}

#[tokio::test]
async fn wait_until_is_awaited() {
    let (result, host) = run(
        "ctx.waitUntil(new Promise((done) => setTimeout(() => { console.log('later'); done(); }, 20))); return 1;",
    )
    .await;
    assert_eq!(result.unwrap(), json!(1));
    assert_eq!(host.log_messages(), ["later"]);
    let failure = run_expecting_failure("ctx.waitUntil(Promise.reject(new Error('beside')));", |_| ()).await;
    assert!(failure.message.contains("beside"), "{failure}");
}

/// Waits for a time in milliseconds.
const SLEEP: &str = "const sleep = (millis) => new Promise((done) => setTimeout(done, millis));";

#[tokio::test]
async fn a_rejection_that_nothing_handles_is_logged() {
    let engine = engine();
    for (code, lines) in [
        ("Promise.reject(new Error('lost'));", &["Error: lost"] as &[_]),
        ("(async () => { throw new TypeError('not awaited'); })();", &["TypeError: not awaited"]),
        ("(async () => { await null; throw 'later'; })(); await sleep(1);", &["later"]),
        (
            "Promise.reject(1); Promise.reject({ code: 2 }); Promise.reject();",
            &["1", "{ code: 2 }", "undefined"],
        ),
        ("Promise.reject('chained').then(() => 1).finally(() => 1);", &["chained"]),
        ("Promise.all([Promise.reject('one'), Promise.reject('two')]);", &["one"]),
        ("fetch('https://denied.example/');", &[]),
        ("fetch('https://denied.example/'); await sleep(200);", &["Error: not allowed"]),
        ("import('./absent.js'); await sleep(1);", &["ReferenceError: main.js imports ./absent.js"]),
        // A handler that comes too late takes no line back, and there is none for it.
        (
            "const late = Promise.reject('late'); await sleep(1); late.catch(() => {}); await sleep(1);",
            &["late"],
        ),
        // Handled before the queue of jobs was empty.
        ("Promise.reject(1).catch(() => {}); try { await Promise.reject(2); } catch {}", &[]),
        ("await Promise.allSettled([Promise.reject(1), (async () => { throw 2; })()]);", &[]),
        ("const soon = Promise.reject(1); queueMicrotask(() => soon.catch(() => {}));", &[]),
        (
            "const soon = Promise.reject(1); for (let at = 0; at < 50; at++) await null; soon.catch(() => {});",
            &[],
        ),
        (
            "try { await fetch('https://denied.example/'); } catch {} try { await import('./absent.js'); } catch {}",
            &[],
        ),
        // Looking at a reason runs code of the app.
        ("Promise.reject({ get a() { throw 1; } });", &["[a value that throws when it is looked at]"]),
        ("Promise.reject({ get a() { Promise.reject('inner'); return 3; } });", &["{ a: 3 }", "inner"]),
        ("Promise.reject('x'.repeat(1e6));", &["xxx"]),
        ("Array.prototype[Symbol.iterator] = null; Promise.reject('nobody can tell');", &[]),
    ] {
        let source = body(&format!("{SLEEP} {code} return 1;"));
        let (result, host) = run_with(&engine, &source, |_| ()).await;
        assert_eq!(result.unwrap(), json!(1), "{code}");
        let logged = host.lines.lock().unwrap();
        assert_eq!(logged.len(), lines.len(), "{code} {logged:?}");
        for ((level, line), expected) in logged.iter().zip(lines) {
            assert_eq!(*level, LogLevel::Error, "{code}");
            assert!(line.starts_with(&format!("Uncaught (in promise) {expected}")), "{code}: {line}");
            assert!(line.len() < 10_000, "{code}");
        }
    }
}

#[tokio::test]
async fn a_rejection_that_fails_the_run_is_not_logged_too() {
    let engine = engine();
    let handler = "export default { scheduled() { return 1; } };";
    let failing_import = "await null; throw new Error('in an import');";
    let main = format!("import './a.js'; {handler}");
    for (files, says) in [
        (vec![("main.js", "export default { scheduled() { throw new Error('thrown'); } };")], "thrown"),
        (
            vec![(
                "main.js",
                "export default { async scheduled() { await null; throw new Error('later'); } };",
            )],
            "later",
        ),
        (
            vec![(
                "main.js",
                "export default { scheduled(_, env, ctx) { ctx.waitUntil(Promise.reject(new Error('beside'))); return new Promise((done) => setTimeout(done, 5)); } };",
            )],
            "beside",
        ),
        (vec![("main.js", "throw new Error('at the top');")], "at the top"),
        (vec![("main.js", "await null; throw new Error('at the top, later');")], "at the top, later"),
        (vec![("main.js", main.as_str()), ("a.js", "throw new Error('in an import');")], "in an import"),
        (vec![("main.js", main.as_str()), ("a.js", failing_import)], "in an import"),
    ] {
        let host = TestHost::new();
        let result = engine.invoke(scheduled(1, bundle_of(&files), &json!(null)), host.clone()).await;
        let failure = result.unwrap_err();
        assert!(failure.message.contains(says), "{failure}");
        assert_eq!(host.log_messages(), [""; 0], "{says}");
    }
    // Of several promises the run waits for, one fails it and the others are logged.
    let source = body("for (const at of [1, 2, 3]) ctx.waitUntil(Promise.reject(`failure ${at}`));");
    let (result, host) = run_with(&engine, &source, |_| ()).await;
    assert!(result.unwrap_err().message.contains("failure 1"));
    assert_eq!(host.log_messages(), ["Uncaught (in promise) failure 2", "Uncaught (in promise) failure 3"]);
}

#[tokio::test]
async fn many_rejections_are_limited_like_other_lines() {
    let engine = engine();
    let source = body(
        "for (let round = 0; round < 3; round++) { \
         for (let at = 0; at < 5000; at++) Promise.reject(new Array(20)); await new Promise((done) => setTimeout(done, 1)); } \
         await Promise.allSettled(Array.from({ length: 5000 }, async () => { throw 1; })); return 1;",
    );
    let (result, host) = run_with(&engine, &source, |_| ()).await;
    assert_eq!(result.unwrap(), json!(1));
    let lines = host.log_messages();
    assert_eq!(lines.len(), 1001);
    assert_eq!(lines[1000], "2000 more lines of log were dropped");
    // The next invocation of the process has nothing of it.
    let (result, host) = run_with(&engine, &body("await null; return 1;"), |_| ()).await;
    assert_eq!((result.unwrap(), host.log_messages().len()), (json!(1), 0));
}

/// Promises of streams, requests and signals that count as handled, as their standards have it.
#[tokio::test]
async fn ordinary_use_of_streams_and_requests_logs_nothing() {
    let engine = engine();
    for code in [
        "const reader = new ReadableStream({ start(c) { c.error(new Error('x')); } }).getReader(); await reader.read().catch(() => {});",
        "let c; const reader = new ReadableStream({ start(given) { c = given; } }).getReader(); c.error(1); await sleep(1);",
        "const reader = new ReadableStream().getReader(); reader.releaseLock(); await sleep(1);",
        "const stream = new ReadableStream({ start(c) { c.close(); } }); stream.getReader().releaseLock(); for await (const _ of stream);",
        "const writer = new WritableStream({ write() { throw 1; } }).getWriter(); await writer.write(1).catch(() => {}); await writer.abort().catch(() => {});",
        "const writer = new WritableStream({ start(c) { c.error(1); } }).getWriter(); await sleep(1); writer.releaseLock();",
        "const writer = new WritableStream().getWriter(); await writer.abort(1); writer.releaseLock();",
        "const writer = new WritableStream().getWriter(); writer.releaseLock(); await sleep(1);",
        "await new ReadableStream({ start(c) { c.error(1); } }).pipeTo(new WritableStream()).catch(() => {});",
        "await new ReadableStream({ start(c) { c.enqueue(1); } }).pipeTo(new WritableStream({ write() { throw 1; } })).catch(() => {});",
        "await new Response(new ReadableStream({ pull(c) { c.error(1); } }).pipeThrough(new TextEncoderStream())).text().catch(() => {});",
        "await new Response(new ReadableStream({ pull(c) { c.enqueue('x'); } }).pipeThrough(new TransformStream({ transform() { throw 1; } }))).text().catch(() => {});",
        "const { readable, writable } = new TransformStream(); await readable.cancel(1); await writable.getWriter().write(1).catch(() => {});",
        "const { readable, writable } = new TransformStream({ transform() { throw 1; } }); const reading = readable.getReader().read().catch(() => {}); await writable.getWriter().write(1).catch(() => {}); await reading;",
        "const [one, two] = new ReadableStream({ start(c) { c.error(1); } }).tee(); await Promise.allSettled([one.getReader().read(), two.getReader().read()]);",
        "await new Response(new Response('not packed').body.pipeThrough(new DecompressionStream('gzip'))).text().catch(() => {});",
        "for await (const part of new Response('x').body) break;",
        "const all = new AbortController(); const asked = fetch('https://a.example/?wait=5000', { signal: all.signal }); all.abort(); await asked.catch(() => {});",
        "await fetch('https://a.example/?wait=5000', { signal: AbortSignal.timeout(5) }).catch(() => {}); await sleep(5);",
        "const all = new AbortController(); const piping = new ReadableStream().pipeTo(new WritableStream(), { signal: all.signal }).catch(() => {}); all.abort(); await piping;",
        "await fetch('https://a.example/', { method: 'POST', duplex: 'half', body: new ReadableStream({ start(c) { c.error(1); } }) }).catch(() => {}); await sleep(5);",
        "const { body } = await fetch('https://a.example/'); await body.cancel(); await sleep(5);",
        "await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', true, ['encrypt']).catch(() => {});",
    ] {
        let (result, host) = run_with(&engine, &body(&format!("{SLEEP} {code} return 1;")), |_| ()).await;
        assert_eq!(result.unwrap(), json!(1), "{code}");
        assert_eq!(host.log_messages(), [""; 0], "{code}");
    }
}
