//! Streams as the Streams standard has them, and bodies as the Fetch standard does: cases of the web platform's own
//! tests, and what app code may do to the globals first.

use serde_json::json;

use crate::surface::all_hold;

/// Code before each case.
macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {
        all_hold(&[$((concat!(
            "const said = (error) => error instanceof Error ? error.name : error;",
            "const settled = async (promise) => { try { return ['ok', (await promise) ?? null] } catch (error) { return ['no', said(error)] } };",
            "const throws = (call) => { try { call(); return 'no' } catch (error) { return said(error) } };",
            "const tick = () => new Promise((done) => setTimeout(done, 0)); const log = [];",
            $code,
        ), $gives)),+]).await
    };
}

#[tokio::test]
async fn readable_streams() {
    cases![
        // readable-streams/general: reading, closing, and what stays after.
        ("const r = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close() } }).getReader();
          return [await r.read(), await r.read(), (await r.read()).done, (await settled(r.closed))[0]];",
         json!([{"value": "a", "done": false}, {"value": "b", "done": false}, true, "ok"])),
        // readable-streams/general: pull is called as often as there is need.
        ("let n = 0; const s = new ReadableStream({ pull(c) { log.push(c.desiredSize); c.enqueue(n++) } }, { highWaterMark: 3 });
          await tick(); log.push('|'); const r = s.getReader(); await r.read(); await tick(); return log;",
         json!([3, 2, 1, "|", 1])),
        ("let n = 0; new ReadableStream({ pull() { n++ } }, { highWaterMark: 0 }); await tick(); return n;", json!(0)),
        // readable-streams/bad-underlying-sources and bad-strategies.
        ("return [throws(() => new ReadableStream({ start() { throw new RangeError('x') } })), throws(() => new ReadableStream(null)),
          throws(() => new ReadableStream({ pull: 1 })), throws(() => new ReadableStream({ type: 'x' })), throws(() => new ReadableStream({}, { highWaterMark: -1 })),
          throws(() => new ReadableStream({}, { highWaterMark: 'x' })), throws(() => new ReadableStream({}, { size: 1 })), throws(() => new ReadableStream({}, { highWaterMark: '2' }))];",
         json!(["RangeError", "TypeError", "TypeError", "TypeError", "RangeError", "RangeError", "TypeError", "no"])),
        ("const r = new ReadableStream({ pull() { throw 'E' } }).getReader(); return [await settled(r.read()), await settled(r.closed)];", json!([["no", "E"], ["no", "E"]])),
        ("let c; const s = new ReadableStream({ start(x) { c = x } }); c.close();
          return [throws(() => c.close()), throws(() => c.enqueue(1)), c.desiredSize];", json!(["TypeError", "TypeError", 0])),
        ("let c; const s = new ReadableStream({ start(x) { c = x } }, { size(x) { return x } }); return [throws(() => c.enqueue(NaN)), await settled(s.getReader().read())];",
         json!(["RangeError", ["no", "RangeError"]])),
        // readable-streams/cancel.
        ("const s = new ReadableStream({ cancel(reason) { log.push(reason); return 'unseen' } });
          log.push(await settled(s.cancel('why')), await settled(s.cancel('again'))); s.getReader(); log.push(await settled(s.cancel())); return log;",
         json!(["why", ["ok", null], ["ok", null], ["no", "TypeError"]])),
        ("return await settled(new ReadableStream({ cancel() { throw 'E' } }).cancel());", json!(["no", "E"])),
        // readable-streams/default-reader: releasing the lock.
        ("const s = new ReadableStream(); const r = s.getReader(); const read = settled(r.read()); r.releaseLock();
          return [await read, await settled(r.closed), await settled(r.read()), s.locked, throws(() => new ReadableStreamDefaultReader({}))];",
         json!([["no", "TypeError"], ["no", "TypeError"], ["no", "TypeError"], false, "TypeError"])),
        ("const s = new ReadableStream(); s.getReader(); return [throws(() => s.getReader()), throws(() => s.tee()), throws(() => s.values())];",
         json!(["TypeError", "TypeError", "TypeError"])),
        // readable-streams/async-iterator.
        ("for await (const x of new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } })) log.push(x); return log;", json!([1, 2])),
        ("const s = new ReadableStream({ pull(c) { c.enqueue(1) }, cancel() { log.push('cancelled') } }); for await (const x of s) break;
          const kept = new ReadableStream({ pull(c) { c.enqueue(1) }, cancel() { log.push('never') } });
          for await (const x of kept.values({ preventCancel: true })) break; return [log, s.locked, kept.locked];",
         json!([["cancelled"], false, false])),
        ("let n = 0; const it = new ReadableStream({ pull(c) { c.enqueue(n++); if (n === 2) c.close() } }).values();
          return (await Promise.all([it.next(), it.next(), it.next(), it.return('x')])).map((step) => [step.value ?? null, step.done]);",
         json!([[0, false], [1, false], [null, true], ["x", true]])),
        // readable-streams/tee.
        ("let n = 0; const [a, b] = new ReadableStream({ pull(c) { if (n === 3) c.close(); else c.enqueue(n++) } }).tee();
          const all = async (s) => { const out = []; for await (const x of s) out.push(x); return out }; return await Promise.all([all(a), all(b)]);",
         json!([[0, 1, 2], [0, 1, 2]])),
        ("const s = new ReadableStream({ cancel(reason) { log.push(reason) } }); const [a, b] = s.tee(); const first = a.cancel('one'); await tick();
          log.push('waits'); b.cancel('two'); await first; return log;", json!(["waits", ["one", "two"]])),
        ("let c; const [a, b] = new ReadableStream({ start(x) { c = x } }).tee(); c.error('E'); return [await settled(a.getReader().read()), await settled(b.getReader().closed)];",
         json!([["no", "E"], ["no", "E"]])),
        // readable-streams/from.
        ("const all = async (from) => { const out = []; for await (const x of ReadableStream.from(from)) out.push(x); return out };
          return [await all([1, 2]), await all('hé'), await all([Promise.resolve(3)]), await all((async function* () { yield 4 })()), await all(new ReadableStream({ start(c) { c.enqueue(5); c.close() } })),
          throws(() => ReadableStream.from(null)), throws(() => ReadableStream.from({}))];",
         json!([[1, 2], ["h", "é"], [3], [4], [5], "TypeError", "TypeError"])),
        ("const from = { next() { return { value: 1, done: false } }, return(reason) { log.push(reason); return {} }, [Symbol.asyncIterator]() { return this } };
          const r = ReadableStream.from(from).getReader(); await r.read(); await r.cancel('why'); return log;", json!(["why"])),
        // readable-streams/brand-checks, constructors of controllers, and byte streams that are not here.
        ("return [throws(() => ReadableStream.prototype.getReader.call({})), (await settled(ReadableStream.prototype.cancel.call({})))[1], throws(() => new ReadableStreamDefaultController()),
          throws(() => new ReadableStream({ type: 'bytes' })), throws(() => new ReadableStream().getReader({ mode: 'byob' })), `${new ReadableStream()}`, ReadableStream.length];",
         json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "[object ReadableStream]", 0])),
    ];
}

#[tokio::test]
async fn writable_and_transform_streams() {
    cases![
        // writable-streams/general and write.
        ("const w = new WritableStream({ write(x) { log.push(x) }, close() { log.push('closed') } }).getWriter(); w.write('a'); w.write('b');
          log.push(w.desiredSize); await w.close(); return [log, await settled(w.closed), await settled(w.write('c'))];",
         json!([[-1, "a", "b", "closed"], ["ok", null], ["no", "TypeError"]])),
        ("const w = new WritableStream({ write() { throw 'E' } }).getWriter(); return [await settled(w.write(1)), await settled(w.ready), await settled(w.closed), throws(() => w.desiredSize)];",
         json!([["no", "E"], ["no", "E"], ["no", "E"], "no"])),
        // writable-streams/aborting: what is under way ends first, what waits is refused.
        ("let go, signal; const w = new WritableStream({ start(c) { signal = c.signal }, write() { return new Promise((done) => { go = done }) }, abort(reason) { log.push(reason) } }).getWriter();
          await tick(); const writes = [settled(w.write(1)), settled(w.write(2))]; const aborted = settled(w.abort('why')); log.push(signal.aborted); await tick(); go();
          return [...await Promise.all(writes), await aborted, log];",
         json!([["ok", null], ["no", "why"], ["ok", null], [true, "why"]])),
        ("const s = new WritableStream(); const w = s.getWriter(); w.releaseLock(); return [await settled(w.ready), await settled(w.write(1)), s.locked, throws(() => new WritableStream({ type: 'x' }))];",
         json!([["no", "TypeError"], ["no", "TypeError"], false, "RangeError"])),
        // transform-streams/general, backpressure, terminate, errors, cancel.
        ("const t = new TransformStream({ start(c) { c.enqueue('s') }, transform(x, c) { c.enqueue(x * 2) }, flush(c) { c.enqueue('end') } });
          for await (const x of ReadableStream.from([1, 2]).pipeThrough(t)) log.push(x); return log;", json!(["s", 2, 4, "end"])),
        ("const t = new TransformStream(); const w = t.writable.getWriter(); let written = false; w.write('a').then(() => { written = true }); await tick();
          log.push(written, w.desiredSize); log.push((await t.readable.getReader().read()).value); await tick(); log.push(written, w.desiredSize); return log;",
         json!([false, 0, "a", true, 1])),
        ("const t = new TransformStream({ transform(x, c) { c.enqueue(x); c.terminate() } }); const w = t.writable.getWriter(), r = t.readable.getReader(); w.write('a');
          return [(await r.read()).value, (await r.read()).done, await settled(w.closed)];", json!(["a", true, ["no", "TypeError"]])),
        ("const t = new TransformStream({ transform() { throw 'E' } }); const w = t.writable.getWriter(), r = t.readable.getReader(); const write = settled(w.write('a'));
          return [await settled(r.read()), await write, await settled(w.closed)];", json!([["no", "E"], ["no", "E"], ["no", "E"]])),
        ("const t = new TransformStream({ cancel(reason) { log.push(reason) } }); await t.readable.cancel('why'); return [log, await settled(t.writable.getWriter().write(1))];",
         json!([["why"], ["no", "why"]])),
        // queuing-strategies.
        ("const c = new CountQueuingStrategy({ highWaterMark: 3 }), b = new ByteLengthQueuingStrategy({ highWaterMark: 7 });
          return [c.highWaterMark, c.size(), b.highWaterMark, b.size({ byteLength: 9 }), throws(() => new CountQueuingStrategy()), throws(() => new CountQueuingStrategy({}))];",
         json!([3, 1, 7, 9, "TypeError", "TypeError"])),
        // encoding/streams: a character that is cut in two, on both ways.
        ("for await (const x of ReadableStream.from(['a', '\\ud83d', '\\ude00', '\\ud83d']).pipeThrough(new TextEncoderStream())) log.push([...x]); return log;",
         json!([[97], [240, 159, 152, 128], [239, 191, 189]])),
        ("const bytes = [...new TextEncoder().encode('\\ufeffé😀\\ufeff')].map((x) => new Uint8Array([x]));
          for await (const x of ReadableStream.from(bytes).pipeThrough(new TextDecoderStream())) log.push(x); return log;", json!(["é", "😀", "\u{feff}"])),
        ("const d = new TextDecoderStream('utf-8', { fatal: true }); return [d.encoding, d.fatal, await settled((async () => { for await (const x of ReadableStream.from([new Uint8Array([255])]).pipeThrough(d)) x })()), throws(() => new TextDecoderStream('latin1x'))];",
         json!(["utf-8", true, ["no", "TypeError"], "RangeError"])),
    ];
}

#[tokio::test]
async fn piping() {
    cases![
        // piping/general and close-propagation-forward.
        ("const from = ReadableStream.from([1, 2]), to = new WritableStream({ write(x) { log.push(x) }, close() { log.push('closed') } });
          const piped = from.pipeTo(to); log.push(from.locked, to.locked); await piped; return [...log, from.locked, to.locked];",
         json!([true, true, 1, 2, "closed", false, false])),
        ("const to = new WritableStream({ close() { log.push('closed') } }); await ReadableStream.from([1]).pipeTo(to, { preventClose: true }); log.push('open'); await to.getWriter().close(); return log;",
         json!(["open", "closed"])),
        // piping/error-propagation-forward and backward.
        ("let c; const from = new ReadableStream({ start(x) { c = x } }); const to = new WritableStream({ abort(reason) { log.push(reason) } }); const piped = from.pipeTo(to); c.error('E'); return [await settled(piped), log];",
         json!([["no", "E"], ["E"]])),
        ("const from = new ReadableStream({ pull(c) { c.enqueue(1) }, cancel(reason) { log.push(reason) } }); return [await settled(from.pipeTo(new WritableStream({ write() { throw 'W' } }))), log, from.locked];",
         json!([["no", "W"], ["W"], false])),
        // piping/close-propagation-backward.
        ("const to = new WritableStream(); await to.close(); const from = new ReadableStream({ cancel(reason) { log.push(reason.name) } }); return [await settled(from.pipeTo(to)), log];",
         json!([["no", "TypeError"], ["TypeError"]])),
        // piping/abort.
        ("const stop = new AbortController(); const from = new ReadableStream({ cancel(reason) { log.push(['cancel', reason]) } }); const to = new WritableStream({ abort(reason) { log.push(['abort', reason]) } });
          const piped = from.pipeTo(to, { signal: stop.signal }); await tick(); stop.abort('why'); return [await settled(piped), log];",
         json!([["no", "why"], [["abort", "why"], ["cancel", "why"]]])),
        ("return [await settled(new ReadableStream().pipeTo(new WritableStream(), { signal: 1 })), await settled(new ReadableStream().pipeTo({})), throws(() => new ReadableStream().pipeThrough({}))];",
         json!([["no", "TypeError"], ["no", "TypeError"], "TypeError"])),
        // piping/flow-control: nothing is read that cannot be written.
        ("let n = 0; const from = new ReadableStream({ pull(c) { log.push('pull'); c.enqueue(n++) } }, { highWaterMark: 0 });
          from.pipeTo(new WritableStream({ write() { return new Promise(() => {}) } }, { highWaterMark: 2 })); await tick(); await tick(); return log;",
         json!(["pull", "pull"])),
    ];
}

#[tokio::test]
async fn bodies_are_streams() {
    cases![
        ("const r = new Response('hé'); const s = r.body; const chunks = []; for await (const x of s) chunks.push([...x]);
          return [s instanceof ReadableStream, r.body === s, chunks, r.bodyUsed, (await settled(r.text()))[1]];",
         json!([true, true, [[104, 195, 169]], true, "TypeError"])),
        ("return [new Response().body, new Response(null).body, new Request('https://a.example').body, new Response('').body instanceof ReadableStream];", json!([null, null, null, true])),
        ("const r = new Response('x'); await r.text(); return [r.bodyUsed, r.body.locked, (await r.body.getReader().read()).done];", json!([true, false, true])),
        ("const r = new Response(ReadableStream.from([new Uint8Array([123]), new Uint8Array([125])])); return [r.bodyUsed, r.headers.get('content-type'), await r.json(), r.bodyUsed];", json!([false, null, {}, true])),
        ("const r = new Response(ReadableStream.from([new Uint8Array([1]), new Uint8Array([2, 3])])); return [...new Uint8Array(await r.arrayBuffer())];", json!([1, 2, 3])),
        ("const r = new Response('x'); const reader = r.body.getReader(); const locked = (await settled(r.text()))[1]; reader.releaseLock(); return [locked, throws(() => { r.body.getReader(); r.clone() }), r.bodyUsed];", json!(["TypeError", "TypeError", false])),
        ("return await settled(new Response(ReadableStream.from(['text'])).text());", json!(["no", "TypeError"])),
        ("let c; const s = new ReadableStream({ start(x) { c = x }, cancel(reason) { log.push(reason.name) } }); c.enqueue(5); return [await settled(new Response(s).text()), log];", json!([["no", "TypeError"], ["TypeError"]])),
        ("const r = new Response(ReadableStream.from([new Uint8Array([97])])); const copy = r.clone(); return [await r.text(), await copy.text()];", json!(["a", "a"])),
        ("const body = ReadableStream.from([new Uint8Array([97])]); const plain = throws(() => new Request('https://a.example', { method: 'POST', body }));
          const q = new Request('https://a.example', { method: 'POST', body, duplex: 'half' }); const other = new Request(q);
          return [plain, q.duplex, q.body.locked, await settled(q.text()), await other.text(), throws(() => new Request('https://a.example', { body, duplex: 'half' }))];",
         json!(["TypeError", "half", true, ["no", "TypeError"], "a", "TypeError"])),
        ("const r = await fetch('https://x.example/'); let all = ''; for await (const text of r.body.pipeThrough(new TextDecoderStream())) all += text; return [r.bodyUsed, JSON.parse(all).method];", json!([true, "GET"])),
    ];
}

/// Streams are loaded when code first uses them; by then app code may have changed any built-in object.
#[tokio::test]
async fn globals_that_changed_before_make_no_difference() {
    let works = "const t = new TransformStream({ transform(x, c) { c.enqueue(x + 1) } });
        const r = new ReadableStream({ start(c) { c.enqueue(1); c.close() } }).pipeThrough(t).getReader();
        const first = (await r.read()).value, ended = (await r.read()).done;
        let cancelled, made;
        try { await new ReadableStream({ cancel() { throw new RangeError('x') } }).cancel() } catch (error) { cancelled = error.name }
        try { new CountQueuingStrategy() } catch (error) { made = error.name }
        return `${first} ${ended} ${cancelled} ${made}`;";
    let changes = [
        "globalThis.Promise = class {}; globalThis.TypeError = Error; globalThis.Symbol = null; globalThis.Reflect = globalThis.Object = globalThis.Math = undefined;",
        "const own = Promise.prototype.then; Promise.prototype.then = function (...args) { hits++; return own.apply(this, args) };",
        "Array.prototype.push = Array.prototype.shift = Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { hits++ };",
        "for (const name of ['value', 'get', 'set', 'reader', 'state', 'next', 'polluted', 'highWaterMark']) Object.defineProperty(Object.prototype, name, { __proto__: null, get() { hits++ }, set() { hits++ }, configurable: true });",
        "globalThis.AbortController = globalThis.EventTarget = globalThis.TextDecoder = null; AbortSignal.prototype.addEventListener = null;",
    ];
    for change in changes {
        let code = format!("let hits = 0; {change} {works}");
        all_hold(&[(code.as_str(), json!("2 true RangeError TypeError"))]).await;
    }
    all_hold(&[
        ("globalThis.ReadableStream = 'mine'; new WritableStream(); return ReadableStream;", json!("mine")),
        ("delete globalThis.ReadableStream; new WritableStream(); return [typeof globalThis.ReadableStream, new Response('x').body.constructor.name];", json!(["undefined", "ReadableStream"])),
        ("const before = Object.getOwnPropertyNames(globalThis).length; new WritableStream(); const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, 'ReadableStream');
          return [Object.getOwnPropertyNames(globalThis).length === before, writable, enumerable, configurable];", json!([true, true, false, true])),
    ])
    .await;
}
