//! The streams of the Compression standard: data of another implementation, what is not valid, and what becomes large.

use std::time::Duration;

use runs::engine::FailureCode;
use serde_json::json;

use crate::{support::*, surface::all_hold};

/// Code before each case.
const BEFORE: &str = "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } }; const utf8 = (text) => new TextEncoder().encode(text);
    const said = async (promise) => { try { return await promise } catch (error) { return error.name } };
    const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)); const hex = (view) => [...view].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const through = async (stream, ...chunks) => new Response(new ReadableStream({ start(c) { for (const chunk of chunks) c.enqueue(chunk); c.close() } }).pipeThrough(stream)).bytes();
    const small = (format, ...chunks) => through(new CompressionStream(format), ...chunks); const large = (format, ...chunks) => through(new DecompressionStream(format), ...chunks);
    const text = async (format, ...chunks) => new TextDecoder().decode(await large(format, ...chunks)); const FORMATS = ['gzip', 'deflate', 'deflate-raw'];
    const GZIP = bytes('1f8b08000000000000034b4c4a4e01006dc5b7ed04000000'.replace('6dc5b7ed', '11cd82ed')); const DEFLATE = bytes('789c4b4c4a4e010003d8018b'); const RAW = bytes('4b4c4a4e0100');";

macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {{
        let cases = [$((format!("{BEFORE} {}", $code), $gives)),+];
        let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
        all_hold(&cases).await
    }};
}

#[tokio::test]
async fn formats() {
    cases![
        (
            "return [await text('gzip', GZIP), await text('deflate', DEFLATE), await text('deflate-raw', RAW)];",
            json!(["abcd", "abcd", "abcd"])
        ),
        (
            "const out = []; for (const format of FORMATS) out.push(await text(format, await small(format, utf8('привет '.repeat(500)))) === 'привет '.repeat(500)); return out;",
            json!([true, true, true])
        ),
        (
            "const out = []; for (const format of FORMATS) out.push((await large(format, await small(format))).length, (await large(format, await small(format, new Uint8Array(0), utf8('a'), new Uint8Array(0)))).length); return out;",
            json!([0, 1, 0, 1, 0, 1])
        ),
        (
            "const zip = await small('gzip', utf8('abcd')); const view = new DataView(zip.buffer, zip.length - 8); return [hex(zip.slice(0, 4)), view.getUint32(0, true).toString(16), view.getUint32(4, true)];",
            json!(["1f8b0800", "ed82cd11", 4])
        ),
        (
            "const out = []; for (const format of FORMATS) out.push(hex(await small(format, utf8('abcd'))).slice(0, 4)); return out;",
            json!(["1f8b", "789c", "4b4c"])
        ),
        ("return (await small('gzip', new Uint8Array(1e6))).length < 2000;", json!(true)),
        (
            "const noise = crypto.getRandomValues(new Uint8Array(60000)); const out = []; for (const format of FORMATS) { const back = await large(format, await small(format, noise, noise, noise)); out.push(back.length, back.every((byte, at) => byte === noise[at % 60000])) } return out;",
            json!([180_000, true, 180_000, true, 180_000, true])
        ),
        // Stored, fixed and dynamic blocks (RFC 1951, section 3.2.3).
        (
            "return [await text('deflate-raw', bytes('010400fbff61626364')), await text('deflate-raw', bytes('0300')), (await text('deflate-raw', await small('deflate-raw', utf8(Array.from({ length: 3000 }, (_, at) => at).join())))).length];",
            json!(["abcd", "", 13_889])
        ),
        (
            "const one = await small('deflate', utf8('abcd')); return [hex(one.slice(-4)), one.length < 20];",
            json!(["03d8018b", true])
        ),
        (
            "const a = await small('gzip', utf8('abcd')), b = await small('gzip', utf8('ab'), utf8('cd')); return [await text('gzip', a) === await text('gzip', b), hex(a.slice(-8)) === hex(b.slice(-8))];",
            json!([true, true])
        ),
        // Chunks of any size, and views of any kind.
        (
            "const out = []; for (const [format, data] of [['gzip', GZIP], ['deflate', DEFLATE], ['deflate-raw', RAW]]) out.push(await text(format, ...Array.from(data, (byte) => Uint8Array.of(byte)))); return out;",
            json!(["abcd", "abcd", "abcd"])
        ),
        (
            "return [await text('deflate', DEFLATE.buffer), await text('deflate', new DataView(DEFLATE.buffer)), await text('deflate', new Uint8Array([9, ...DEFLATE]).subarray(1)), await text('deflate', new Uint16Array(DEFLATE.slice(0, 12).buffer))];",
            json!(["abcd", "abcd", "abcd", "abcd"])
        ),
        // A header with every field (RFC 1952).
        (
            "return await text('gzip', bytes('1f8b081c01020304020303007879 7a6e006300'.replaceAll(' ', '')), GZIP.slice(10));",
            json!("abcd")
        ),
        (
            "return [throws(() => new CompressionStream()), throws(() => new CompressionStream('br')), throws(() => new DecompressionStream('GZIP')), throws(() => new DecompressionStream(null)), throws(() => CompressionStream('gzip')), `${new CompressionStream('gzip')}`, `${new DecompressionStream('gzip')}`, CompressionStream.length];",
            json!([
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "[object CompressionStream]",
                "[object DecompressionStream]",
                1
            ])
        ),
        (
            "const s = new CompressionStream('gzip'); const get = Object.getOwnPropertyDescriptor(CompressionStream.prototype, 'readable').get; return [s.readable instanceof ReadableStream, s.writable instanceof WritableStream, s.readable === s.readable, throws(() => get.call({}))];",
            json!([true, true, true, "TypeError"])
        ),
    ];
}

#[tokio::test]
async fn what_is_not_valid() {
    cases![
        (
            "const out = []; for (const [format, data] of [['gzip', GZIP], ['deflate', DEFLATE], ['deflate-raw', RAW]]) for (let end = 0; end < data.length; end++) out.push(await said(text(format, data.slice(0, end)))); return [out.length, new Set(out).size, out[0]];",
            json!([42, 1, "TypeError"])
        ),
        (
            "const out = []; for (const [format, data] of [['gzip', GZIP], ['deflate', DEFLATE], ['deflate-raw', RAW]]) out.push(await said(text(format, data, Uint8Array.of(0))), await said(text(format, new Uint8Array([...data, 0]))), await said(text(format, data, data))); return [...new Set(out)];",
            json!(["TypeError"])
        ),
        (
            "const out = []; for (const at of [0, 1, 2, 3, 16, 17, 20, 23]) { const bad = GZIP.slice(); bad[at] ^= 0xe0; out.push(await said(text('gzip', bad))) } return [...new Set(out)];",
            json!(["TypeError"])
        ),
        (
            "const out = []; for (const at of [0, 1, 8, 9, 10, 11]) { const bad = DEFLATE.slice(); bad[at] ^= 0x11; out.push(await said(text('deflate', bad))) } return [...new Set(out)];",
            json!(["TypeError"])
        ),
        (
            "return [await said(text('gzip', DEFLATE)), await said(text('deflate', GZIP)), await said(text('deflate-raw', Uint8Array.of(7))), await said(text('gzip', utf8('no gzip')))];",
            json!(["TypeError", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "const out = []; for (const chunk of ['text', null, undefined, 1, {}, [1]]) out.push(await said(small('gzip', chunk)), await said(large('gzip', chunk))); return [...new Set(out)];",
            json!(["TypeError"])
        ),
        (
            "const s = new DecompressionStream('gzip'); const w = s.writable.getWriter(); const r = s.readable.getReader(); const write = w.write(utf8('no')); return [await said(r.read()), await said(write), await said(w.closed), await said(r.closed)];",
            json!(["TypeError", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "const s = new DecompressionStream('gzip'); const w = s.writable.getWriter(); const closed = w.close(); return [await said(s.readable.getReader().read()), await said(closed)];",
            json!(["TypeError", "TypeError"])
        ),
        // What comes before the error is read.
        (
            "const whole = await small('gzip', new Uint8Array(100000)); const s = new DecompressionStream('gzip'); const w = s.writable.getWriter(); const r = s.readable.getReader(); w.write(whole.slice(0, -8)).catch(() => {}); let n = 0; while (n < 100000) n += (await r.read()).value.length; w.write(new Uint8Array(8)).catch(() => {}); return [n, await said(r.read())];",
            json!([100_000, "TypeError"])
        ),
    ];
}

#[tokio::test]
async fn streams_that_stop_and_streams_that_are_many() {
    cases![
        (
            "const s = new CompressionStream('gzip'); const w = s.writable.getWriter(); await w.abort('why'); return [await s.readable.getReader().read().catch((e) => e), await w.closed.catch((e) => e)];",
            json!(["why", "why"])
        ),
        (
            "const s = new DecompressionStream('deflate'); await s.readable.cancel('why'); return await s.writable.getWriter().closed.catch((e) => e);",
            json!("why")
        ),
        (
            "const out = []; for (let at = 0; at < 200; at++) out.push(await text('gzip', await small('gzip', utf8('x')))); return out.every((t) => t === 'x');",
            json!(true)
        ),
        (
            "const all = []; const use = async () => { const s = new CompressionStream('gzip'); const w = s.writable.getWriter(); all.push(s); s.readable.getReader().read().catch(() => {}); await w.write(utf8('x')) }; let error = null; while (!error) await use().catch((caught) => { error = caught.name }); return [error, all.length];",
            json!(["RangeError", 65])
        ),
        // Those that nobody uses do not count, and those that ended in any way no longer do.
        (
            "const all = []; for (let at = 0; at < 100; at++) all.push(new CompressionStream('gzip'), new DecompressionStream('deflate')); return await text('gzip', await small('gzip', utf8('x')));",
            json!("x")
        ),
        (
            "const ends = {
               cancel: (s, w, r) => r.cancel('why'), abort: (s, w) => w.abort('why'), close: (s, w) => w.close(), 'wrong chunk': (s, w) => said(w.write('text')),
               // The writer waits for its reader, and so would the end of the stream.
               'abort in a chunk': async (s, w, r, data) => { for (let at = 0; at < 3; at++) w.write(data).catch(() => {}); await null; await w.abort('why') },
               'cancel in a chunk': async (s, w, r, data) => { for (let at = 0; at < 3; at++) w.write(data).catch(() => {}); await null; await r.cancel('why') },
             };
             const noise = crypto.getRandomValues(new Uint8Array(60000)); const much = new Uint8Array(300000); for (let at = 0; at < 5; at++) much.set(noise, at * 60000); const zip = await small('gzip', much); const kept = []; const out = [];
             for (const [name, end] of Object.entries(ends)) for (let at = 0; at < 70; at++) {
               const packs = at % 2 === 0; const s = packs ? new CompressionStream('gzip') : new DecompressionStream('gzip'); const w = s.writable.getWriter(); const r = s.readable.getReader(); w.closed.catch(() => {}); r.closed.catch(() => {}); kept.push(s);
               const first = r.read().catch(() => {}); await w.write(packs ? utf8('x') : zip.slice(0, 4000)).catch((error) => out.push([name, at, error.name])); await first;
               if (!packs && name === 'close') { await said(w.close()); continue }
               if (name.includes('chunk')) r.read().catch(() => {});
               await end(s, w, r, packs ? much : zip.slice(4000, 60000)).catch((error) => out.push([name, at, `${error}`]));
             }
             return out.concat(await text('gzip', await small('gzip', utf8('x'))));",
            json!(["x"])
        ),
        // An end in the middle of a chunk ends the write.
        (
            "const s = new CompressionStream('gzip'); const w = s.writable.getWriter(); const r = s.readable.getReader(); const first = r.read(); const write = w.write(Uint8Array.from({ length: 1e6 }, (_, at) => at * at >> 3)); await first; w.closed.catch(() => {}); await w.abort('why'); return [await write.then(() => 'ok', (error) => error), await r.read().catch((error) => error), await w.write(utf8('x')).catch((error) => error)];",
            json!(["ok", "why", "why"])
        ),
        (
            "const r = await new Response(new Blob(['a'.repeat(1000)]).stream().pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'))).text(); return r.length;",
            json!(1000)
        ),
        (
            "const before = Object.getOwnPropertyNames(globalThis).length; new CompressionStream('gzip'); const { writable, enumerable } = Object.getOwnPropertyDescriptor(globalThis, 'DecompressionStream'); return [Object.getOwnPropertyNames(globalThis).length === before, writable, enumerable];",
            json!([true, true, false])
        ),
        (
            "globalThis.TypeError = Error; const s = new DecompressionStream('gzip'); const w = s.writable.getWriter(); w.write(GZIP).catch(() => {}); const { value } = await s.readable.getReader().read(); return value.length;",
            json!(4)
        ),
    ];
}

/// A tenth of a megabyte that becomes 100 MB: read piece by piece they fit, as a whole they do not.
#[tokio::test]
async fn bombs_end_at_the_memory_limit() {
    let bomb = format!(
        "{BEFORE} const zeros = new Uint8Array(1e6); const makes = new CompressionStream('gzip'); const w = makes.writable.getWriter(); \
         const bomb = new Response(makes.readable).bytes(); for (let at = 0; at < 100; at++) await w.write(zeros); await w.close();"
    );
    let patient = |invocation: &mut runs::engine::Invocation| {
        invocation.limits.cpu_time = Duration::from_secs(100);
        invocation.limits.wall_time = Duration::from_secs(120);
    };
    let engine = engine();
    let whole = body(&format!("{bomb} return (await large('gzip', await bomb)).length;"));
    let failure = run_with(&engine, &whole, patient).await.0.unwrap_err();
    assert_failed_with(FailureCode::MemoryExceeded, &failure);
    let pieces = body(&format!(
        "{bomb} const s = new DecompressionStream('gzip'); const w2 = s.writable.getWriter(); w2.write(await bomb); w2.close(); let n = 0; for await (const piece of s.readable) n += piece.length; return n;"
    ));
    assert_eq!(run_with(&engine, &pieces, patient).await.0.unwrap(), json!(100_000_000));
}
