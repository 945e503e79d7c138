//! Secrets in `env`: handles, whose text is no secret, and the keys that are made of them.

use runs::engine::{Engine as _, HandlerOutput};
use serde_json::json;

use crate::{support::*, surface::all_hold};

#[tokio::test]
async fn a_handle_shows_its_name_and_nothing_else() {
    all_hold(&[
        ("const { KEY } = env.secrets; return [String(KEY), `${KEY}`, 'Bearer ' + KEY, JSON.stringify({ KEY }), typeof KEY];",
         json!(["[secret KEY]", "[secret KEY]", "Bearer [secret KEY]", "{\"KEY\":\"[secret KEY]\"}", "object"])),
        ("return [env.secrets.PLAIN, Object.keys(env.secrets), env.secrets.NONE ?? null];", json!(["in-clear", ["KEY", "PLAIN"], null])),
        ("const { KEY } = env.secrets; return [Object.keys(KEY), Object.getOwnPropertyNames(KEY), Object.isFrozen(KEY), Object.isFrozen(env.secrets)];",
         json!([[], [], true, true])),
        // The name cannot be changed, and nobody else makes a handle.
        ("const { KEY } = env.secrets; try { KEY.x = 1; return 'changed' } catch {} try { new KEY.constructor('x', 'OTHER'); return 'made' } catch (error) { return [error.name, KEY.x ?? null] }",
         json!(["TypeError", null])),
        ("const fake = Object.create(Object.getPrototypeOf(env.secrets.KEY)); try { return `${fake}` } catch (error) { return error.name }", json!("TypeError")),
        // A handle is no bytes and no text for what wants these.
        ("const out = []; for (const act of [() => crypto.subtle.digest('SHA-256', env.secrets.KEY), () => crypto.subtle.importKey('raw', String(env.secrets.KEY), 'HKDF', false, ['deriveBits'])]) out.push(await act().then(() => 'done', (error) => error.name)); return out;",
         json!(["TypeError", "TypeError"])),
        // Headers carry its text, which the gate knows.
        ("const r = await fetch('https://x.example/', { headers: { authorization: `Bearer ${env.secrets.KEY}`, 'x-api-key': env.secrets.KEY } }); return (await r.json()).headers;",
         json!([["authorization", "Bearer [secret KEY]"], ["x-api-key", "[secret KEY]"]])),
    ])
    .await;
    let (_, host) = run("console.log(env.secrets.KEY, { a: env.secrets.KEY }, [env.secrets]);").await;
    assert_eq!(
        host.log_messages(),
        ["[secret KEY] { a: [secret KEY] } [{ KEY: [secret KEY], PLAIN: \"in-clear\" }]"]
    );
}

/// Code before each case: makes a key of the secret, and one of the same bytes that the code has.
const KEYS: &str = "const subtle = crypto.subtle; const bytes = new TextEncoder().encode('s3cret-of-the-app-0123456789abcd'); const data = new TextEncoder().encode('message'); const hex = (buffer) => Array.from(new Uint8Array(buffer), (b) => b.toString(16).padStart(2, '0')).join(''); const named = (promise) => promise.then(() => 'done', (error) => error.name); const hmac = { name: 'HMAC', hash: 'SHA-256' };";

#[tokio::test]
async fn a_secret_becomes_a_key_that_cannot_be_exported() {
    let cases = [
        (
            "const key = await subtle.importKey('raw', env.secrets.KEY, hmac, true, ['sign']); const own = await subtle.importKey('raw', bytes, hmac, false, ['sign']); return [hex(await subtle.sign('HMAC', key, data)) === hex(await subtle.sign('HMAC', own, data)), key.extractable, key.usages, key.type, await named(subtle.exportKey('raw', key)), await named(subtle.exportKey('jwk', key))];",
            json!([true, false, ["sign"], "secret", "InvalidAccessError", "InvalidAccessError"]),
        ),
        (
            "const iv = new Uint8Array(12); const key = await subtle.importKey('raw', env.secrets.KEY, 'AES-GCM', false, ['encrypt', 'decrypt']); const own = await subtle.importKey('raw', bytes, 'AES-GCM', false, ['decrypt']); const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, key, data); return new TextDecoder().decode(await subtle.decrypt({ name: 'AES-GCM', iv }, own, sealed));",
            json!("message"),
        ),
        (
            "const from = { name: 'HKDF', hash: 'SHA-256', salt: data, info: data }; const key = await subtle.importKey('raw', env.secrets.KEY, 'HKDF', false, ['deriveBits', 'deriveKey']); const bits = await subtle.deriveBits(from, key, 256); const derived = await subtle.deriveKey(from, key, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); return hex(bits) === hex(await subtle.exportKey('raw', derived));",
            json!(true),
        ),
        // Uses that the manifest does not name, or that no secret has.
        (
            "return [await named(subtle.importKey('raw', env.secrets.KEY, hmac, false, ['sign', 'verify'])), await named(subtle.importKey('raw', env.secrets.KEY, 'AES-GCM', false, ['encrypt', 'wrapKey'])), await named(subtle.importKey('raw', env.secrets.KEY, hmac, false, [])), await named(subtle.importKey('raw', env.secrets.KEY, hmac, false, ['encrypt']))];",
            json!(["Error", "InvalidAccessError", "Error", "SyntaxError"]),
        ),
        (
            "const key = await subtle.importKey('raw', env.secrets.KEY, hmac, false, ['sign']); return [await named(subtle.verify('HMAC', key, data, data)), await named(subtle.sign('Ed25519', key, data))];",
            json!(["InvalidAccessError", "InvalidAccessError"]),
        ),
        (
            "return await subtle.importKey('raw', env.secrets.KEY, hmac, false, ['verify']).catch((error) => [error.code, error.message]);",
            json!(["secret_unavailable", "not allowed"]),
        ),
        // A secret that is no key of this kind.
        (
            "return [await named(subtle.importKey('jwk', env.secrets.KEY, hmac, false, ['sign'])), await named(subtle.importKey('pkcs8', env.secrets.KEY, 'Ed25519', false, ['sign'])), await named(subtle.importKey('spki', env.secrets.KEY, 'Ed25519', false, ['sign']))];",
            json!(["DataError", "DataError", "DataError"]),
        ),
        // What code makes of the language changes nothing.
        (
            "const { importKey } = subtle; Array.prototype.map = () => ['sign', 'verify']; Object.prototype.extractable = true; const key = await importKey('raw', env.secrets.KEY, hmac, true, ['sign']).catch((error) => error); return [key.extractable ?? 'none', key instanceof CryptoKey ? await named(subtle.exportKey('raw', key)) : key.code];",
            json!([true, "secret_unavailable"]),
        ),
    ];
    let cases: Vec<_> = cases.iter().map(|(code, gives)| (format!("{KEYS} {code}"), gives.clone())).collect();
    let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
    all_hold(&cases).await;
}

#[tokio::test]
async fn a_private_key_in_pem_signs() {
    // Of RFC 8410, section 10.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
    let code = body(&format!(
        "const key = await crypto.subtle.importKey('pkcs8', env.secrets.KEY, 'Ed25519', false, ['sign']);
         const open = await crypto.subtle.importKey('spki', Uint8Array.from(atob('{PUBLIC}'), (c) => c.charCodeAt(0)), 'Ed25519', true, ['verify']);
         const data = new Uint8Array(3);
         return crypto.subtle.verify('Ed25519', open, await crypto.subtle.sign('Ed25519', key, data), data);"
    ));
    let host = TestHost::new();
    *host.secret.lock().unwrap() = Some(PEM.to_owned());
    let invocation = scheduled(1, bundle_of(&[("main.js", &code)]), &json!(null));
    let output = engine().invoke(invocation, host).await.unwrap();
    assert!(matches!(output, HandlerOutput::Scheduled(json) if json.get() == "true"));
}
