//! Blobs and files as the File API has them, forms as the XHR standard does, and their encoding as multipart/form-data
//! (RFC 7578) in both directions.

use runs::engine::FailureCode;
use serde_json::json;

use crate::{support::*, surface::all_hold};

/// Code before each case.
macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {
        all_hold(&[$((concat!(
            "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } };",
            "const said = async (promise) => { try { await promise; return 'no' } catch (error) { return error.name } };",
            "const utf8 = (text) => new TextEncoder().encode(text);",
            "const lines = (...all) => all.join('\\r\\n');",
            "const form = (body, type = 'multipart/form-data; boundary=b') => new Response(body, { headers: { 'content-type': type } }).formData();",
            $code,
        ), $gives)),+]).await
    };
}

#[tokio::test]
async fn blobs() {
    cases![
        (
            "const b = new Blob(['ab', utf8('c'), utf8('xde').subarray(1).buffer, new Blob(['f'])]); return [b.size, b.type, await b.text()];",
            json!([7, "", "abcxdef"])
        ),
        (
            "const b = new Blob(); return [b.size, b.type, await b.text(), `${b}`, Blob.length];",
            json!([0, "", "", "[object Blob]", 0])
        ),
        (
            "return await new Blob([1, null, { toString: () => 'o' }, 'é', '\\ud800']).text();",
            json!("1nullo\u{e9}\u{fffd}")
        ),
        (
            "return [throws(() => new Blob('text')), throws(() => new Blob(1)), throws(() => new Blob({})), throws(() => new Blob(null)), throws(() => Blob([])), throws(() => new Blob([], 1)), throws(() => new Blob([Symbol()]))];",
            json!([
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError"
            ])
        ),
        ("return await new Blob(new Set(['a', 'b'])).text();", json!("ab")),
        ("return await new Blob(utf8('A')).text();", json!("65")),
        // The type: ASCII in lower case, or none.
        (
            "return ['Text/HTML', 'a\\u007f', 'té', 'text/plain;charset=UTF-8', ''].map((type) => new Blob([], { type }).type);",
            json!(["text/html", "", "", "text/plain;charset=utf-8", ""])
        ),
        (
            "return [new Blob([], null).type, new Blob([], { type: null }).type, new Blob([], { type: undefined }).type];",
            json!(["", "null", ""])
        ),
        // Line endings.
        (
            "return [await new Blob(['a\\r\\nb\\rc\\nd'], { endings: 'native' }).text(), await new Blob(['a\\r\\n']).text(), throws(() => new Blob([], { endings: 'x' }))];",
            json!(["a\nb\nc\nd", "a\r\n", "TypeError"])
        ),
        // A blob keeps what it was made of.
        (
            "const bytes = utf8('abc'); const b = new Blob([bytes]); bytes.fill(0); return await b.text();",
            json!("abc")
        ),
        (
            "const b = new Blob(['abc']); new Uint8Array(await b.arrayBuffer()).fill(0); (await b.bytes()).fill(0); return await b.text();",
            json!("abc")
        ),
        (
            "const b = new Blob(['abc']); for await (const chunk of b.stream()) chunk.fill(0); return await b.text();",
            json!("abc")
        ),
        (
            "const b = new Blob(['abc']); return [(await b.arrayBuffer()) instanceof ArrayBuffer, (await b.bytes()) instanceof Uint8Array, [...await b.bytes()], b.text() instanceof Promise];",
            json!([true, true, [97, 98, 99], true])
        ),
        // Slices.
        (
            "const b = new Blob(['0123456789']); const out = []; for (const args of [[], [3], [3, 5], [-3], [-3, -1], [5, 3], [0, 99], [99], [-99, 2], [1.9, 3.9], [undefined, 2], ['2', '4'], [NaN, 1]]) out.push(await b.slice(...args).text()); return out;",
            json!([
                "0123456789",
                "3456789",
                "34",
                "789",
                "78",
                "",
                "0123456789",
                "",
                "01",
                "12",
                "01",
                "23",
                "0"
            ])
        ),
        (
            "const b = new Blob(['ab'], { type: 'x/y' }); return [b.slice().type, b.slice(0, 1, 'A/B').type, b.slice(0, 1, 'é').type, b.slice(1) instanceof Blob];",
            json!(["", "a/b", "", true])
        ),
        ("return await new Blob(['0123456789']).slice(2, 8).slice(1, 3).text();", json!("34")),
        // What is no blob.
        (
            "const size = Object.getOwnPropertyDescriptor(Blob.prototype, 'size').get; return [throws(() => size.call({})), await said(Blob.prototype.text.call({})), throws(() => Blob.prototype.slice.call(Object.create(Blob.prototype)))];",
            json!(["TypeError", "TypeError", "TypeError"])
        ),
        (
            "const b = new Blob(['x']); const fake = { __proto__: Blob.prototype }; return [b instanceof Blob, fake instanceof Blob, await new Response(fake).text().catch((e) => e.name), Object.getOwnPropertyNames(b)];",
            json!([true, true, "[object Blob]", []])
        ),
        (
            "const b = structuredClone(new Blob(['abc'], { type: 'a/b' })); return [b instanceof Blob, b instanceof File, b.type, await b.text()];",
            json!([true, false, "a/b", "abc"])
        ),
        (
            "return new TextDecoder().decode(await new Blob(['\\ufeffé']).arrayBuffer()) + (await new Blob(['\\ufeffa']).text()).length;",
            json!("é1")
        ),
    ];
}

#[tokio::test]
async fn files() {
    cases![
        (
            "const f = new File(['ab'], 'n.txt', { type: 'Text/Plain', lastModified: 5.7 }); return [f.name, f.size, f.type, f.lastModified, f instanceof Blob, `${f}`, await f.text()];",
            json!(["n.txt", 2, "text/plain", 5, true, "[object File]", "ab"])
        ),
        (
            "const before = Date.now(); const f = new File([], 'x'); return [f.lastModified >= before, f.lastModified <= Date.now(), f.webkitRelativePath];",
            json!([true, true, ""])
        ),
        (
            "return [throws(() => new File()), throws(() => new File([])), throws(() => new File('x', 'y')), throws(() => new File(undefined, 'y'))];",
            json!(["TypeError", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "return [new File([], 'a/b').name, new File([], '\\ud800').name, new File([], 7).name, new File([], '').name];",
            json!(["a/b", "\u{fffd}", "7", ""])
        ),
        (
            "return [new File([], 'x', { lastModified: NaN }).lastModified, new File([], 'x', { lastModified: '12' }).lastModified, new File([], 'x', { lastModified: -3 }).lastModified];",
            json!([0, 12, -3])
        ),
        (
            "const f = new File(['abc'], 'x', { type: 'a/b' }); const s = f.slice(1); return [s instanceof File, s.type, await s.text()];",
            json!([false, "", "bc"])
        ),
        (
            "const f = structuredClone([new File(['abc'], 'x', { lastModified: 9 })])[0]; return [f instanceof File, f.name, f.lastModified, await f.text()];",
            json!([true, "x", 9, "abc"])
        ),
        ("return await new Blob([new File(['a'], 'x'), new File(['b'], 'y')]).text();", json!("ab")),
        (
            "const name = Object.getOwnPropertyDescriptor(File.prototype, 'name').get; return throws(() => name.call(new Blob()));",
            json!("TypeError")
        ),
        (
            "return [new File(['a\\r\\n'], 'x', { endings: 'native' }).size, new File([], 'x', null).type];",
            json!([2, ""])
        ),
    ];
}

#[tokio::test]
async fn forms() {
    cases![
        ("const f = new FormData(); f.append('a', '1'); f.append('b', 2); f.append('a', null); return [[...f], f.get('a'), f.getAll('a'), f.get('none'), f.getAll('none'), f.has('b'), f.has('c')];",
         json!([[["a", "1"], ["b", "2"], ["a", "null"]], "1", ["1", "null"], null, [], true, false])),
        ("const f = new FormData(); for (const n of 'abab') f.append(n, n); f.set('b', 'x'); f.set('c', 'y'); f.delete('a'); f.delete('none'); return [...f];", json!([["b", "x"], ["c", "y"]])),
        ("const f = new FormData(); f.append('a', '1'); f.append('b', '2'); f.append('a', '3'); f.set('a', '4'); return [...f];", json!([["a", "4"], ["b", "2"]])),
        // A blob becomes a file, and a file stays itself unless its name changes.
        ("const f = new FormData(); const file = new File(['x'], 'n', { type: 'a/b', lastModified: 3 }); f.append('a', new Blob(['b'], { type: 'c/d' })); f.append('b', new Blob(), 'given'); f.append('c', file); f.append('d', file, 'other');
          return [f.get('a') instanceof File, f.get('a').name, f.get('a').type, f.get('b').name, f.get('c') === file, f.get('d').name, f.get('d').type, f.get('d').lastModified, await f.get('d').text()];",
         json!([true, "blob", "c/d", "given", true, "other", "a/b", 3, "x"])),
        ("const f = new FormData(); return [throws(() => f.append('a', 'text', 'name')), throws(() => f.set('a', {}, 'name')), throws(() => f.append('a')), throws(() => f.set('a')), throws(() => new FormData({})), throws(() => new FormData(null)), throws(() => FormData()), throws(() => f.forEach())];",
         json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"])),
        ("const f = new FormData(undefined); f.append('\\ud800', '\\udc00'); return [...f];", json!([["\u{fffd}", "\u{fffd}"]])),
        ("const f = new FormData(); f.append('a', '1'); f.append('b', '2'); const seen = []; f.forEach(function (value, name, form) { seen.push(value, name, form === f, this.x) }, { x: 7 }); return [seen, [...f.keys()], [...f.values()], [...f.entries()], f[Symbol.iterator] === f.entries, `${f}`];",
         json!([["1", "a", true, 7, "2", "b", true, 7], ["a", "b"], ["1", "2"], [["a", "1"], ["b", "2"]], true, "[object FormData]"])),
        ("const f = new FormData(); f.append('a', '1'); const seen = []; for (const [name] of f) { seen.push(name); if (seen.length < 3) f.append('more', 'x') } return seen;", json!(["a", "more", "more"])),
        ("const f = new FormData(); f.append('a', 'x\\r\\ny\\rz\\n'); return f.get('a');", json!("x\r\ny\rz\n")),
        ("return [throws(() => FormData.prototype.get.call({}, 'a')), throws(() => FormData.prototype.append.call(new Map(), 'a', 'b'))];", json!(["TypeError", "TypeError"])),
    ];
}

#[tokio::test]
async fn multipart_is_written() {
    cases![
        ("const f = new FormData(); f.append('a', 'é'); f.append('f', new File(['<x>'], 'x.svg', { type: 'image/svg+xml' })); const r = new Response(f); const type = r.headers.get('content-type'); const b = type.split('boundary=')[1];
          return [type.split(';')[0], (await r.text()).replaceAll(b, 'B')];",
         json!(["multipart/form-data", "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\né\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.svg\"\r\nContent-Type: image/svg+xml\r\n\r\n<x>\r\n--B--\r\n"])),
        ("const r = new Response(new FormData()); return [(await r.text()) === `--${r.headers.get('content-type').split('boundary=')[1]}--\\r\\n`];", json!([true])),
        // Characters that would end a name, and line breaks.
        ("const f = new FormData(); f.append('a\"\\n\\r\\nb', 'x\\ny\\r'); f.append('f', new Blob(['\\n']), 'q\"\\r\\n'); const r = new Response(f); const b = r.headers.get('content-type').split('boundary=')[1]; return (await r.text()).replaceAll(b, 'B');",
         json!("--B\r\nContent-Disposition: form-data; name=\"a%22%0D%0A%0D%0Ab\"\r\n\r\nx\r\ny\r\n\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"q%22%0D%0A\"\r\nContent-Type: application/octet-stream\r\n\r\n\n\r\n--B--\r\n")),
        ("const types = Array.from({ length: 3 }, () => new Response(new FormData()).headers.get('content-type')); return new Set(types).size;", json!(3)),
        ("const r = new Response(new FormData(), { headers: { 'content-type': 'x/y' } }); return r.headers.get('content-type');", json!("x/y")),
        ("const f = new FormData(); f.append('a', 'b'); const r = new Request('https://a.example', { method: 'POST', body: f }); return [...await r.clone().formData(), ...await r.formData()];", json!([["a", "b"], ["a", "b"]])),
        ("const f = new FormData(); f.append('a', '1'); const r = await fetch('https://x.example/', { method: 'POST', body: f }); const sent = await r.json(); return [sent.headers[0][1].startsWith('multipart/form-data; boundary='), sent.body.includes('name=\"a\"\\r\\n\\r\\n1\\r\\n')];", json!([true, true])),
        ("const bytes = Uint8Array.from({ length: 256 }, (_, at) => at); const f = new FormData(); f.append('f', new Blob([bytes])); const back = (await new Response(f).formData()).get('f'); return [back.size, [...await back.bytes()].every((byte, at) => byte === at), back.type, back.name];",
         json!([256, true, "application/octet-stream", "blob"])),
        ("const f = new FormData(); f.append('ключ', 'значение 😀'); f.append('f', new File(['x'], 'файл.txt', { type: 'text/plain' })); const back = await new Response(f).formData(); return [back.get('ключ'), back.get('f').name, back.get('f').type, await back.get('f').text()];",
         json!(["значение 😀", "файл.txt", "text/plain", "x"])),
        ("const f = new FormData(); f.append('a\"\\r\\n', new File([], 'b\"\\r\\n')); const [[name, file]] = await new Response(f).formData(); return [name, file.name, file.size];", json!(["a\"\r\n", "b\"\r\n", 0])),
    ];
}

#[tokio::test]
async fn multipart_is_read() {
    cases![
        (
            "return [...await form(lines('--b', 'Content-Disposition: form-data; name=\"a\"', '', '1', '--b', 'Content-Disposition: form-data; name=\"a\"', '', 'two', 'lines', '--b--', ''))];",
            json!([["a", "1"], ["a", "two\r\nlines"]])
        ),
        (
            "const f = (await form(lines('--b', 'Content-Disposition: form-data; name=\"f\"; filename=\"x.png\"', 'Content-Type: image/png', '', '\\0', '--b--'))).get('f'); return [f instanceof File, f.name, f.type, f.size];",
            json!([true, "x.png", "image/png", 1])
        ),
        (
            "const f = (await form(lines('--b', 'Content-Disposition: form-data; name=f; filename=x', '', 'y', '--b--'))).get('f'); return [f.name, f.type, await f.text()];",
            json!(["x", "text/plain", "y"])
        ),
        // Names of fields in any case, other fields, parameters in any order, an empty file name.
        (
            "return [...await form(lines('--b', 'X-Y: z', 'CONTENT-DISPOSITION: Form-Data; x=1; NAME=\"a\"', '', '1', '--b--'))];",
            json!([["a", "1"]])
        ),
        (
            "const f = (await form(lines('--b', 'Content-Disposition: form-data; filename=\"\"; name=\"a\"', '', '', '--b--'))).get('a'); return [f instanceof File, f.name, f.size];",
            json!([true, "", 0])
        ),
        (
            "return [...await form(lines('--b', 'Content-Disposition: form-data; name=\"\"', '', '', '--b--'))];",
            json!([["", ""]])
        ),
        // What stands before the first boundary and after the last is no part.
        (
            "return [...await form(lines('preamble', '--b  ', 'Content-Disposition: form-data; name=\"a\"', '', '1', '--b--', 'epilogue', '--b'))];",
            json!([["a", "1"]])
        ),
        ("return [...await form('--b--')];", json!([])),
        (
            "return [...await form(lines('--b b', 'Content-Disposition: form-data; name=\"a\"', '', '--bx', '--b b--'), 'Multipart/Form-Data; charset=utf-8; boundary=\"b b\"')];",
            json!([["a", "--bx"]])
        ),
        // Text is UTF-8, and a mark at its start stays.
        (
            "return [...(await form(new Blob([lines('--b', 'Content-Disposition: form-data; name=\"é\"', '', ''), utf8('\\ufeffé'), new Uint8Array([255]), lines('', '--b--')]))).entries()];",
            json!([["é", "\u{feff}é\u{fffd}"]])
        ),
        // A quotation mark ends a name: there are no escapes but those of browsers.
        (
            "const named = async (filename) => (await form(lines('--b', `Content-Disposition: form-data; name=\"f\"; filename=${filename}`, '', 'x', '--b--'))).get('f').name; return [await named('\"q%22r\"'), await named('\"C:\\\\x.txt\" ; x=y'), await said(named('\"q\\\\\"r%22\"')), await said(named('\"a\"b')), await said(named('\"a'))];",
            json!(["q\"r", "C:\\x.txt", "TypeError", "TypeError", "TypeError"])
        ),
        // Bad input.
        (
            "const good = lines('--b', 'Content-Disposition: form-data; name=\"a\"', '', '1', '--b--'); const out = []; for (let end = 0; end < good.length; end++) out.push(await said(form(good.slice(0, end)))); return [out.length, out.filter((name) => name === 'TypeError').length];",
            json!([57, 57])
        ),
        (
            "const out = []; for (const body of ['', 'text', '--b', '--b\\r\\n', '--b\\r\\n\\r\\n', '--bx', '--b\\n\\n--b--', lines('--b', 'Content-Disposition: form-data', '', '', '--b--'), lines('--b', 'Content-Disposition: inline; name=a', '', '', '--b--'), lines('--b', '', 'x', '--b--'), lines('--b', 'broken', '', 'x', '--b--')]) out.push(await said(form(body))); return out;",
            json!([
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError"
            ])
        ),
        (
            "const out = []; for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=\"b', 'multipart/mixed; boundary=b', 'text/plain', '']) out.push(await said(form('--b--', type))); return [out, await said(new Response('--b--').formData()), await said(new Response(utf8('a=b')).formData())];",
            json!([
                ["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"],
                "TypeError",
                "TypeError"
            ])
        ),
        (
            "const part = lines('--b', 'Content-Disposition: form-data; name=\"a\"', '', '1', ''); return [[...await form(`${part.repeat(1000)}--b--`)].length, await said(form(`${part.repeat(1001)}--b--`)), await said(form(`${part.repeat(10000)}--b--`))];",
            json!([1000, "TypeError", "TypeError"])
        ),
        (
            "return await said(form(lines('--b', `X: ${'x'.repeat(20000)}`, 'Content-Disposition: form-data; name=a', '', '', '--b--')));",
            json!("TypeError")
        ),
        // Forms in a query's encoding.
        (
            "return [...await form('a=1&b=%C3%A9+x&a=', 'application/x-www-form-urlencoded;charset=UTF-8')];",
            json!([["a", "1"], ["b", "é x"], ["a", ""]])
        ),
        (
            "return [...await new Response(new URLSearchParams({ a: 'b c' })).formData()];",
            json!([["a", "b c"]])
        ),
    ];
}

#[tokio::test]
async fn bodies_are_blobs_both_ways() {
    cases![
        (
            "const r = new Response(new Blob(['ab'], { type: 'A/B' })); const b = await r.blob(); return [r.headers.get('content-type'), b instanceof Blob, b.type, await b.text(), r.bodyUsed];",
            json!(["a/b", true, "a/b", "ab", true])
        ),
        (
            "const r = new Response(new Blob(['ab'])); return [r.headers.get('content-type'), (await r.blob()).type];",
            json!([null, ""])
        ),
        (
            "return [(await new Response('x').blob()).type, (await new Response(null).blob()).size];",
            json!(["text/plain;charset=utf-8", 0])
        ),
        (
            "const r = new Request('https://a.example', { method: 'POST', body: new File(['x'], 'n', { type: 'c/d' }) }); return [r.headers.get('content-type'), await r.text()];",
            json!(["c/d", "x"])
        ),
        (
            "const r = new Response('x'); await r.text(); return [await said(r.blob()), await said(r.formData())];",
            json!(["TypeError", "TypeError"])
        ),
        ("const r = new Response(new Blob(['abc']).stream()); return (await r.blob()).size;", json!(3)),
        (
            "const bytes = await new Response(new Blob(['abc'])).arrayBuffer(); return bytes.byteLength;",
            json!(3)
        ),
        (
            "const r = await fetch('https://x.example/', { method: 'POST', body: new Blob(['hi'], { type: 'text/x' }) }); const sent = await r.json(); return [sent.body, sent.headers];",
            json!(["hi", [["content-type", "text/x"]]])
        ),
        (
            "const blob = new Blob(['abc']); const r = new Response(blob); new Uint8Array(await r.arrayBuffer()).fill(0); return await blob.text();",
            json!("abc")
        ),
        (
            "const before = Object.getOwnPropertyNames(globalThis).length; new Blob(); const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, 'File'); return [Object.getOwnPropertyNames(globalThis).length === before, writable, enumerable, configurable];",
            json!([true, true, false, true])
        ),
        (
            "globalThis.File = 'mine'; new Blob(); const f = new FormData(); f.append('a', new Blob()); return [File, f.get('a').name];",
            json!(["mine", "blob"])
        ),
        (
            "globalThis.TypeError = Error; globalThis.Promise = null; const f = new FormData(); f.append('a', new Blob(['x'])); return [throws(() => new Blob(1)), await f.get('a').text()];",
            json!(["TypeError", "x"])
        ),
    ];
}

/// The bytes of blobs are the engine's memory.
#[tokio::test]
async fn blobs_count_as_memory() {
    let failure = run_expecting_failure(
        "let blob = new Blob(['x'.repeat(1000)]); const all = []; for (;;) { blob = new Blob([blob, blob]); all.push(blob) }",
        |_| (),
    )
    .await;
    assert_failed_with(FailureCode::MemoryExceeded, &failure);
}
