//! Signals of requests: what an aborted `fetch` rejects with, and that its call outside of the process is stopped.

use std::time::Duration;

use futures::StreamExt as _;
use runs::engine::{Engine as _, HandlerCall, HandlerOutput, HttpRequest, StreamedResponse};
use serde_json::json;

use crate::{support::*, surface::all_hold};

#[tokio::test]
async fn an_aborted_fetch_rejects_with_the_reason() {
    const BEFORE: &str = "const url = 'https://x.example/?wait=60000'; const said = (promise) => promise.then(() => 'done', (error) => error?.name ?? error); const c = new AbortController(); const { signal } = c; const soon = (act) => setTimeout(act, 5);";
    let cases = [
        ("soon(() => c.abort()); return said(fetch(url, { signal }));", json!("AbortError")),
        ("soon(() => c.abort('mine')); return said(fetch(url, { signal }));", json!("mine")),
        ("soon(() => c.abort(null)); return said(fetch(url, { signal }));", json!(null)),
        ("const reason = new TypeError('x'); soon(() => c.abort(reason)); return fetch(url, { signal }).catch((error) => error === reason && signal.reason === reason);", json!(true)),
        ("return said(fetch(url, { signal: AbortSignal.timeout(5) }));", json!("TimeoutError")),
        ("soon(() => c.abort('one')); return said(fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(5000), signal]) }));", json!("one")),
        ("return said(fetch(url, { signal: AbortSignal.any([AbortSignal.timeout(5), signal]) }));", json!("TimeoutError")),
        ("c.abort('early'); return said(fetch(url, { signal }));", json!("early")),
        ("soon(() => c.abort()); return said(fetch(new Request(url, { signal })));", json!("AbortError")),
        ("soon(() => c.abort('other')); return said(fetch(new Request(url, { signal: AbortSignal.timeout(5000) }), { signal }));", json!("other")),
        ("soon(() => c.abort()); return said(env.connections.mail.fetch('/x', { signal: AbortSignal.abort('no') }));", json!("no")),
        // A signal of null follows nothing.
        ("c.abort(); const r = new Request('https://x.example/', { signal }); return [r.signal.aborted, (await fetch(r, { signal: null })).status];", json!([true, 201])),
        ("const out = []; for (const wrong of ['x', 1, {}, c, Object.create(AbortSignal.prototype)]) try { new Request(url, { signal: wrong }); out.push('ok') } catch (error) { out.push(error.name) } return out;",
         json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError"])),
        ("return said(fetch(url, { signal: {} }));", json!("TypeError")),
        // A request has a signal of its own, which follows the other.
        ("const r = new Request(url, { signal }); const copy = r.clone(); const again = new Request(r); const mine = r.signal; c.abort('all'); return [mine === signal, r.signal === mine, mine.aborted, mine.reason, copy.signal.reason, again.signal.reason];",
         json!([false, true, true, "all", "all", "all"])),
        ("const r = new Request(url); return [r.signal instanceof AbortSignal, r.signal.aborted, r.signal === r.signal];", json!([true, false, true])),
        // What was not read cannot be read after an abort; what was read stays.
        ("const one = await fetch('https://x.example/', { signal }); const two = await fetch('https://x.example/', { signal }); const first = await one.text(); c.abort('late'); return [first.length > 0, await said(two.text()), await said(two.json()), two.bodyUsed];",
         json!([true, "late", "late", false])),
        ("const r = await fetch('https://x.example/', { signal }); const reader = r.body.getReader(); c.abort('late'); return said(reader.read());", json!("late")),
        ("const r = await fetch('https://x.example/', { signal }); c.abort('late'); return said(r.body.getReader().read());", json!("late")),
        ("const r = await fetch('https://x.example/', { signal }); const reader = r.body.getReader(); await reader.read(); await reader.read(); c.abort('late'); return [await said(reader.closed), await said(reader.read())];", json!(["done", "done"])),
        ("const r = await fetch('https://x.example/', { signal }); const copy = r.clone(); c.abort('late'); return [await said(r.text()), await said(copy.text())];", json!(["late", "late"])),
        // A body that is still being read is cancelled, and nothing is sent.
        ("const seen = []; const body = new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(1)); return new Promise((done) => setTimeout(done, 5)) }, cancel(reason) { seen.push(reason) } }); soon(() => soon(() => c.abort('stop')));
          const how = await said(fetch(url, { method: 'POST', body, duplex: 'half', signal })); return [how, seen];", json!(["stop", ["stop"]])),
        // An abort that comes too late, and one of a call that failed by itself.
        ("const r = await fetch('https://x.example/', { signal }); const all = await r.json(); c.abort(); return [r.status, all.method, signal.aborted];", json!([201, "GET", true])),
        ("const how = await said(fetch('https://denied.example/', { signal })); c.abort(); return how;", json!("Error")),
        // Many calls follow one signal; the others go on.
        ("const all = Array.from({ length: 20 }, () => said(fetch(url, { signal }))); const other = said(fetch('https://x.example/')); soon(() => c.abort('all')); return [[...new Set(await Promise.all(all))], await other];", json!([["all"], "done"])),
    ];
    let cases: Vec<_> =
        cases.iter().map(|(code, gives)| (format!("{BEFORE} {code}"), gives.clone())).collect();
    let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
    all_hold(&cases).await;
}

#[tokio::test]
async fn an_abort_drops_the_future_of_the_host() {
    let (result, host) = run("const c = new AbortController(); setTimeout(() => c.abort(), 50);
         const how = await fetch('https://x.example/?wait=60000', { signal: c.signal }).catch((error) => error.name);
         const after = await (await fetch('https://x.example/after')).json(); return [how, after.url];")
    .await;
    assert_eq!(result.unwrap(), json!(["AbortError", "https://x.example/after"]));
    assert_eq!(*host.dropped_fetches.lock().unwrap(), ["https://x.example/?wait=60000"]);
}

#[tokio::test]
async fn an_aborted_call_gives_its_place_to_the_next() {
    // Six calls run at once; the seventh and eighth wait.
    let (result, host) = run("const c = new AbortController(); const said = (promise) => promise.catch((error) => error.name);
         const six = Array.from({ length: 6 }, (_, at) => said(fetch(`https://x.example/${at}?wait=60000`, { signal: c.signal })));
         const own = new AbortController(); const seventh = said(fetch('https://x.example/seventh', { signal: own.signal })); const eighth = fetch('https://x.example/eighth');
         setTimeout(() => own.abort(), 20); setTimeout(() => c.abort(), 60); return [...await Promise.all(six), await seventh, (await eighth).status];")
    .await;
    let aborted = "AbortError";
    assert_eq!(result.unwrap(), json!([aborted, aborted, aborted, aborted, aborted, aborted, aborted, 201]));
    assert_eq!(host.dropped_fetches.lock().unwrap().len(), 6);
    let started = host.started_fetches.lock().unwrap();
    assert!(started.iter().any(|url| url.ends_with("/eighth")), "{started:?}");
    assert!(!started.iter().any(|url| url.ends_with("/seventh")), "an aborted call was started: {started:?}");
}

#[tokio::test]
async fn an_abort_without_anything_else_ends_the_wait() {
    let (result, host) =
        run("const c = new AbortController(); const call = fetch('https://x.example/?wait=60000', { signal: c.signal }); c.abort('at once'); return call.catch((error) => error);").await;
    assert_eq!(result.unwrap(), json!("at once"));
    assert!(host.dropped_fetches.lock().unwrap().len() <= 1);
}

#[tokio::test]
async fn the_signal_of_a_visitor_aborts_when_the_visitor_leaves() {
    let source = "export default { async fetch(request, env, ctx) {
        const { signal } = request;
        signal.addEventListener('abort', () => console.log(signal.reason.name, new Request(request).signal.aborted));
        ctx.waitUntil(fetch('https://x.example/?wait=60000', { signal }).catch((error) => console.log('call', error.name)));
        return new Response(new ReadableStream({ start(controller) { controller.enqueue(new Uint8Array([104, 105])) } }));
    } };";
    let mut invocation = scheduled(1, bundle_of(&[("main.js", source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "GET".into(),
        url: "https://shop.example/".into(),
        headers: Vec::new(),
        body: Default::default(),
    });
    let host = TestHost::new();
    let output = engine().invoke(invocation, host.clone()).await.unwrap();
    let HandlerOutput::Streamed(StreamedResponse { mut body, completion, .. }) = output else {
        panic!("no stream")
    };
    assert_eq!(&body.next().await.unwrap().unwrap()[..], b"hi");
    drop(body);
    tokio::time::timeout(Duration::from_secs(10), completion).await.unwrap().unwrap();
    assert_eq!(host.log_messages(), ["AbortError true", "call AbortError"]);
    assert_eq!(*host.dropped_fetches.lock().unwrap(), ["https://x.example/?wait=60000"]);
}

#[tokio::test]
async fn the_signal_of_a_visitor_who_stays_does_not_abort() {
    let source = "export default { async fetch(request) {
        const { signal } = request; await new Promise((done) => setTimeout(done, 5));
        return Response.json([signal instanceof AbortSignal, signal.aborted, signal === request.signal, request.clone().signal.aborted]);
    } };";
    let mut invocation = scheduled(1, bundle_of(&[("main.js", source)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(HttpRequest {
        method: "POST".into(),
        url: "https://shop.example/".into(),
        headers: Vec::new(),
        body: "x".into(),
    });
    let HandlerOutput::Response(response) = engine().invoke(invocation, TestHost::new()).await.unwrap()
    else {
        panic!("no response")
    };
    assert_eq!(&response.body[..], b"[true,false,true,false]");
}

#[tokio::test]
async fn signals_and_their_order() {
    all_hold(&[
        ("const out = []; const c = new AbortController(); const any = AbortSignal.any([c.signal]); any.addEventListener('abort', () => out.push('any')); c.signal.addEventListener('abort', () => out.push('own', any.aborted)); c.abort(); return out;", json!(["own", true, "any"])),
        ("const c = new AbortController(); const deep = AbortSignal.any([AbortSignal.any([c.signal]), AbortSignal.any([])]); c.abort(7); return [deep.aborted, deep.reason, AbortSignal.any([]).aborted];", json!([true, 7, false])),
        ("const out = []; for (const wrong of [-1, NaN, 'x', undefined, 2 ** 60]) try { AbortSignal.timeout(wrong); out.push('ok') } catch (error) { out.push(error.name) } return out;", json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError"])),
        ("const out = []; for (const wrong of [null, [1], 5, undefined]) try { AbortSignal.any(wrong); out.push('ok') } catch (error) { out.push(error.name) } return out;", json!(["TypeError", "TypeError", "TypeError", "TypeError"])),
        ("const c = new AbortController(); const out = []; c.signal.onabort = () => out.push('one'); c.signal.addEventListener('abort', () => out.push('two')); c.signal.onabort = function (event) { out.push('changed', this === c.signal, event.type) }; c.abort(); c.abort(); return out;", json!(["changed", true, "abort", "two"])),
        ("try { AbortSignal.abort('x').throwIfAborted() } catch (error) { return [error, new AbortController().signal.throwIfAborted() === undefined] }", json!(["x", true])),
        ("const out = []; for (const kind of [AbortSignal, AbortController]) out.push(Object.prototype.toString.call(kind === AbortSignal ? AbortSignal.abort() : new kind())); return [...out, Object.getOwnPropertyNames(AbortSignal).sort()];",
         json!(["[object AbortSignal]", "[object AbortController]", ["abort", "any", "length", "name", "prototype", "timeout"]])),
    ])
    .await;
}
