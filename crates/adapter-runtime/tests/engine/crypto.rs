//! The Web Cryptography API: each algorithm with vectors of its standard and keys and signatures that another implementation
//! made (`data/crypto_vectors.json`, by Node.js 20), and what must be refused.

use std::time::{Duration, Instant};

use runs::engine::FailureCode;
use serde_json::json;

use crate::{support::*, surface::all_hold};

const VECTORS: &str = include_str!("data/crypto_vectors.json");

/// Code before each case.
const BEFORE: &str = "const said = async (promise) => { try { const out = await promise; return typeof out === 'boolean' ? out : 'ok' } catch (error) { return error.name } };
    const utf8 = (text) => new TextEncoder().encode(text); const { subtle } = crypto;
    const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const bytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    const message = utf8('an order'); const HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
    const aes = (raw = new Uint8Array(16), usages = ['encrypt', 'decrypt'], extractable = false) => subtle.importKey('raw', raw, 'AES-GCM', extractable, usages);
    const kdf = (name, secret = utf8('secret'), usages = ['deriveBits', 'deriveKey']) => subtle.importKey('raw', secret, name, false, usages);
    const rsa = (format, name = 'RSASSA-PKCS1-v1_5', hash = 'SHA-256', extractable = true) => subtle.importKey(format, format === 'jwk' ? v.jwk : bytes(v[format]), { name, hash }, extractable, format === 'spki' ? ['verify'] : ['sign']);";

/// Cases as they are in the other files, with the vectors in `v`.
macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {{
        let cases = [$((format!("const v = {VECTORS}; {BEFORE} {}", $code), $gives)),+];
        let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
        all_hold(&cases).await
    }};
}

#[tokio::test]
async fn aes_gcm() {
    cases![
        // NIST SP 800-38D, test cases 1 to 4 and 16 of the submission.
        ("const k = await aes(); return [hex(await subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, k, new Uint8Array(0))), hex(await subtle.encrypt({ name: 'aes-gcm', iv: new Uint8Array(12) }, k, new Uint8Array(16)))];",
         json!(["58e2fccefa7e3061367f1d57a4e7455a", "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"])),
        ("const k = await aes(bytes('feffe9928665731c6d6a8f9467308308')); const iv = bytes('cafebabefacedbaddecaf888'); const out = hex(await subtle.encrypt({ name: 'AES-GCM', iv, additionalData: bytes('feedfacedeadbeeffeedfacedeadbeefabaddad2') }, k, bytes('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39'))); return out.slice(-32);",
         json!("5bc94fbc3221a5db94fae95ae7121a47")),
        // Test cases 5 and 6: ivs of 8 and of 60 bytes.
        ("const k = await aes(bytes('feffe9928665731c6d6a8f9467308308')); const out = [];
          for (const iv of ['cafebabefacedbad', '9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b'])
            out.push(hex(await subtle.encrypt({ name: 'AES-GCM', iv: bytes(iv), additionalData: bytes('feedfacedeadbeeffeedfacedeadbeefabaddad2') }, k, bytes('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39'))).slice(-32));
          return out;",
         json!(["3612d2e79e3b0785561be14aaca2fccb", "619cc5aefffe0bfa462af43c1699d050"])),
        // Keys, ivs and tags of every length, against another implementation.
        ("const out = []; for (const [length, iv, tagLength] of [[16, 12, 128], [24, 12, 96], [32, 16, 128], [32, 12, 32], [16, 16, 64], [16, 1, 128], [24, 13, 104], [32, 8, 32], [32, 60, 120], [16, 128, 112]]) {
            const k = await aes(Uint8Array.from({ length }, (_, at) => at)); const how = { name: 'AES-GCM', iv: Uint8Array.from({ length: iv }, (_, at) => 100 + at), tagLength, additionalData: utf8('head') };
            const sealed = await subtle.encrypt(how, k, message); out.push(hex(sealed) === v[`gcm ${length} ${iv} ${tagLength}`], new TextDecoder().decode(await subtle.decrypt(how, k, sealed)));
            const bad = new Uint8Array(sealed); bad[bad.length - 1] ^= 1; out.push(await said(subtle.decrypt(how, k, bad))) } return out;",
         json!([true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError", true, "an order", "OperationError"])),
        ("const k = await aes(); const how = { name: 'AES-GCM', iv: new Uint8Array(12) }; const sealed = new Uint8Array(await subtle.encrypt(how, k, message)); const out = [];
          for (let at = 0; at < sealed.length; at++) { const bad = sealed.slice(); bad[at] ^= 0x80; out.push(await said(subtle.decrypt(how, k, bad))) }
          return [new Set(out).size, out[0], await said(subtle.decrypt(how, k, sealed.slice(0, 15))), await said(subtle.decrypt(how, k, new Uint8Array(0))), await said(subtle.decrypt({ ...how, additionalData: utf8('x') }, k, sealed)), await said(subtle.decrypt({ ...how, iv: new Uint8Array(12).fill(1) }, k, sealed)), await said(subtle.decrypt({ ...how, tagLength: 96 }, k, sealed))];",
         json!([1, "OperationError", "OperationError", "OperationError", "OperationError", "OperationError", "OperationError"])),
        ("const out = []; for (const length of [0, 1, 15, 17, 20, 31, 33, 64]) out.push(await said(aes(new Uint8Array(length)))); return out;",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError"])),
        ("const k = await aes(); const out = []; for (const how of [{ iv: new Uint8Array(0) }, { iv: new Uint8Array(8) }, {}, { iv: 'text' }, { iv: new Uint8Array(12), tagLength: 100 }, { iv: new Uint8Array(12), tagLength: 0 }, { iv: new Uint8Array(12), tagLength: 999 }, { iv: new Uint8Array(12), additionalData: 'x' }]) out.push(await said(subtle.encrypt({ name: 'AES-GCM', ...how }, k, message))); return out;",
         json!(["OperationError", "ok", "TypeError", "TypeError", "OperationError", "OperationError", "TypeError", "TypeError"])),
        ("const how = { name: 'AES-GCM', iv: new Uint8Array(12) }; const only = await aes(new Uint8Array(16), ['encrypt']); return [await said(subtle.decrypt(how, only, message)), await said(subtle.sign('HMAC', only, message)), await said(subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, only, message)), await said(aes(new Uint8Array(16), ['sign'])), await said(aes(new Uint8Array(16), [])), await said(subtle.importKey('pkcs8', message, 'AES-GCM', false, ['encrypt']))];",
         json!(["InvalidAccessError", "InvalidAccessError", "NotSupportedError", "SyntaxError", "SyntaxError", "NotSupportedError"])),
        ("const out = []; for (const length of [128, 192, 256]) { const k = await subtle.generateKey({ name: 'AES-GCM', length }, true, ['decrypt', 'encrypt', 'wrapKey']); const jwk = await subtle.exportKey('jwk', k); out.push(k.type, k.algorithm, k.usages, jwk.alg, (await subtle.exportKey('raw', k)).byteLength * 8, (await subtle.importKey('jwk', jwk, 'AES-GCM', false, ['encrypt'])).algorithm.length) } return out.slice(0, 6).concat(out[9], out[17]);",
         json!(["secret", {"name": "AES-GCM", "length": 128}, ["encrypt", "decrypt", "wrapKey"], "A128GCM", 128, 128, "A192GCM", 256])),
        ("const out = []; for (const length of [0, 127, 512]) out.push(await said(subtle.generateKey({ name: 'AES-GCM', length }, true, ['encrypt']))); return [...out, await said(subtle.generateKey('AES-GCM', true, ['encrypt'])), await said(subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, []))];",
         json!(["OperationError", "OperationError", "OperationError", "TypeError", "SyntaxError"])),
        ("const jwk = { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA' }; const out = []; for (const change of [{}, { alg: 'A256GCM' }, { use: 'sig' }, { use: 'enc' }, { key_ops: ['encrypt'] }, { key_ops: ['decrypt'] }, { key_ops: ['encrypt', 'encrypt'] }, { k: 'AAAA' }, { k: undefined }, { ext: false }]) out.push(await said(subtle.importKey('jwk', { ...jwk, ...change }, 'AES-GCM', true, ['encrypt']))); return out;",
         json!(["ok", "DataError", "DataError", "ok", "ok", "DataError", "DataError", "DataError", "DataError", "DataError"])),
    ];
}

#[tokio::test]
async fn hkdf_and_pbkdf2() {
    cases![
        // RFC 5869, test case 1 and 3.
        ("const k = await kdf('HKDF', new Uint8Array(22).fill(11)); const how = { name: 'HKDF', hash: 'SHA-256', salt: bytes('000102030405060708090a0b0c'), info: bytes('f0f1f2f3f4f5f6f7f8f9') }; return [hex(await subtle.deriveBits(how, k, 336)), hex(await subtle.deriveBits({ ...how, salt: new Uint8Array(0), info: new Uint8Array(0) }, k, 336)).slice(0, 16)];",
         json!(["3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865", "8da4e775a563c18f"])),
        ("const k = await kdf('HKDF'); const out = []; for (const hash of HASHES) out.push(hex(await subtle.deriveBits({ name: 'hkdf', hash, salt: utf8('salt'), info: utf8('info') }, k, 336)).slice(0, 16)); return out;",
         json!(["6a081dab87a8a918", "f6d2fcc47cb939de", "29c042775183ec5d", "90e269f053d383c4"])),
        // RFC 6070, test case 2; RFC 7914, section 11.
        ("const k = await kdf('PBKDF2', utf8('password')); return hex(await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: utf8('salt'), iterations: 2 }, k, 160));", json!("ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957")),
        ("const k = await kdf('PBKDF2', utf8('passwd')); return hex(await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: utf8('salt'), iterations: 1 }, k, 512)).slice(0, 32);", json!("55ac046e56e3089fec1691c22544b605")),
        ("const k = await kdf('PBKDF2', utf8('password')); const out = []; for (const hash of ['SHA-512', 'SHA-384']) out.push(hex(await subtle.deriveBits({ name: 'PBKDF2', hash, salt: utf8('salt'), iterations: 1000 }, k, 320)).slice(-16)); return out;", json!(["f59de69c48f774ef", "06edb93b5b809efa"])),
        ("const [h, p] = [await kdf('HKDF'), await kdf('PBKDF2')]; const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: message, info: message }; const pbkdf2 = { name: 'PBKDF2', hash: 'SHA-256', salt: message, iterations: 1 }; const out = [];
          for (const length of [null, undefined, 7, 0, 8, 65280, 65288, 2 ** 32 - 8, -1, 2 ** 32]) out.push(await said(subtle.deriveBits(hkdf, h, length)), await said(subtle.deriveBits(pbkdf2, p, length))); return out;",
         json!(["OperationError", "OperationError", "OperationError", "OperationError", "OperationError", "OperationError", "ok", "ok", "ok", "ok", "ok", "ok", "OperationError", "ok", "OperationError", "OperationError", "TypeError", "TypeError", "TypeError", "TypeError"])),
        ("const p = await kdf('PBKDF2'); const how = (change) => ({ name: 'PBKDF2', hash: 'SHA-256', salt: message, iterations: 1, ...change }); return [await said(subtle.deriveBits(how({ iterations: 0 }), p, 256)), await said(subtle.deriveBits(how({ iterations: -1 }), p, 256)), await said(subtle.deriveBits(how({ iterations: undefined }), p, 256)), await said(subtle.deriveBits(how({ salt: undefined }), p, 256)), await said(subtle.deriveBits(how({ hash: 'MD5' }), p, 256)), await said(subtle.deriveBits(how({ hash: undefined }), p, 256)), await said(subtle.deriveBits(how({ iterations: 5000001 }), p, 256)), await said(subtle.deriveBits(how({ iterations: 2500001 }), p, 512)), await said(subtle.deriveBits(how({ iterations: 4294967295 }), p, 8))];",
         json!(["OperationError", "TypeError", "TypeError", "TypeError", "NotSupportedError", "TypeError", "OperationError", "OperationError", "OperationError"])),
        ("const only = await kdf('HKDF', utf8('x'), ['deriveKey']); const how = { name: 'HKDF', hash: 'SHA-256', salt: message, info: message }; return [await said(subtle.deriveBits(how, only, 256)), await said(subtle.deriveBits({ ...how, name: 'PBKDF2', iterations: 1 }, only, 256)), await said(subtle.exportKey('raw', only)), await said(subtle.exportKey('jwk', only)), await said(subtle.importKey('raw', message, 'HKDF', true, ['deriveBits'])), await said(subtle.importKey('jwk', {}, 'HKDF', false, ['deriveBits'])), await said(kdf('HKDF', message, ['sign'])), await said(kdf('HKDF', message, [])), await said(subtle.generateKey('HKDF', false, ['deriveBits'])), await said(subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: message }, only, 8)), await said(subtle.deriveBits('ECDH', only, 8))];",
         json!(["InvalidAccessError", "InvalidAccessError", "NotSupportedError", "NotSupportedError", "SyntaxError", "NotSupportedError", "SyntaxError", "SyntaxError", "NotSupportedError", "TypeError", "NotSupportedError"])),
        ("const k = await kdf('HKDF'); const how = { name: 'HKDF', hash: 'SHA-256', salt: message, info: message }; const made = await subtle.deriveKey(how, k, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); const mac = await subtle.deriveKey(how, k, { name: 'HMAC', hash: 'SHA-384' }, true, ['sign']); const again = await subtle.deriveKey(how, k, 'PBKDF2', false, ['deriveBits']).catch((e) => e.name);
          return [made.algorithm, made.usages, made.extractable, hex(await subtle.exportKey('raw', made)) === hex(await subtle.deriveBits(how, k, 256)), mac.algorithm, again];",
         json!([{"name": "AES-GCM", "length": 256}, ["encrypt"], true, true, {"name": "HMAC", "hash": {"name": "SHA-384"}, "length": 1024}, "OperationError"])),
        ("const k = await kdf('PBKDF2', message, ['deriveBits']); const how = { name: 'PBKDF2', hash: 'SHA-256', salt: message, iterations: 1 }; const both = await kdf('PBKDF2'); return [await said(subtle.deriveKey(how, k, { name: 'AES-GCM', length: 256 }, true, ['encrypt'])), await said(subtle.deriveKey(how, both, { name: 'AES-GCM', length: 1 }, true, ['encrypt'])), await said(subtle.deriveKey(how, both, { name: 'AES-GCM', length: 128 }, true, ['sign'])), await said(subtle.deriveKey(how, both, { name: 'AES-GCM', length: 128 }, true, [])), await said(subtle.deriveKey(how, both, 'ECDSA', true, ['sign'])), await said(subtle.deriveKey(how, both, { name: 'HMAC', hash: 'SHA-256', length: 0 }, true, ['sign'])), await said(subtle.exportKey('raw', await subtle.deriveKey(how, both, { name: 'AES-GCM', length: 128 }, false, ['encrypt'])))];",
         json!(["InvalidAccessError", "OperationError", "SyntaxError", "SyntaxError", "NotSupportedError", "DataError", "InvalidAccessError"])),
    ];
}

#[tokio::test]
async fn ecdsa() {
    cases![
        // RFC 6979, A.2.5 and A.2.6: signatures are deterministic.
        ("const d = 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721'; const x = '60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6'; const y = '7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299'; const b64 = (digits) => btoa(String.fromCharCode(...bytes(digits))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
          const k = await subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', d: b64(d), x: b64(x), y: b64(y) }, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']); return hex(await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, k, utf8('sample')));",
         json!("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")),
        // Signatures of another implementation, with every digest.
        ("const out = []; for (const namedCurve of ['P-256', 'P-384']) { const k = await subtle.importKey('spki', bytes(v[namedCurve].spki), { name: 'ECDSA', namedCurve }, true, ['verify']); for (const hash of HASHES) out.push(await subtle.verify({ name: 'ECDSA', hash }, k, bytes(v[namedCurve][`sig ${hash}`]), message), await subtle.verify({ name: 'ECDSA', hash }, k, bytes(v[namedCurve][`sig ${hash}`]), utf8('no order'))) } return out.join();",
         json!("true,false,true,false,true,false,true,false,true,false,true,false,true,false,true,false")),
        // Every format in and out again.
        ("const out = []; for (const namedCurve of ['P-256', 'P-384']) { const how = { name: 'ecdsa', namedCurve }; const { jwk, pkcs8, spki, raw } = v[namedCurve]; const { d, ...open } = jwk;
            const a = await subtle.importKey('jwk', jwk, how, true, ['sign']); const b = await subtle.importKey('pkcs8', bytes(pkcs8), how, true, ['sign']); const c = await subtle.importKey('raw', bytes(raw), how, true, ['verify']); const e = await subtle.importKey('jwk', { ...open, key_ops: ['verify'] }, how, true, []);
            out.push(hex(await subtle.exportKey('pkcs8', a)) === pkcs8, (await subtle.exportKey('jwk', b)).d === d, hex(await subtle.exportKey('spki', c)) === spki, hex(await subtle.exportKey('raw', e)) === raw, a.type, c.type, a.algorithm.namedCurve, a.algorithm.name) } return out;",
         json!([true, true, true, true, "private", "public", "P-256", "ECDSA", true, true, true, true, "private", "public", "P-384", "ECDSA"])),
        ("const out = []; for (const namedCurve of ['P-256', 'P-384']) { const { publicKey, privateKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve }, false, ['sign', 'verify']); for (const hash of HASHES) { const signature = await subtle.sign({ name: 'ECDSA', hash }, privateKey, message); out.push(signature.byteLength, await subtle.verify({ name: 'ECDSA', hash }, publicKey, signature, message)) } out.push(privateKey.extractable, publicKey.extractable, privateKey.usages, publicKey.usages) } return out;",
         json!([64, true, 64, true, 64, true, 64, true, false, true, ["sign"], ["verify"], 96, true, 96, true, 96, true, 96, true, false, true, ["sign"], ["verify"]])),
        ("const { publicKey, privateKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']); const how = { name: 'ECDSA', hash: 'SHA-256' }; const good = new Uint8Array(await subtle.sign(how, privateKey, message)); const bad = good.slice(); bad[40] ^= 1;
          return [await subtle.verify(how, publicKey, bad, message), await subtle.verify(how, publicKey, good.slice(1), message), await subtle.verify(how, publicKey, new Uint8Array(0), message), await subtle.verify(how, publicKey, new Uint8Array(64), message), await subtle.verify(how, publicKey, new Uint8Array(64).fill(255), message), await said(subtle.verify(how, privateKey, good, message)), await said(subtle.sign(how, publicKey, message)), await said(subtle.exportKey('pkcs8', privateKey)), await said(subtle.exportKey('pkcs8', publicKey)), await said(subtle.exportKey('jwk', privateKey))];",
         json!([false, false, false, false, false, "InvalidAccessError", "InvalidAccessError", "InvalidAccessError", "InvalidAccessError", "InvalidAccessError"])),
        ("const how = { name: 'ECDSA', namedCurve: 'P-256' }; const raw = bytes(v['P-256'].raw); const off = raw.slice(); off[64] ^= 1; return [await said(subtle.importKey('raw', off, how, true, ['verify'])), await said(subtle.importKey('raw', raw.slice(1), how, true, ['verify'])), await said(subtle.importKey('raw', new Uint8Array(1), how, true, ['verify'])), await said(subtle.importKey('raw', raw, { ...how, namedCurve: 'P-384' }, true, ['verify'])), await said(subtle.importKey('raw', raw, { ...how, namedCurve: 'P-521' }, true, ['verify'])), await said(subtle.importKey('raw', raw, 'ECDSA', true, ['verify'])), await said(subtle.importKey('raw', raw, how, true, ['sign'])), await said(subtle.importKey('raw', Uint8Array.of(2 + (raw[64] & 1), ...raw.slice(1, 33)), how, true, ['verify']))];",
         json!(["DataError", "DataError", "DataError", "DataError", "NotSupportedError", "TypeError", "SyntaxError", "ok"])),
        ("const how = { name: 'ECDSA', namedCurve: 'P-256' }; const pkcs8 = bytes(v['P-256'].pkcs8), spki = bytes(v['P-256'].spki); return [await said(subtle.importKey('pkcs8', spki, how, true, ['sign'])), await said(subtle.importKey('spki', pkcs8, how, true, ['verify'])), await said(subtle.importKey('pkcs8', pkcs8.slice(0, -1), how, true, ['sign'])), await said(subtle.importKey('pkcs8', Uint8Array.of(...pkcs8, 0), how, true, ['sign'])), await said(subtle.importKey('pkcs8', bytes(v['P-384'].pkcs8), how, true, ['sign'])), await said(subtle.importKey('pkcs8', bytes(v.pkcs8), how, true, ['sign'])), await said(subtle.importKey('pkcs8', pkcs8, how, true, ['verify'])), await said(subtle.importKey('pkcs8', pkcs8, how, true, [])), await said(subtle.importKey('spki', spki, how, true, []))];",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "SyntaxError", "SyntaxError", "ok"])),
        ("const how = { name: 'ECDSA', namedCurve: 'P-256' }; const { jwk } = v['P-256']; const other = v['P-384'].jwk; const out = []; for (const change of [{ kty: 'RSA' }, { crv: 'P-384' }, { crv: undefined }, { x: undefined }, { y: other.y }, { x: jwk.y, y: jwk.x }, { d: 'AAAA' }, { d: jwk.x }, { alg: 'ES256' }, { alg: 'ES384' }, { use: 'enc' }, { key_ops: ['verify'] }, { d: `${jwk.d}=` }, { d: 'A'.repeat(43) }]) out.push(await said(subtle.importKey('jwk', { ...jwk, ...change }, how, true, ['sign']))); return out;",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "ok", "DataError", "DataError", "DataError", "DataError", "DataError"])),
        ("const out = []; for (const change of [{ namedCurve: 'p-256' }, { namedCurve: 'K-256' }, { namedCurve: undefined }]) out.push(await said(subtle.generateKey({ name: 'ECDSA', ...change }, true, ['sign']))); const ok = { name: 'ECDSA', namedCurve: 'P-256' }; return [...out, await said(subtle.generateKey(ok, true, [])), await said(subtle.generateKey(ok, true, ['verify'])), await said(subtle.generateKey(ok, true, ['encrypt'])), await said(subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']))];",
         json!(["NotSupportedError", "NotSupportedError", "TypeError", "SyntaxError", "SyntaxError", "SyntaxError", "NotSupportedError"])),
        ("const k = await subtle.importKey('pkcs8', bytes(v['P-256'].pkcs8), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']); return [await said(subtle.sign('ECDSA', k, message)), await said(subtle.sign({ name: 'ECDSA', hash: 'MD5' }, k, message)), await said(subtle.sign({ name: 'ECDSA', hash: {} }, k, message)), await said(subtle.sign('Ed25519', k, message)), await said(subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, k, 'text')), await said(subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, null, message))];",
         json!(["TypeError", "NotSupportedError", "TypeError", "InvalidAccessError", "TypeError", "TypeError"])),
    ];
}

#[tokio::test]
async fn ed25519() {
    cases![
        // RFC 8032, section 7.1, tests 1 and 2.
        (
            "const pkcs8 = (seed) => bytes(`302e020100300506032b657004220420${seed}`); const out = []; for (const [seed, data] of [['9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', ''], ['4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', '72']]) { const k = await subtle.importKey('pkcs8', pkcs8(seed), 'Ed25519', true, ['sign']); out.push((await subtle.exportKey('jwk', k)).x, hex(await subtle.sign('Ed25519', k, bytes(data))).slice(0, 32)) } return out;",
            json!([
                "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                "e5564300c360ac729086e2cc806e828a",
                "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw",
                "92a009a9f0d4cab8720e820b5f642540"
            ])
        ),
        (
            "const { ed } = v; const k = await subtle.importKey('pkcs8', bytes(ed.pkcs8), 'ed25519', true, ['sign']); const p = await subtle.importKey('spki', bytes(ed.spki), 'Ed25519', true, ['verify']); return [hex(await subtle.sign('Ed25519', k, message)) === ed.sig, await subtle.verify('Ed25519', p, bytes(ed.sig), message), await subtle.verify('Ed25519', p, bytes(ed.sig), utf8('x')), hex(await subtle.exportKey('pkcs8', k)) === ed.pkcs8, hex(await subtle.exportKey('spki', p)) === ed.spki, (await subtle.exportKey('jwk', k)).d === ed.jwk.d, hex(await subtle.exportKey('raw', p)) === ed.spki.slice(-64), k.algorithm, p.type];",
            json!([true, true, false, true, true, true, true, {"name": "Ed25519"}, "public"])
        ),
        (
            "const { publicKey, privateKey } = await subtle.generateKey('Ed25519', false, ['sign', 'verify']); const s = await subtle.sign('Ed25519', privateKey, message); const bad = new Uint8Array(s.slice(0)); bad[3] ^= 1; return [s.byteLength, await subtle.verify('Ed25519', publicKey, s, message), await subtle.verify('Ed25519', publicKey, bad, message), await subtle.verify('Ed25519', publicKey, s.slice(1), message), await subtle.verify('Ed25519', publicKey, new Uint8Array(0), message), await said(subtle.exportKey('jwk', privateKey)), await said(subtle.verify('Ed25519', privateKey, s, message)), await said(subtle.sign('Ed25519', publicKey, message))];",
            json!([
                64,
                true,
                false,
                false,
                false,
                "InvalidAccessError",
                "InvalidAccessError",
                "InvalidAccessError"
            ])
        ),
        // A point of small order verifies nothing, whatever the signature.
        (
            "const p = await subtle.importKey('raw', bytes('01' + '00'.repeat(31)), 'Ed25519', true, ['verify']); return await subtle.verify('Ed25519', p, bytes('01' + '00'.repeat(63)), message);",
            json!(false)
        ),
        (
            "return [await said(subtle.importKey('raw', new Uint8Array(31), 'Ed25519', true, ['verify'])), await said(subtle.importKey('raw', new Uint8Array(33), 'Ed25519', true, ['verify'])), await said(subtle.importKey('raw', new Uint8Array(32), 'Ed25519', true, ['sign'])), await said(subtle.importKey('pkcs8', bytes(v.ed.spki), 'Ed25519', true, ['sign'])), await said(subtle.importKey('spki', bytes(v['P-256'].spki), 'Ed25519', true, ['verify'])), await said(subtle.importKey('pkcs8', bytes(v.ed.pkcs8), 'Ed25519', true, ['verify'])), await said(subtle.generateKey('Ed25519', true, ['verify'])), await said(subtle.generateKey('X25519', true, ['deriveBits']))];",
            json!([
                "DataError",
                "DataError",
                "SyntaxError",
                "DataError",
                "DataError",
                "SyntaxError",
                "SyntaxError",
                "NotSupportedError"
            ])
        ),
        (
            "const { jwk } = v.ed; const out = []; for (const change of [{}, { kty: 'EC' }, { crv: 'X25519' }, { x: 'AAAA' }, { d: 'AAAA' }, { d: jwk.x }, { alg: 'EdDSA' }, { alg: 'ES256' }, { x: undefined }]) out.push(await said(subtle.importKey('jwk', { ...jwk, ...change }, 'Ed25519', true, ['sign']))); return out;",
            json!([
                "ok",
                "DataError",
                "DataError",
                "DataError",
                "DataError",
                "DataError",
                "ok",
                "DataError",
                "DataError"
            ])
        ),
    ];
}

#[tokio::test]
async fn rsa_signatures() {
    cases![
        // PKCS #1 v1.5 is deterministic: the same signatures as another implementation makes.
        ("const out = []; for (const hash of HASHES.slice(1)) { const k = await rsa('pkcs8', 'RSASSA-PKCS1-v1_5', hash); out.push(hex(await subtle.sign('RSASSA-PKCS1-v1_5', k, message)) === v[`pkcs1 ${hash}`]) } return out;", json!([true, true, true])),
        ("const out = []; for (const hash of HASHES) { const k = await rsa('spki', 'rsassa-pkcs1-v1_5', hash); const s = bytes(v[`pkcs1 ${hash}`]); out.push(await subtle.verify('RSASSA-PKCS1-v1_5', k, s, message), await subtle.verify('RSASSA-PKCS1-v1_5', k, s, utf8('x'))); s[9] ^= 1; out.push(await subtle.verify('RSASSA-PKCS1-v1_5', k, s, message)) } return out.join();",
         json!("true,false,false,true,false,false,true,false,false,true,false,false")),
        ("const out = []; for (const hash of HASHES.slice(1)) { const how = { name: 'RSA-PSS', saltLength: hash.slice(4) / 8 }; const [k, p] = [await rsa('pkcs8', 'RSA-PSS', hash), await rsa('spki', 'RSA-PSS', hash)]; const [a, b] = [await subtle.sign(how, k, message), await subtle.sign(how, k, message)]; out.push(await subtle.verify(how, p, bytes(v[`pss ${hash}`]), message), await subtle.verify(how, p, a, message), hex(a) !== hex(b), await subtle.verify(how, p, a, utf8('x'))) } return out.join();",
         json!("true,true,true,false,true,true,true,false,true,true,true,false")),
        // Every format in and out again.
        ("const a = await rsa('jwk'); const b = await rsa('pkcs8'); const c = await rsa('spki'); const jwk = await subtle.exportKey('jwk', b); return [hex(await subtle.exportKey('pkcs8', a)) === v.pkcs8, ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'].every((name) => jwk[name] === v.jwk[name]), jwk.alg, jwk.key_ops, hex(await subtle.exportKey('spki', c)) === v.spki, (await subtle.exportKey('jwk', c)).n === v.jwk.n, a.type, a.algorithm.name, a.algorithm.hash, a.algorithm.modulusLength, [...c.algorithm.publicExponent], c.algorithm.publicExponent instanceof Uint8Array];",
         json!([true, true, "RS256", ["sign"], true, true, "private", "RSASSA-PKCS1-v1_5", {"name": "SHA-256"}, 2048, [1, 0, 1], true])),
        // The primes in the other order are a valid key too.
        ("const { jwk } = v; const swapped = { ...jwk, p: jwk.q, q: jwk.p, dp: jwk.dq, dq: jwk.dp }; const big = (text) => BigInt(`0x${hex(Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)))}`); const [p, q] = [big(swapped.p), big(swapped.q)];
          const inverse = (a, m) => { let [x, y, r, s] = [0n, 1n, m, a % m]; while (s > 0n) { const t = r / s; [x, y, r, s] = [y, x - t * y, s, r - t * s] } return (x + m) % m }; let digits = inverse(q, p).toString(16); if (digits.length % 2) digits = `0${digits}`; swapped.qi = btoa(String.fromCharCode(...bytes(digits))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
          const k = await subtle.importKey('jwk', swapped, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['sign']); return [hex(await subtle.sign('RSASSA-PKCS1-v1_5', k, message)) === v['pkcs1 SHA-256'], (await subtle.exportKey('jwk', k)).p === jwk.q];",
         json!([true, true])),
        ("const [k, p] = [await rsa('pkcs8'), await rsa('spki')]; const name = 'RSASSA-PKCS1-v1_5'; return [await said(subtle.verify(name, k, message, message)), await said(subtle.sign(name, p, message)), await said(subtle.sign({ name: 'RSA-PSS', saltLength: 32 }, k, message)), await subtle.verify(name, p, new Uint8Array(0), message), await subtle.verify(name, p, new Uint8Array(255), message), await subtle.verify(name, p, new Uint8Array(256).fill(255), message), await said(subtle.exportKey('raw', p)), await said(subtle.exportKey('pkcs8', p)), await said(subtle.exportKey('spki', k)), await said(subtle.exportKey('pkcs8', await rsa('pkcs8', name, 'SHA-256', false)))];",
         json!(["InvalidAccessError", "InvalidAccessError", "InvalidAccessError", false, false, false, "NotSupportedError", "InvalidAccessError", "InvalidAccessError", "InvalidAccessError"])),
        ("const k = await rsa('pkcs8', 'RSA-PSS'); const out = []; for (const saltLength of [0, 20, 31, 33, undefined, -1]) out.push(await said(subtle.sign({ name: 'RSA-PSS', saltLength }, k, message))); return [...out, await said(rsa('pkcs8', 'RSASSA-PKCS1-v1_5', 'SHA-1')), await said(rsa('spki', 'RSA-PSS', 'SHA-1')), await said(rsa('spki', 'RSA-PSS', 'MD5')), await said(rsa('spki', 'RSA-OAEP'))];",
         json!(["NotSupportedError", "NotSupportedError", "NotSupportedError", "NotSupportedError", "TypeError", "TypeError", "NotSupportedError", "NotSupportedError", "NotSupportedError", "NotSupportedError"])),
        ("const how = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }; const { jwk } = v; const out = []; for (const change of [{ kty: 'EC' }, { alg: 'RS512' }, { alg: 'PS256' }, { n: undefined }, { e: undefined }, { p: undefined }, { qi: undefined }, { d: jwk.p }, { p: jwk.n }, { dp: jwk.dq }, { qi: jwk.p }, { n: jwk.p }, { oth: [] }, { e: 'Ag' }, { n: `AA${jwk.n}` }, { use: 'enc' }, { n: '+' }]) out.push(await said(subtle.importKey('jwk', { ...jwk, ...change }, how, true, ['sign']))); return out;",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "DataError", "NotSupportedError", "NotSupportedError", "DataError", "DataError", "DataError", "DataError"])),
        ("const how = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }; const pkcs8 = bytes(v.pkcs8); const broken = pkcs8.slice(); broken[600] ^= 1; return [await said(subtle.importKey('pkcs8', broken, how, true, ['sign'])), await said(subtle.importKey('pkcs8', pkcs8.slice(0, 100), how, true, ['sign'])), await said(subtle.importKey('pkcs8', bytes(v['P-256'].pkcs8), how, true, ['sign'])), await said(subtle.importKey('spki', bytes(v['P-256'].spki), how, true, ['verify'])), await said(subtle.importKey('spki', pkcs8, how, true, ['verify'])), await said(subtle.importKey('pkcs8', pkcs8, how, true, ['verify'])), await said(subtle.importKey('raw', pkcs8, how, true, ['verify'])), await said(subtle.importKey('pkcs8', pkcs8, 'RSA-PSS', true, ['sign']))];",
         json!(["DataError", "DataError", "DataError", "DataError", "DataError", "SyntaxError", "NotSupportedError", "TypeError"])),
        ("const how = (change) => ({ name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: Uint8Array.of(1, 0, 1), ...change }); const out = []; for (const change of [{ modulusLength: 1024 }, { modulusLength: 2049 }, { modulusLength: 4608 }, { modulusLength: 2 ** 31 }, { modulusLength: undefined }, { publicExponent: Uint8Array.of(3) }, { publicExponent: Uint8Array.of(0) }, { publicExponent: [1, 0, 1] }, { hash: 'SHA-1' }, { hash: undefined }]) out.push(await said(subtle.generateKey(how(change), true, ['sign']))); return [...out, await said(subtle.generateKey(how({}), true, [])), await said(subtle.generateKey(how({}), true, ['encrypt']))];",
         json!(["OperationError", "OperationError", "OperationError", "OperationError", "TypeError", "NotSupportedError", "NotSupportedError", "TypeError", "NotSupportedError", "TypeError", "SyntaxError", "SyntaxError"])),
    ];
}

#[tokio::test]
async fn rsa_keys_are_generated() {
    let code = format!(
        "{BEFORE} const how = {{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: Uint8Array.of(0, 1, 0, 1) }};
         const {{ publicKey, privateKey }} = await subtle.generateKey(how, true, ['sign', 'verify']);
         const s = await subtle.sign('RSASSA-PKCS1-v1_5', privateKey, message); const jwk = await subtle.exportKey('jwk', privateKey);
         const again = await subtle.importKey('jwk', jwk, how, false, ['sign']);
         return [await subtle.verify('RSASSA-PKCS1-v1_5', publicKey, s, message), hex(s) === hex(await subtle.sign('RSASSA-PKCS1-v1_5', again, message)), publicKey.algorithm.modulusLength, publicKey.usages, privateKey.usages];"
    );
    let (result, _) = run_with(&engine(), &body(&code), |invocation| {
        invocation.limits.cpu_time = Duration::from_secs(60);
        invocation.limits.wall_time = Duration::from_secs(120);
    })
    .await;
    assert_eq!(result.unwrap(), json!([true, true, 2048, ["verify"], ["sign"]]));
}

/// What code makes of the language and of its objects changes no key.
#[tokio::test]
async fn keys_are_what_they_were_made() {
    cases![
        ("const k = await subtle.importKey('raw', utf8('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']); for (const name of ['extractable', 'type', 'usages', 'algorithm']) Object.defineProperty(k, name, { value: true }); Array.prototype.includes = Array.prototype.some = Array.prototype.every = () => true; Array.prototype.find = () => undefined; Object.prototype.extractable = true; Map.prototype.get = () => true;
          return [await said(subtle.exportKey('raw', k)), await said(subtle.verify('HMAC', k, new Uint8Array(32), message))];",
         json!(["InvalidAccessError", "InvalidAccessError"])),
        ("const seen = []; const { push } = Array.prototype; const spy = (where, name) => { const own = where[name]; where[name] = function (...args) { seen[seen.length] = [this, args]; return own.apply(this, args) } }; for (const name of ['slice', 'set', 'subarray', 'join']) spy(Uint8Array.prototype.__proto__, name); for (const name of ['slice', 'map', 'push']) spy(Array.prototype, name);
          const k = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']); const pair = await subtle.generateKey('Ed25519', false, ['sign']); await subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, k, message); await subtle.sign('Ed25519', pair.privateKey, message);
          let secrets = 0; for (const [self] of seen) if (self instanceof Uint8Array && self.length === 32) secrets++; return secrets;", json!(0)),
        ("const k = await aes(); const fake = { __proto__: CryptoKey.prototype }; const how = { name: 'AES-GCM', iv: new Uint8Array(12) }; return [fake instanceof CryptoKey, await said(subtle.encrypt(how, fake, message)), await said(subtle.encrypt(how, new Proxy(k, {}), message)), await said(subtle.encrypt(how, Object.create(k), message)), await said(subtle.exportKey('raw', 1)), Object.getOwnPropertyNames(k), `${k}`];",
         json!([true, "TypeError", "TypeError", "TypeError", "TypeError", [], "[object CryptoKey]"])),
        ("const k = await aes(new Uint8Array(16), ['encrypt'], true); const c = structuredClone({ k }).k; const how = { name: 'AES-GCM', iv: new Uint8Array(12) }; return [c !== k, c instanceof CryptoKey, c.usages, c.algorithm, hex(await subtle.encrypt(how, c, message)) === hex(await subtle.encrypt(how, k, message)), hex(await subtle.exportKey('raw', c))];",
         json!([true, true, ["encrypt"], {"name": "AES-GCM", "length": 128}, true, "00000000000000000000000000000000"])),
        ("return [await said(subtle.importKey('x', message, 'AES-GCM', false, ['encrypt'])), await said(subtle.importKey('raw', message, 'AES-GCM', false, ['x'])), await said(subtle.importKey('raw', message, 'AES-GCM', false)), await said(subtle.importKey('raw', message, {}, false, [])), await said(subtle.importKey('raw', {}, 'AES-GCM', false, ['encrypt'])), await said(subtle.importKey('jwk', message, 'AES-GCM', false, ['encrypt'])), await said(subtle.importKey('raw', new Uint8Array(20000), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']))];",
         json!(["TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError", "DataError"])),
        // Keys that nothing holds are freed; those that code holds are bounded.
        ("for (let at = 0; at < 6000; at++) await aes(); return 'ok';", json!("ok")),
        ("const all = []; let last; while (last === undefined) await aes().then((k) => all.push(k), (error) => { last = error.name }); return [all.length, last];", json!([4096, "OperationError"])),
        ("const { subtle: one } = crypto; return [one === crypto.subtle, `${one}`, Object.getOwnPropertyNames(globalThis).includes('CryptoKey'), await said(one.digest('MD5', message)), await said(one.digest('SHA-256', 'text')), hex(await one.digest({ name: 'sha-1' }, utf8('abc'))).slice(0, 8)];",
         json!([true, "[object SubtleCrypto]", true, "NotSupportedError", "TypeError", "a9993e36"])),
    ];
}

/// What takes long is bounded, and ends at the limit of processor time.
#[tokio::test]
async fn long_derivations_end_at_the_cpu_limit() {
    let code = format!(
        "{BEFORE} const k = await kdf('PBKDF2'); for (;;) await subtle.deriveBits({{ name: 'PBKDF2', hash: 'SHA-512', salt: message, iterations: 5e6 }}, k, 512);"
    );
    let started = Instant::now();
    let failure = run_expecting_failure(&code, |invocation| {
        invocation.limits.cpu_time = Duration::from_millis(300);
        invocation.limits.wall_time = Duration::from_secs(120);
    })
    .await;
    assert_failed_with(FailureCode::CpuExceeded, &failure);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
