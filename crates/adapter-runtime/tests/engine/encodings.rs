//! Decoders as the Encoding standard has them, for every encoding that it names.

use serde_json::json;

use crate::surface::all_hold;

/// Code before each case.
macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {
        all_hold(&[$((concat!(
            "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } };",
            "const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));",
            "const said = (label, hex, options) => new TextDecoder(label, options).decode(bytes(hex));",
            "const pieces = (label, all, options) => { const d = new TextDecoder(label, options); return all.map((hex) => d.decode(bytes(hex), { stream: true })).concat(d.decode()) };",
            $code,
        ), $gives)),+]).await
    };
}

#[tokio::test]
async fn labels_name_encodings() {
    cases![
        ("return ['utf8', ' UTF-8\\n', 'unicode-1-1-utf-8', 'x-unicode20utf8', 'latin1', 'ascii', 'iso-8859-1', 'l1', 'cp1251', 'x-cp1251', 'koi8', 'koi8-u', 'ibm866', 'sjis', 'ms932', 'gb2312', 'chinese', 'big5-hkscs', 'ksc5601', 'utf-16', 'unicodefffe', 'x-user-defined'].map((label) => new TextDecoder(label).encoding);",
         json!(["utf-8", "utf-8", "utf-8", "utf-8", "windows-1252", "windows-1252", "windows-1252", "windows-1252", "windows-1251", "windows-1251", "koi8-r", "koi8-u", "ibm866", "shift_jis", "shift_jis", "gbk", "gbk", "big5", "euc-kr", "utf-16le", "utf-16be", "x-user-defined"])),
        ("const all = 'utf-8 ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr utf-16be utf-16le x-user-defined'.split(' ');
          return [all.length, all.filter((name) => new TextDecoder(name).encoding !== name)];", json!([39, []])),
        // The replacement encoding cannot be made, by any of its names.
        ("return ['replacement', 'hz-gb-2312', 'iso-2022-kr', 'iso-2022-cn', 'utf-7', 'utf-32', '', 'utf', 'utf-8\\0', null, 1].map((label) => throws(() => new TextDecoder(label)));",
         json!(["RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError", "RangeError"])),
        ("const d = new TextDecoder(); return [d.encoding, d.fatal, d.ignoreBOM, new TextDecoder(undefined).encoding];", json!(["utf-8", false, false, "utf-8"])),
        ("const d = new TextDecoder('cp1251', { fatal: 1, ignoreBOM: 'x' }); return [d.fatal, d.ignoreBOM, throws(() => { d.fatal = false; return d.fatal })];", json!([true, true, "TypeError"])),
    ];
}

#[tokio::test]
async fn single_byte_encodings() {
    cases![
        ("return said('windows-1251', 'cff0e8e2e5f2');", json!("Привет")),
        ("return said('koi8-r', 'f0d2c9d7c5d4');", json!("Привет")),
        ("return said('ibm866', '8fe0a8a2a5e2');", json!("Привет")),
        ("return said('iso-8859-5', 'bfe0d8d2d5e2');", json!("Привет")),
        ("return said('x-mac-cyrillic', '8ff0e8e2e5f2');", json!("Привет")),
        ("return said('windows-1252', '80e9ff81');", json!("€éÿ\u{81}")),
        ("return said('latin1', '9f');", json!("Ÿ")),
        ("return said('iso-8859-15', 'a4');", json!("€")),
        ("return said('windows-1253', 'c1');", json!("Α")),
        (
            "return [said('windows-1253', 'aad2'), throws(() => said('windows-1253', 'aa', { fatal: true })), throws(() => said('windows-1253', 'd2', { fatal: true }))];",
            json!(["\u{fffd}\u{fffd}", "TypeError", "TypeError"])
        ),
        ("return said('x-user-defined', '7f80ff');", json!("\u{7f}\u{f780}\u{f7ff}")),
        ("return [said('windows-1252', 'efbbbf'), said('koi8-u', 'a4b4')];", json!(["ï»¿", "єЄ"])),
        (
            "const d = new TextDecoder('windows-1251'); return [d.decode(bytes('cf'), { stream: true }), d.decode(bytes('f0'), { stream: true }), d.decode()];",
            json!(["П", "р", ""])
        ),
    ];
}

#[tokio::test]
async fn multi_byte_encodings() {
    cases![
        (
            "return [said('shift_jis', '93fa967b8cea'), said('euc-jp', 'c6fccbdcb8ec'), said('iso-2022-jp', '1b2442467c4b5c386c1b2842')];",
            json!(["日本語", "日本語", "日本語"])
        ),
        (
            "return [said('gbk', 'd6d0cec4'), said('gb18030', 'd6d0cec48130813081308130'), said('big5', 'a4a4a4e5'), said('euc-kr', 'c7d1b1b9')];",
            json!(["中文", "中文\u{80}\u{80}", "中文", "한국"])
        ),
        ("return said('gb18030', '9439fc36');", json!("😀")),
        (
            "return [said('utf-16', '3d d8 00 de'.replaceAll(' ', '')), said('utf-16be', 'd83dde00'), said('utf-16le', '6100')];",
            json!(["😀", "😀", "a"])
        ),
        (
            "return [said('utf-16le', 'fffe6100'), said('utf-16be', 'feff0061'), said('utf-16le', 'fffe6100', { ignoreBOM: true }), said('utf-16le', 'feff')];",
            json!(["a", "a", "\u{feff}a", "\u{fffe}"])
        ),
        (
            "return [said('utf-16le', '3dd8'), said('utf-16le', '613d'), said('utf-16le', '61'), throws(() => said('utf-16le', '00dc', { fatal: true })), throws(() => said('utf-16le', '61', { fatal: true }))];",
            json!(["\u{fffd}", "\u{3d61}", "\u{fffd}", "TypeError", "TypeError"])
        ),
        // What an ASCII byte after a lead byte becomes.
        (
            "return [said('shift_jis', '8141'), said('shift_jis', '8130'), said('big5', '8131'), said('euc-kr', '8121'), throws(() => said('shift_jis', '81', { fatal: true }))];",
            json!(["、", "\u{fffd}0", "\u{fffd}1", "\u{fffd}!", "TypeError"])
        ),
        // A character cut at every place.
        (
            "return [pieces('shift_jis', ['93', 'fa96', '7b']), pieces('gb18030', ['94', '39', 'fc', '36']), pieces('utf-16le', ['3d', 'd8', '00', 'de'])];",
            json!([["", "日", "本", ""], ["", "", "", "😀", ""], ["", "", "", "😀", ""]])
        ),
        (
            "return [pieces('euc-jp', ['c6']), pieces('utf-16be', ['d8', '3d'])];",
            json!([["", "\u{fffd}"], ["", "", "\u{fffd}"]])
        ),
        (
            "return [pieces('utf-16le', ['ff', 'fe61', '00']), pieces('utf-16le', ['ff', 'fe61', '00'], { ignoreBOM: true })];",
            json!([["", "", "a", ""], ["", "\u{feff}", "a", ""]])
        ),
        ("return pieces('iso-2022-jp', ['1b', '2442', '46', '7c', '1b2842', '61']).join('');", json!("日a")),
    ];
}

#[tokio::test]
async fn utf_8() {
    cases![
        (
            "return [said('utf-8', 'c3a9'), said('utf-8', 'f09f9880'), said('utf-8', 'efbbbf61'), said('utf-8', 'efbbbf61', { ignoreBOM: true }), said('utf-8', 'efbbbfefbbbf')];",
            json!(["é", "😀", "a", "\u{feff}a", "\u{feff}"])
        ),
        // One replacement for each longest start of a character (Unicode, table 3-8).
        (
            "return ['c0af', 'e0809f', 'f0808041', 'e180e2f09192f1bf41', 'eda080', 'f4918080', 'ff', 'c3'].map((hex) => said('utf-8', hex).replaceAll('\\ufffd', '?'));",
            json!(["??", "???", "???A", "????A", "???", "????", "?", "?"])
        ),
        (
            "return ['c0af', 'e180', 'eda080', 'f4908080', 'ff', '61c3'].map((hex) => throws(() => said('utf-8', hex, { fatal: true })));",
            json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "return [pieces('utf-8', ['c3', 'a9f0', '9f98', '80']), pieces('utf-8', ['ef', 'bb', 'bf61']), pieces('utf-8', ['ef', 'bb', 'bf61'], { ignoreBOM: true }), pieces('utf-8', ['e1', '80'])];",
            json!([
                ["", "é", "", "😀", ""],
                ["", "", "a", ""],
                ["", "", "\u{feff}a", ""],
                ["", "", "\u{fffd}"]
            ])
        ),
        (
            "return [pieces('utf-8', ['f0', '41']), pieces('utf-8', ['e2', '82', 'ac', 'e282', 'c3a9'])];",
            json!([["", "\u{fffd}A", ""], ["", "", "€", "", "\u{fffd}é", ""]])
        ),
        // A decoder begins anew after its end, and after an error.
        (
            "const d = new TextDecoder(); d.decode(bytes('efbbbf61'), { stream: true }); const first = d.decode(); return [first, d.decode(bytes('efbbbf62')), d.decode(bytes('c3')), d.decode(bytes('a9'))];",
            json!(["", "b", "\u{fffd}", "\u{fffd}"])
        ),
        (
            "const d = new TextDecoder('utf-8', { fatal: true }); d.decode(bytes('c3'), { stream: true }); const failed = throws(() => d.decode()); return [failed, d.decode(bytes('c3a9'))];",
            json!(["TypeError", "é"])
        ),
        (
            "const d = new TextDecoder(); return [d.decode(), d.decode(undefined), d.decode(bytes('61').buffer), d.decode(new DataView(bytes('6162').buffer, 1)), d.decode(new Uint16Array([0x6261])), throws(() => d.decode('a')), throws(() => d.decode(null)), throws(() => d.decode([97]))];",
            json!(["", "", "a", "b", "ab", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "const big = new Uint8Array(300001).fill(0xff); big[0] = 0x61; const one = new TextDecoder('windows-1251').decode(big); return [one.length, one.slice(0, 3), new TextDecoder().decode(big).length];",
            json!([300_001, "aяя", 300_001])
        ),
        ("return throws(() => TextDecoder.prototype.decode.call({}));", json!("TypeError")),
        // Each leaves a stream open, more than may be open at once; what nothing holds is freed.
        (
            "for (let at = 0; at < 12000; at++) { new TextDecoder('sjis').decode(bytes('93'), { stream: true }); if (at % 1000 === 0) await null } return 'ok';",
            json!("ok")
        ),
        (
            "const all = []; return throws(() => { for (;;) { const d = new TextDecoder('sjis'); d.decode(bytes('93'), { stream: true }); all.push(d) } });",
            json!("RangeError")
        ),
        (
            "const source = new ReadableStream({ start(c) { for (const hex of ['93', 'fa96', '7b']) c.enqueue(bytes(hex)); c.close() } }); let out = ''; for await (const text of source.pipeThrough(new TextDecoderStream('shift_jis'))) out += `${text}|`; return [out, new TextDecoderStream('l1').encoding, throws(() => new TextDecoderStream('x'))];",
            json!(["日|本|", "windows-1252", "RangeError"])
        ),
    ];
}

#[tokio::test]
async fn text_is_encoded_into_a_view() {
    cases![
        (
            "const into = (text, length) => { const to = new Uint8Array(length); const { read, written } = new TextEncoder().encodeInto(text, to); return [read, written, [...to]] };
             return [into('aé€😀', 10), into('aé€😀', 9), into('aé€', 5), into('aé', 2), into('😀', 3), into('ab', 1), into('', 2), into('a', 0), into('\\ud83d', 3), into('a\\ud83dx', 3)];",
            json!([
                [5, 10, [97, 195, 169, 226, 130, 172, 240, 159, 152, 128]],
                [3, 6, [97, 195, 169, 226, 130, 172, 0, 0, 0]],
                [2, 3, [97, 195, 169, 0, 0]],
                [1, 1, [97, 0]],
                [0, 0, [0, 0, 0]],
                [1, 1, [97]],
                [0, 0, [0, 0]],
                [0, 0, []],
                [1, 3, [239, 191, 189]],
                [1, 1, [97, 0, 0]]
            ])
        ),
        // A mark at the start is text.
        ("const to = new Uint8Array(5); return [new TextEncoder().encodeInto('\\ufeffabc', to), [...to]];", json!([{"read": 3, "written": 5}, [239, 187, 191, 97, 98]])),
        ("const to = new Uint8Array(4); return [new TextEncoder().encodeInto('é', to.subarray(1, 3)), [...to]];", json!([{"read": 1, "written": 2}, [0, 195, 169, 0]])),
        (
            "class Own extends Uint8Array {} return [new ArrayBuffer(4), new Int8Array(4), new Uint8ClampedArray(4), new Uint16Array(4), new DataView(new ArrayBuffer(4)), [0, 0], {}, null, undefined, new Own(1), new Own(new ArrayBuffer(1).transfer())].map((to) => throws(() => new TextEncoder().encodeInto('a', to))).concat(throws(() => new TextEncoder().encodeInto('a')));",
            json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "no", "no", "TypeError"])
        ),
        // Not a call of Rust for each character.
        ("const to = new Uint8Array(4e6); const e = new TextEncoder(); return [e.encodeInto('é'.repeat(2e6), to), e.encodeInto('a'.repeat(5e6), to), to[3999999]];",
         json!([{"read": 2_000_000, "written": 4_000_000}, {"read": 4_000_000, "written": 4_000_000}, 97])),
    ];
}

#[tokio::test]
async fn base64_is_forgiving_as_far_as_the_standard_says() {
    cases![
        (
            "return ['YQ==', 'YQ', 'YWI=', 'YWI', ' Y Q = =\\n', 'YWJj', '', 'YR=='].map(atob);",
            json!(["a", "a", "ab", "ab", "a", "abc", "", "a"])
        ),
        (
            "return ['YQ=', 'YQ===', 'YWJj=', 'YWJj==', '=', '==', '====', 'Y', 'Y===', 'Y=Q=', 'YQ==YQ==', 'YQ==Y', 'Y\\u00a0Q', 'Y-Q_', 'Y\\vQ'].map((text) => throws(() => atob(text))).filter((name) => name !== 'InvalidCharacterError');",
            json!([])
        ),
    ];
}

/// Of a view that follows the length of its buffer, what is there now.
#[tokio::test]
async fn views_of_buffers_that_change_their_size_are_decoded() {
    cases![
        (
            "const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16)).join();
             const b = new ArrayBuffer(4, { maxByteLength: 8 }); const whole = new Uint8Array(b), tail = new Uint8Array(b, 2), fixed = new Uint8Array(b, 0, 3), data = new DataView(b, 1); whole.set([97, 98, 99, 100]); const out = [];
             for (const size of [4, 3, 2, 8]) { b.resize(size); out.push([whole, tail, fixed].map((view) => new TextDecoder().decode(view))); }
             whole.fill(97); out.push(new TextDecoder().decode(whole), new TextDecoder('latin1').decode(tail), new TextDecoder().decode(data), new TextDecoder().decode(whole, { stream: true }));
             out.push(hex(await crypto.subtle.digest('SHA-1', whole)) === hex(await crypto.subtle.digest('SHA-1', bytes('61'.repeat(8))))); b.resize(3); whole.fill(98);
             out.push(hex(await crypto.subtle.digest('SHA-1', whole)) === hex(await crypto.subtle.digest('SHA-1', bytes('626262')))); return out;",
            json!([
                ["abcd", "cd", "abc"], ["abc", "c", "abc"], ["ab", "", ""],
                ["ab\0\0\0\0\0\0", "\0\0\0\0\0\0", "ab\0"],
                "aaaaaaaa", "aaaaaa", "aaaaaaa", "aaaaaaaa", true, true
            ])
        ),
    ];
}
