//! The names that app code finds, as a table of expressions and the JSON they evaluate to.

use serde_json::{Value, json};

use crate::support::*;

pub(crate) async fn all_hold(table: &[(&str, Value)]) {
    let engine = engine();
    for (expression, expected) in table {
        let source = body(&format!("const value = await (async () => {{ {expression} }})(); return value;"));
        let (result, _) = run_with(&engine, &source, |_| ()).await;
        match result {
            Ok(value) => assert_eq!(value, *expected, "{expression}"),
            Err(failure) => panic!("{expression}: {failure}"),
        }
    }
}

#[tokio::test]
async fn urls() {
    all_hold(&[
        ("const u = new URL('../c?x=1#h', 'https://u:p@Example.COM:8443/a/b'); return [u.href, u.origin, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.username, u.password, u.protocol];",
         json!(["https://u:p@example.com:8443/c?x=1#h", "https://example.com:8443", "example.com:8443", "example.com", "8443", "/c", "?x=1", "#h", "u", "p", "https:"])),
        ("const u = new URL('https://a.example/?b=1'); u.searchParams.append('c', 'ä ö&'); return u.href;", json!("https://a.example/?b=1&c=%C3%A4+%C3%B6%26")),
        ("const u = new URL('https://a.example/'); const p = u.searchParams; u.search = '?q=2'; return [p.get('q'), u.href];", json!(["2", "https://a.example/?q=2"])),
        ("const u = new URL('https://a.example/'); u.hostname = 'b.example'; u.pathname = '/ü'; u.hash = 'x'; u.port = '99'; return `${u}`;", json!("https://b.example:99/%C3%BC#x")),
        ("return [URL.canParse('nope'), URL.canParse('/x', 'https://a.example'), URL.parse('nope')];", json!([false, true, null])),
        ("try { new URL('nope') } catch (e) { return e.name }", json!("TypeError")),
        ("return JSON.stringify({u: new URL('https://a.example')});", json!("{\"u\":\"https://a.example/\"}")),
        ("const p = new URLSearchParams({a: '1', b: 'x y'}); p.append('a', '2'); p.set('b', 'z'); p.delete('none'); return [p.toString(), p.getAll('a'), p.has('b'), p.size, [...p]];",
         json!(["a=1&b=z&a=2", ["1", "2"], true, 3, [["a", "1"], ["b", "z"], ["a", "2"]]])),
        ("const p = new URLSearchParams('?z=1&a=2'); p.sort(); return `${p}`;", json!("a=2&z=1")),
        ("return new URLSearchParams([['a', 'b'], ['c', '%']]).toString();", json!("a=b&c=%25")),
    ])
    .await;
}

#[tokio::test]
async fn headers_requests_and_responses() {
    all_hold(&[
        ("const h = new Headers({B: '2', a: '1'}); h.append('a', '3'); h.set('c', ' x '); return [[...h], h.get('A'), h.has('b'), h.get('none')];",
         json!([[["a", "1, 3"], ["b", "2"], ["c", "x"]], "1, 3", true, null])),
        ("const h = new Headers([['set-cookie', 'a=1'], ['Set-Cookie', 'b=2']]); return [h.getSetCookie(), [...h].length];", json!([["a=1", "b=2"], 2])),
        ("const out = []; for (const [n, v] of [['a b', 'x'], ['a', 'x\\r\\ny: z'], ['', 'x'], ['a', 'x\\0']]) try { new Headers([[n, v]]); out.push('ok') } catch (e) { out.push(e.name) } return out;",
         json!(["TypeError", "TypeError", "TypeError", "TypeError"])),
        ("const r = new Request('https://a.example/x', {method: 'post', body: new URLSearchParams({a: '1'})}); return [r.method, r.headers.get('content-type'), await r.text(), r.bodyUsed];",
         json!(["POST", "application/x-www-form-urlencoded;charset=UTF-8", "a=1", true])),
        ("try { new Request('https://a.example', {body: 'x'}) } catch (e) { return e.name }", json!("TypeError")),
        ("const r = new Request('https://a.example', {method: 'PUT', body: 'x'}); const c = r.clone(); return [await r.text(), await c.text(), c.method];", json!(["x", "x", "PUT"])),
        ("const r = new Response('hi', {status: 404}); return [r.ok, r.status, r.headers.get('content-type'), await r.text()];", json!([false, 404, "text/plain;charset=UTF-8", "hi"])),
        ("const r = Response.json({a: 1}); return [r.headers.get('content-type'), await r.json()];", json!(["application/json", {"a": 1}])),
        ("const r = new Response(new Uint8Array([1, 2, 3])); return [...new Uint8Array(await r.arrayBuffer())];", json!([1, 2, 3])),
        ("const r = new Response('x'); await r.text(); try { await r.text() } catch (e) { return e.name }", json!("TypeError")),
        ("return [Response.redirect('https://a.example').status, Response.redirect('https://a.example', 308).headers.get('location')];", json!([302, "https://a.example/"])),
        ("const out = []; for (const s of [199, 600, 1.5]) try { new Response(null, {status: s}); out.push('ok') } catch (e) { out.push(e.name) } return out;", json!(["RangeError", "RangeError", "RangeError"])),
    ])
    .await;
}

/// Code before a case of HMAC: bytes of text, and hexadecimal digits of bytes.
macro_rules! hmac_cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {
        all_hold(&[$((concat!(
            "const utf8 = (text) => new TextEncoder().encode(text);",
            "const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');",
            "const said = async (promise) => { try { return typeof await promise } catch (error) { return error.name } };",
            "const { subtle } = crypto; const algorithm = (hash = 'SHA-256') => ({ name: 'HMAC', hash });",
            "const key = (bytes, usages = ['sign', 'verify'], hash, extractable = false) => subtle.importKey('raw', bytes, algorithm(hash), extractable, usages);",
            $code,
        ), $gives)),+]).await
    };
}

#[tokio::test]
async fn hmac_signs_and_verifies() {
    hmac_cases![
        // RFC 4231, test cases 1 and 2; RFC 2202, test case 2.
        ("const out = []; for (const hash of ['SHA-256', 'sha-384', { name: 'SHA-512' }]) out.push(hex(await subtle.sign('HMAC', await key(new Uint8Array(20).fill(11), ['sign'], hash), utf8('Hi There'))).slice(0, 16)); return out;",
         json!(["b0344c61d8db3853", "afd03944d8489562", "87aa7cdea5ef619d"])),
        ("return [hex(await subtle.sign('hmac', await key(utf8('Jefe')), utf8('what do ya want for nothing?'))).slice(-16), hex(await subtle.sign('HMAC', await key(utf8('Jefe'), ['sign'], 'SHA-1'), utf8('what do ya want for nothing?')))];",
         json!(["9dec58b964ec3843", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"])),
        // Keys longer than a block are hashed (RFC 4231, test case 6).
        ("return hex(await subtle.sign('HMAC', await key(new Uint8Array(131).fill(0xaa)), utf8('Test Using Larger Than Block-Size Key - Hash Key First'))).slice(0, 16);",
         json!("60e431591ee0b67f")),
        ("const k = await key(utf8('k')); const good = await subtle.sign('HMAC', k, utf8('m')); const bad = good.slice(); new Uint8Array(bad)[31] ^= 1;
          return [await subtle.verify('HMAC', k, good, utf8('m')), await subtle.verify('HMAC', k, bad, utf8('m')), await subtle.verify('HMAC', k, good.slice(0, 31), utf8('m')),
            await subtle.verify('HMAC', k, new Uint8Array(0), utf8('m')), await subtle.verify({ name: 'HMAC' }, k, good, utf8('n'))];",
         json!([true, false, false, false, false])),
        // The key does not follow the buffer that it was made of.
        ("const bytes = utf8('secret'); const k = await key(bytes); const before = hex(await subtle.sign('HMAC', k, bytes)); const data = bytes.slice(); bytes.fill(0); return hex(await subtle.sign('HMAC', k, data)) === before;",
         json!(true)),
    ];
}

#[tokio::test]
async fn hmac_keys_are_imported_exported_and_generated() {
    hmac_cases![
        (
            "const k = await key(utf8('0123'), ['verify', 'sign', 'sign'], 'SHA-384', true); return [k instanceof CryptoKey, k.type, k.extractable, k.algorithm, k.usages, [...new Uint8Array(await subtle.exportKey('raw', k))]];",
            json!([true, "secret", true, {"name": "HMAC", "hash": {"name": "SHA-384"}, "length": 32}, ["sign", "verify"], [48, 49, 50, 51]])
        ),
        (
            "const jwk = await subtle.exportKey('jwk', await key(new Uint8Array([251, 255]), ['sign'], 'SHA-256', true)); const back = await subtle.importKey('jwk', jwk, algorithm(), true, ['sign']); return [jwk, hex(await subtle.exportKey('raw', back))];",
            json!([{"kty": "oct", "k": "-_8", "alg": "HS256", "key_ops": ["sign"], "ext": true}, "fbff"])
        ),
        (
            "const lengths = []; for (const [hash, length] of [['SHA-1'], ['SHA-512'], ['SHA-256', 128]]) lengths.push((await subtle.generateKey({ name: 'HMAC', hash, length }, true, ['sign'])).algorithm.length); return lengths;",
            json!([512, 1024, 128])
        ),
        (
            "const made = async () => hex(await subtle.exportKey('raw', await subtle.generateKey(algorithm(), true, ['sign']))); return (await made()) !== (await made());",
            json!(true)
        ),
    ];
}

#[tokio::test]
async fn hmac_refuses_wrong_keys_usages_and_formats() {
    hmac_cases![
        (
            "return [await said(key(new Uint8Array(0))), await said(key(utf8('k'), [])), await said(key(utf8('k'), ['encrypt'])), await said(key(utf8('k'), ['fly'])), await said(key('k')), await said(key(utf8('k'), ['sign'], 'MD5'))];",
            json!(["DataError", "SyntaxError", "SyntaxError", "TypeError", "TypeError", "NotSupportedError"])
        ),
        (
            "const k = await key(utf8('k'), ['sign']); return [await said(subtle.verify('HMAC', k, new Uint8Array(32), utf8('m'))), await said(subtle.exportKey('raw', k)), await said(subtle.sign('AES-GCM', k, utf8('m'))), await said(subtle.sign('HMAC', {}, utf8('m'))), await said(subtle.sign('HMAC', k, 'text'))];",
            json!([
                "InvalidAccessError",
                "InvalidAccessError",
                "NotSupportedError",
                "TypeError",
                "TypeError"
            ])
        ),
        (
            "return [await said(subtle.importKey('pkcs8', utf8('k'), algorithm(), false, ['sign'])), await said(subtle.importKey('raw', utf8('k'), 'AES-GCM', false, ['sign'])), await said(subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 0 }, false, ['sign'])), await said(subtle.importKey('raw', utf8('k'), { ...algorithm(), length: 9 }, false, ['sign']))];",
            json!(["NotSupportedError", "SyntaxError", "OperationError", "DataError"])
        ),
        (
            "const good = { kty: 'oct', k: 'AAAA' }; const out = []; for (const change of [{ kty: 'RSA' }, { k: '++' }, { k: 7 }, { alg: 'HS512' }, { use: 'enc' }, { key_ops: ['verify'] }, { key_ops: 'sign' }, { ext: false }]) out.push(await said(subtle.importKey('jwk', { ...good, ...change }, algorithm(), true, ['sign']))); return [...out, await said(subtle.importKey('jwk', null, algorithm(), true, ['sign']))];",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "TypeError"])),
        // What a key may do does not follow what code makes of its properties.
        ("const k = await key(utf8('k'), ['sign']); const good = hex(await subtle.sign('HMAC', k, utf8('m'))); k.usages.push('verify'); k.algorithm.hash.name = 'SHA-1'; Object.defineProperty(k, 'extractable', { value: true });
          return [await said(subtle.verify('HMAC', k, new Uint8Array(32), utf8('m'))), await said(subtle.exportKey('raw', k)), hex(await subtle.sign('HMAC', k, utf8('m'))) === good];",
         json!(["InvalidAccessError", "InvalidAccessError", true])),
        (
            "return [(() => { try { new CryptoKey() } catch (error) { return error.name } })(), Object.getOwnPropertyNames(CryptoKey), JSON.stringify(await key(utf8('secret')))];",
            json!(["TypeError", ["length", "name", "prototype"], "{}"])
        ),
    ];
}

#[tokio::test]
async fn names_of_the_global_scope() {
    all_hold(&[
        ("return [self === globalThis, navigator.userAgent];", json!([true, "Qala"])),
        ("const seen = []; const target = new EventTarget(); target.addEventListener('told', (event) => seen.push(event.detail, event instanceof Event)); target.dispatchEvent(new CustomEvent('told', { detail: { a: 1 } })); return [seen, new CustomEvent('x').detail];",
         json!([[{"a": 1}, true], null])),
    ])
    .await;
}

#[tokio::test]
async fn texts_of_dates_name_the_zone() {
    const UTC: &str = "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)";
    all_hold(&[
        ("const d = new Date(0); return [d.toString(), `${d}`, d + '', String(d), [d].join()];", json!([UTC, UTC, UTC, UTC, UTC])),
        ("return new Date(0).toTimeString();", json!("00:00:00 GMT+0000 (Coordinated Universal Time)")),
        ("const d = new Date(NaN); return [`${d}`, d.toTimeString(), d.toDateString()];", json!(["Invalid Date", "Invalid Date", "Invalid Date"])),
        ("return [Date.parse(String(new Date(1e12))), +new Date(`${new Date(1e12)}`)];", json!([1e12 as u64, 1e12 as u64])),
        ("const { toString, toTimeString } = Date.prototype; return [toString.name, toString.length, Object.keys(Date.prototype), 'prototype' in toTimeString];", json!(["toString", 0, [], false])),
        ("try { Date.prototype.toString.call({}); } catch (error) { return error.name; }", json!("TypeError")),
        ("return JSON.stringify([new Date(0), Object(1n) + '']);", json!(r#"["1970-01-01T00:00:00.000Z","1"]"#)),
    ])
    .await;
}

#[tokio::test]
async fn the_origin_of_time() {
    all_hold(&[
        // The High Resolution Time standard: the origin and what has passed since are the time of day.
        ("return Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 50;", json!(true)),
        ("const { timeOrigin } = performance; await new Promise((done) => setTimeout(done, 20)); return [performance.timeOrigin === timeOrigin, Number.isFinite(timeOrigin), typeof timeOrigin];", json!([true, true, "number"])),
        ("return [performance.timeOrigin <= Date.now(), Date.now() - performance.timeOrigin < 10000, performance.timeOrigin > Date.UTC(2024, 0)];", json!([true, true, true])),
        ("const before = performance.timeOrigin; try { performance.timeOrigin = 5 } catch {} return performance.timeOrigin === before;", json!(true)),
        ("Date.now = () => 7; return performance.timeOrigin > 7;", json!(true)),
        ("return [performance.now() >= 0, performance.now() < 10000];", json!([true, true])),
        ("const a = performance.now(); for (let at = 0; at < 1e5; at++); return performance.now() > a;", json!(true)),
    ])
    .await;
    // Each invocation of a process has its own.
    let engine = engine_with_one_slot();
    let source = body("return performance.timeOrigin;");
    let mut last = 0.0;
    for _ in 0..3 {
        let origin = run_with(&engine, &source, |_| ()).await.0.unwrap().as_f64().unwrap();
        assert!(origin > last, "{origin} {last}");
        last = origin;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn text_bytes_and_digests() {
    all_hold(&[
        ("return [...new TextEncoder().encode('aé😀')];", json!([97, 195, 169, 240, 159, 152, 128])),
        ("return [...new TextEncoder().encode('\\ud800')];", json!([239, 191, 189])),
        ("return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x68, 0xff]));", json!("h\u{fffd}")),
        ("try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255])) } catch (e) { return e.name }", json!("TypeError")),
        ("const d = new TextDecoder(); const b = new TextEncoder().encode('é😀'); let s = ''; for (const x of b) s += d.decode(new Uint8Array([x]), {stream: true}); return s + d.decode();", json!("é😀")),
        ("return [btoa('hé'), atob('aOk='), atob(' aO k ')];", json!(["aOk=", "hé", "hé"])),
        ("const out = []; for (const f of [() => btoa('😀'), () => atob('a')]) try { f(); out.push('ok') } catch (e) { out.push(e.name) } return out;", json!(["InvalidCharacterError", "InvalidCharacterError"])),
        ("const hex = async (a) => [...new Uint8Array(await crypto.subtle.digest(a, new TextEncoder().encode('abc')))].map((b) => b.toString(16).padStart(2, '0')).join('').slice(0, 16); return [await hex('SHA-1'), await hex({name: 'sha-256'}), await hex('SHA-384'), await hex('SHA-512')];",
         json!(["a9993e364706816a", "ba7816bf8f01cfea", "cb00753f45a35e8b", "ddaf35a193617aba"])),
        ("return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID();", json!(true)),
        ("const a = crypto.getRandomValues(new Uint32Array(64)); return [a.some((x) => x > 0), Math.random() !== Math.random(), Math.random() < 1];", json!([true, true, true])),
        ("try { crypto.getRandomValues(new Float32Array(1)) } catch (e) { return e.name }", json!("TypeMismatchError")),
        ("const m = new Map([['k', new Date(5)]]); const o = {m, b: new Uint8Array([1, 2]), s: new Set([1])}; o.self = o; const c = structuredClone(o); return [c !== o, c.self === c, c.m.get('k').getTime(), [...c.b], [...c.s]];", json!([true, true, 5, [1, 2], [1]])),
        ("try { structuredClone(() => 1) } catch (e) { return e.name }", json!("DataCloneError")),
        ("return [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, Error].map((kind) => { const c = structuredClone(new kind('m')); return c instanceof kind && c.constructor === kind && c.message === 'm' && c.name === kind.name; });",
            json!([true, true, true, true, true, true, true])),
        ("const e = new RangeError('m', { cause: new TypeError('c') }); e.extra = 1; const c = structuredClone(e); return [c !== e, c.cause instanceof TypeError, 'extra' in c, Object.keys(c), c.stack === e.stack];",
            json!([true, true, false, [], true])),
        ("class Own extends RangeError {} const o = new Own('m'); const named = Object.assign(new Error('m'), { name: 'Mine' }); return [structuredClone(o).constructor === RangeError, structuredClone(named).name, structuredClone({ e: o }).e instanceof RangeError];",
            json!([true, "Error", true])),
        ("const c = structuredClone(new DOMException('m', 'AbortError')); return [c instanceof DOMException, c.name, c.message, c.code];", json!([true, "AbortError", "m", 20])),
        ("return [typeof new WeakRef({}).deref(), new WeakRef({}) instanceof WeakRef, WeakRef.name, WeakRef.length, Object.keys(WeakRef.prototype), `${new WeakRef({})}`];",
            json!(["object", true, "WeakRef", 1, [], "[object WeakRef]"])),
        ("const ref = new WeakRef({}); await null; await null; return typeof ref.deref();", json!("undefined")),
        ("const held = {}; const ref = new WeakRef(held); await null; await null; return ref.deref() === held;", json!(true)),
        ("try { WeakRef({}) } catch (e) { return e.name }", json!("TypeError")),
        ("class R extends WeakRef {} return new R({}).deref() !== undefined && new R({}) instanceof R;", json!(true)),
        ("const now = Date.now(); const { timeOrigin } = performance; await new Promise((d) => setTimeout(d, 5)); const sum = timeOrigin + performance.now(); return [Math.abs(timeOrigin - now) < 5000, Math.abs(sum - Date.now()) < 50, performance.timeOrigin === timeOrigin];",
            json!([true, true, true])),
    ])
    .await;
}

#[tokio::test]
async fn timers_microtasks_and_aborts() {
    all_hold(&[
        ("const out = []; setTimeout((x) => out.push(x), 10, 'late'); setTimeout(() => out.push('soon'), 0); queueMicrotask(() => out.push('micro')); await new Promise((d) => setTimeout(d, 30)); return out;", json!(["micro", "soon", "late"])),
        ("let n = 0; const id = setInterval(() => { if (++n === 3) clearInterval(id) }, 1); await new Promise((d) => setTimeout(d, 30)); return n;", json!(3)),
        ("const c = new AbortController(); let seen = 0; c.signal.addEventListener('abort', () => seen++); c.abort(); c.abort(); return [c.signal.aborted, c.signal.reason.name, seen];", json!([true, "AbortError", 1])),
        ("try { await fetch('https://x.example/?wait=5000', {signal: AbortSignal.timeout(10)}) } catch (e) { return e.name }", json!("TimeoutError")),
        ("return [AbortSignal.abort('why').reason, AbortSignal.any([AbortSignal.abort('a')]).aborted];", json!(["why", true])),
        ("const t = performance.now(); await new Promise((d) => setTimeout(d, 5)); return performance.now() - t >= 4;", json!(true)),
    ])
    .await;
}

#[tokio::test]
async fn the_outside() {
    all_hold(&[
        ("const r = await fetch('https://x.example/a', {method: 'POST', body: 'hi', headers: {'X-B': 'c'}}); const j = await r.json(); return [r.status, r.ok, r.url, r.headers.get('x-a'), j.method, j.url, j.body, j.headers];",
         json!([201, true, "https://x.example/a", "b", "POST", "https://x.example/a", "hi", [["content-type", "text/plain;charset=UTF-8"], ["x-b", "c"]]])),
        ("try { await fetch('https://denied.example/') } catch (e) { return [e instanceof Error, e.code, e.message] }", json!([true, "egress_denied", "not allowed"])),
        ("return await (await env.connections.mail.fetch('/send?x=1', {method: 'PUT', body: 'x'})).text();", json!("mail PUT /send?x=1")),
        // What is no path reaches the host as none, which refuses it.
        ("return await (await env.connections.mail.fetch('https://evil.example/')).text();", json!("mail GET https://evil.example/")),
        ("return await (await env.connections.mail.fetch('//evil.example/')).text();", json!("mail GET https://evil.example/")),
        ("return [Object.keys(env.data), Object.keys(env.connections)];", json!([["shop"], ["mail"]])),
        ("return await env.data.shop.select('orders', {done: 'eq.true', order: 'id'});", json!({"project": "shop", "call": {"op": "select", "table": "orders", "query": "done=eq.true&order=id"}})),
        ("return await env.data.shop.select('orders', '?a=eq.1');", json!({"project": "shop", "call": {"op": "select", "table": "orders", "query": "a=eq.1"}})),
        ("return await env.data.shop.get('orders', 'x1');", json!({"project": "shop", "call": {"op": "get", "table": "orders", "id": "x1"}})),
        ("return await env.data.shop.insert('orders', [{a: 1}]);", json!({"project": "shop", "call": {"op": "insert", "table": "orders", "rows": [{"a": 1}]}})),
        ("return await env.data.shop.update('orders', {id: 'eq.1'}, {a: 2});", json!({"project": "shop", "call": {"op": "update", "table": "orders", "query": "id=eq.1", "values": {"a": 2}}})),
        ("return await env.data.shop.delete('orders', {id: 'eq.1'});", json!({"project": "shop", "call": {"op": "delete", "table": "orders", "query": "id=eq.1"}})),
        ("try { await env.data.shop.select('none') } catch (e) { return e.code }", json!("table_not_found")),
    ])
    .await;
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let (result, host) =
        run("const urls = Array.from({length: 12}, (_, i) => `https://x.example/${i}?wait=50`);
         return (await Promise.all(urls.map(async (u) => (await (await fetch(u)).json()).url))).length;")
        .await;
    assert_eq!(result.unwrap(), json!(12));
    assert_eq!(host.concurrent_calls.lock().unwrap().1, 6);
}

#[tokio::test]
async fn console_counts_and_times() {
    let (_, host) = run(
        "console.count(); console.count(); console.countReset(); console.count(); console.countReset('x');
         console.time('t'); console.timeLog('t', 1); console.timeEnd('t'); console.timeLog('t');
         console.dirxml('d'); console.clear();",
    )
    .await;
    let lines = host.log_messages();
    let lines: Vec<&str> =
        lines.iter().map(|line| if line.starts_with("t: ") { "t" } else { line }).collect();
    assert_eq!(
        lines,
        [
            "default: 1",
            "default: 2",
            "default: 1",
            "Count for 'x' does not exist",
            "t",
            "t",
            "Timer 't' does not exist",
            "d"
        ]
    );
}

#[tokio::test]
async fn console_shows_anything() {
    let (result, host) = run(
        "const o = {a: [1, 'x'], m: new Map([[1, {b: 2}]])}; o.self = o;
         console.log(o, 'text', 1n, Symbol('s'), () => 1, undefined, null, new Date(0), new Error('e').message);
         console.log('y'.repeat(1e6)); console.log(Array.from({length: 1e5}, (_, i) => i));
         console.log({ get boom() { throw new Error('x') } }, Object.create(null), new Uint8Array(3));
         console.log(new Proxy({}, { ownKeys() { throw 1 } })); console.log('\\ud800'); console.debug(-0); console.error('bad'); console.log();",
    )
    .await;
    result.unwrap();
    let lines = host.log_messages();
    assert_eq!(
        lines[0],
        "{ a: [1, \"x\"], m: Map {1 => { b: 2 }}, self: [circular] } text 1n Symbol(s) [function anonymous] undefined null 1970-01-01T00:00:00.000Z e"
    );
    assert!(lines[1].len() < 10_000 && lines[2].len() < 10_000);
    assert_eq!(lines[3], "[a value that throws when it is looked at] {} Uint8Array [0, 0, 0]");
    assert_eq!(lines[5], "\u{fffd}");
    assert_eq!(lines.last().unwrap(), "");
}

/// StructuredSerializeWithTransfer and what goes with it (HTML standard, section 2.7).
#[tokio::test]
async fn structured_clones() {
    const BEFORE: &str =
        "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } };";
    let cases = [
        (
            "const c = structuredClone(JSON.parse('{\"__proto__\": {\"admin\": true}, \"a\": 1}')); return [Object.getPrototypeOf(c) === Object.prototype, Object.keys(c), c.admin ?? null, Object.getOwnPropertyDescriptor(c, '__proto__')];",
            json!([true, ["__proto__", "a"], null, {"value": {"admin": true}, "writable": true, "enumerable": true, "configurable": true}]),
        ),
        (
            "let calls = 0; Object.defineProperty(Object.prototype, 'x', { set() { calls++ }, configurable: true }); Object.freeze(Object.prototype); const o = {}; for (const name of ['x', 'toString']) Object.defineProperty(o, name, { value: 1, enumerable: true }); const c = structuredClone(o); return [calls, Object.entries(c)];",
            json!([0, [["x", 1], ["toString", 1]]]),
        ),
        (
            "const a = [1, , 3]; a.extra = 'e'; const c = structuredClone(a); return [c.length, 1 in c, c.extra, structuredClone({ get a() { delete this.b; return 1 }, b: 2 })];",
            json!([3, false, "e", {"a": 1}]),
        ),
        (
            "return [new WeakRef({}), new WeakMap(), new WeakSet(), Promise.resolve(), new FinalizationRegistry(() => {}), (function* () {})(), (async function* () {})(), [].values(), new Map().keys(), Object(Symbol()), Symbol(), () => 1, new ReadableStream()].map((value) => throws(() => structuredClone({ value })));",
            json!(vec!["DataCloneError"; 13]),
        ),
        (
            "const box = structuredClone(Object(5n)); return [typeof box, box instanceof BigInt, box.valueOf() === 5n, typeof structuredClone(Object('x')), structuredClone(Object(false)).valueOf(), structuredClone(7n) === 7n];",
            json!(["object", true, true, "object", false, true]),
        ),
        // What only looks like an object with slots has none.
        (
            "return [Date, Map, Set, RegExp, ArrayBuffer, Number].map((kind) => { const c = structuredClone(Object.assign(Object.create(kind.prototype), { a: 1 })); return Object.getPrototypeOf(c) === Object.prototype && c.a === 1 });",
            json!([true, true, true, true, true, true]),
        ),
        (
            "class Own extends Uint16Array {} class Buffer extends ArrayBuffer {} const from = new Own(new Buffer(8), 2, 2); from[0] = 7; const c = structuredClone(from); return [c.constructor === Uint16Array, c.buffer.constructor === ArrayBuffer, [...c], c.byteOffset, c.buffer.byteLength];",
            json!([true, true, [7, 0], 2, 8]),
        ),
        (
            "return [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array, DataView].filter((kind) => { const c = structuredClone(new kind(new ArrayBuffer(16), 8)); return c.constructor !== kind || c.byteOffset !== 8 || c.byteLength !== 8 });",
            json!([]),
        ),
        (
            "const b = new ArrayBuffer(4, { maxByteLength: 8 }); new Uint8Array(b).set([1, 2, 3, 4]); const c = structuredClone({ b, all: new Uint8Array(b), tail: new Uint8Array(b, 2), two: new Uint8Array(b, 2, 2), data: new DataView(b, 1) }); const before = [c.b.resizable, c.b.maxByteLength, [...new Uint8Array(b)], [...c.all], c.all.buffer === c.b]; c.b.resize(8); return [before, c.all.length, c.tail.length, c.two.length, c.data.byteLength, b.byteLength];",
            json!([[true, 8, [1, 2, 3, 4], [1, 2, 3, 4], true], 8, 6, 2, 7, 4]),
        ),
        (
            "const b = new ArrayBuffer(4, { maxByteLength: 8 }); const beyond = [new Uint8Array(b, 2, 2), new DataView(b, 2)]; b.resize(1); const gone = new ArrayBuffer(4); const view = new Uint8Array(gone); gone.transfer(); return [...beyond, gone, view].map((value) => throws(() => structuredClone(value)));",
            json!(vec!["DataCloneError"; 4]),
        ),
        // Transfers.
        (
            "const b = new ArrayBuffer(4); const view = new Uint8Array(b, 1, 2); view[0] = 9; const other = new ArrayBuffer(2); const c = structuredClone({ m: new Map([['view', view]]), b, s: new Set([view]) }, { transfer: [b, other] }); const v = c.m.get('view'); return [b.detached, b.byteLength, other.detached, view.length, [...v], v.buffer === c.b, c.s.has(v), c.b.byteLength];",
            json!([true, 0, true, 0, [9, 0], true, true, 4]),
        ),
        (
            "const b = new ArrayBuffer(4, { maxByteLength: 8 }); const c = structuredClone({ get a() { b.resize(6); new Uint8Array(b)[5] = 3; return new Uint8Array(b) }, b }, { transfer: [b] }); return [b.detached, c.b.resizable, c.b.byteLength, c.a[5]];",
            json!([true, true, 6, 3]),
        ),
        // A copy that fails detaches nothing.
        (
            "const b = new ArrayBuffer(4); const gone = new ArrayBuffer(1); gone.transfer(); const fails = (value, options) => throws(() => structuredClone(value, options)); return [fails(() => 1, { transfer: [b] }), fails(1, { transfer: [b, b] }), fails(1, { transfer: [b, {}] }), fails(1, { transfer: [new Uint8Array(b)] }), fails(1, { transfer: [new ReadableStream()] }), fails(1, { transfer: [gone] }), fails(1, { transfer: [b, 5] }), fails(1, { transfer: 5 }), fails(1, { transfer: {} }), fails(1, { transfer: null }), fails(1, 5), b.detached];",
            json!([
                "DataCloneError",
                "DataCloneError",
                "DataCloneError",
                "DataCloneError",
                "DataCloneError",
                "DataCloneError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                false
            ]),
        ),
        (
            "return [throws(() => structuredClone()), structuredClone(undefined) === undefined, structuredClone(1, null), structuredClone(1, {}), structuredClone.length, structuredClone.name, throws(() => new structuredClone(1))];",
            json!(["TypeError", true, 1, 1, 1, "structuredClone", "TypeError"]),
        ),
    ];
    let cases: Vec<_> =
        cases.iter().map(|(code, gives)| (format!("{BEFORE} {code}"), gives.clone())).collect();
    let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
    all_hold(&cases).await;
}

#[tokio::test]
async fn listeners_keep_their_order_however_many_they_are() {
    all_hold(&[
        (
            "const t = new EventTarget(); const log = []; const say = (what) => () => log.push(what); const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(say); t.addEventListener('x', a); t.addEventListener('x', b, true); t.addEventListener('x', c); t.addEventListener('x', a, true); t.addEventListener('x', a); t.removeEventListener('x', a); t.addEventListener('x', d); t.addEventListener('x', a, { once: true }); t.dispatchEvent(new Event('x')); log.push('|'); t.dispatchEvent(new Event('x')); return log.join('');",
            json!("bacda|bacd"),
        ),
        (
            "const t = new EventTarget(); const log = []; const late = () => log.push('late'); const gone = () => log.push('gone'); t.addEventListener('x', () => { log.push('first'); t.removeEventListener('x', gone); t.addEventListener('x', gone); t.addEventListener('x', late) }, { once: true }); t.addEventListener('x', gone); t.dispatchEvent(new Event('x')); log.push('|'); t.dispatchEvent(new Event('x')); return log.join(' ');",
            json!("first | gone late"),
        ),
        (
            "const t = new EventTarget(); const log = []; const stop = new AbortController(); const f = () => log.push('f'); t.addEventListener('x', f, { signal: stop.signal }); t.removeEventListener('x', f); t.addEventListener('x', f); stop.abort(); t.dispatchEvent(new Event('x')); const again = new AbortController(); t.addEventListener('x', () => log.push('g'), { signal: again.signal, capture: true }); again.abort(); t.dispatchEvent(new Event('x')); return log.join('');",
            json!("ff"),
        ),
        // Each of them costs the same: the time of an invocation is enough for many.
        (
            "const { signal } = new AbortController(); let heard = 0; const all = Array.from({ length: 20000 }, () => () => { heard++ }); for (const one of all) signal.addEventListener('abort', one); for (const one of all) signal.addEventListener('abort', one); signal.dispatchEvent(new Event('abort')); for (const one of all) signal.removeEventListener('abort', one); signal.dispatchEvent(new Event('abort')); return heard;",
            json!(20_000),
        ),
        (
            "let fired = 0; clearTimeout(String(setTimeout(() => { fired++ }, 1))); clearInterval({ valueOf: ((id) => () => id)(setInterval(() => { fired++ }, 1)) }); clearTimeout('none'); clearTimeout(); clearTimeout(null); await new Promise((done) => setTimeout(done, 20)); return fired;",
            json!(0),
        ),
        (
            "const throws = (call) => { try { call(); return 'no' } catch (error) { return [error instanceof DOMException, error.name] } }; class Own extends Int16Array {} return [Object.prototype.toString.call(crypto), ...[new Float32Array(1), new Float64Array(1), new DataView(new ArrayBuffer(1)), new ArrayBuffer(1), [1], Object.create(Uint8Array.prototype), new Own(1), new BigUint64Array(1), new Uint8Array(65537)].map((view) => throws(() => crypto.getRandomValues(view)))];",
            json!(["[object Crypto]", [true, "TypeMismatchError"], [true, "TypeMismatchError"], [true, "TypeMismatchError"], [false, "TypeError"], [false, "TypeError"], [false, "TypeError"], "no", "no", [true, "QuotaExceededError"]]),
        ),
    ])
    .await;
}

#[tokio::test]
async fn url_search_params() {
    all_hold(&[
        (
            "const p = new URLSearchParams('a=1'); const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } }; return [() => p.append('a'), () => p.append(), () => p.set('a'), () => p.get(), () => p.getAll(), () => p.has(), () => p.delete(), () => p.forEach(), () => p.forEach(1), () => new URLSearchParams([['a']]), () => new URLSearchParams([['a', 'b', 'c']]), () => URLSearchParams.prototype.entries.call({})].map(throws).filter((name) => name !== 'TypeError').concat(`${p}`);",
            json!(["a=1"]),
        ),
        (
            "const p = new URLSearchParams('a=1&b=2&a=3'); const out = []; for (const [name, value] of p) { out.push(name + value); if (name === 'b') { p.append('c', '4'); p.delete('a', '1') } } const keys = p.keys(); keys.next(); p.delete('b'); p.set('z', '5'); out.push([...keys].join(), `${p}`); const seen = []; p.forEach((value, name, own) => { seen.push(name, own === p); if (seen.length === 2) p.append('y', '') }); out.push(seen.join()); return out;",
            json!(["a1", "b2", "c4", "c,z", "a=3&c=4&z=5", "a,true,c,true,z,true,y,true"]),
        ),
        (
            "const { prototype } = URLSearchParams; const i = prototype.entries.call(new URLSearchParams('a=1')); return [prototype[Symbol.iterator] === prototype.entries, Object.prototype.toString.call(i), i[Symbol.iterator]() === i, i.next(), i.next().done, i.next().done, 'return' in i, Object.getOwnPropertyNames(URLSearchParams).sort(), prototype.append.length, prototype.has.length, prototype.delete.length];",
            json!([true, "[object URLSearchParams Iterator]", true, {"value": ["a", "1"], "done": false}, true, true, false, ["length", "name", "prototype"], 2, 1, 1]),
        ),
        (
            "const p = new URLSearchParams([['a', undefined]]); p.append('n', null); p.has('a', undefined); return [`${p}`, p.has('a', undefined), p.has('n', 'x')];",
            json!(["a=undefined&n=null", true, false]),
        ),
        // The URL is written when somebody asks for it.
        (
            "const u = new URL('https://a.example/p?a=1#h'); const p = u.searchParams; const out = []; p.append('b', 'x y'); out.push(u.search, u.hash); p.delete('a'); u.pathname = '/q'; out.push(u.href); p.set('c', '3'); u.search = '?d=4'; out.push(`${p}`, JSON.stringify(u)); p.delete('d'); out.push(`${u}`, u.origin); p.append('e', '5'); u.href = 'https://b.example/?f=6'; out.push(`${p}`, u.href); return out;",
            json!(["?a=1&b=x+y", "#h", "https://a.example/q?b=x+y#h", "d=4", "\"https://a.example/q?d=4#h\"", "https://a.example/q#h", "https://a.example", "f=6", "https://b.example/?f=6"]),
        ),
        (
            "const u = new URL('https://a.example/'); for (let at = 0; at < 30000; at++) u.searchParams.append(`name${at}`, 'value'); return [u.searchParams.size, u.href.endsWith('name29999=value')];",
            json!([30000, true]),
        ),
    ])
    .await;
}
