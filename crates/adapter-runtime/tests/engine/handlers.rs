//! Both handlers: their arguments, logs and results.

use runs::engine::{Engine as _, FailureCode, HandlerCall, HandlerOutput, HttpRequest, LogLevel};
use serde_json::json;

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
    let handlers = engine.check(id(1), bundle_of(&[("main.js", both)])).await.unwrap();
    assert!(handlers.scheduled && handlers.fetch);

    for (files, says) in [
        (vec![("main.js", "const ok = 1;\nexport default {\n  scheduled( { }\n};")], "main.js:4"),
        (vec![("main.js", "import { b } from './a.js';"), ("a.js", "export const c = 1;")], "'b'"),
        (vec![("main.js", "\nthrow new Error('at the top');")], "at the top"),
        (vec![("a.js", "export default 1")], "no main.js"),
    ] {
        let failure = engine.check(id(1), bundle_of(&files)).await.unwrap_err();
        assert_failed_with(FailureCode::InvalidBundle, &failure);
        assert!(failure.message.contains(says), "{failure} does not say {says}");
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
