//! The tables of `docs/runtime.md`, compared with the engine in both directions.

use std::collections::BTreeMap;

use runs::engine::{Engine as _, HandlerCall, HandlerOutput, HttpRequest};
use serde_json::{Value, json};

use crate::support::*;

const PAGE: &str = include_str!("../../../../docs/runtime.md");

/// Names of the language itself (ECMA-262), which the tables do not list.
const LANGUAGE: &str = "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack \
     Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array \
     InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String \
     SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet \
     decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape";

/// The names of the tables, with `true` for those that are offered.
fn tables() -> BTreeMap<&'static str, bool> {
    let row = |line: &'static str| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let name = cells.next()?.strip_suffix('`')?;
        match cells.next()? {
            "yes" => Some((name, true)),
            "no" => Some((name, false)),
            other => panic!("{name} is said to be {other:?}"),
        }
    };
    PAGE.lines().filter_map(row).collect()
}

#[tokio::test]
async fn the_tables_say_what_is_there() {
    let tables = tables();
    assert!(tables.len() > 80, "the tables are gone");
    let names: Vec<&str> = tables.keys().copied().collect();
    let source = format!(
        "const names = {}; const there = (name) => {{ let at = globalThis; \
         for (const part of name.split('.')) {{ if (at === undefined || at === null) return false; \
         try {{ at = at[part] }} catch {{ return false }} }} return at !== undefined }}; return [names.filter(there), Object.getOwnPropertyNames(globalThis)];",
        json!(names)
    );
    let (result, _) = run(&source).await;
    let found = result.unwrap();
    let list = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let there = list(&found[0]);
    let wrong: Vec<_> =
        tables.iter().filter(|(name, said)| there.iter().any(|known| known == *name) != **said).collect();
    assert!(wrong.is_empty(), "the tables of docs/runtime.md are wrong about {wrong:?}");
    let language: Vec<&str> = LANGUAGE.split_ascii_whitespace().collect();
    let unlisted: Vec<_> = list(&found[1])
        .into_iter()
        .filter(|name| !language.contains(&name.as_str()) && !tables.contains_key(name.as_str()))
        .collect();
    assert!(unlisted.is_empty(), "docs/runtime.md does not list {unlisted:?}");
}

#[tokio::test]
async fn the_example_of_signatures_accepts_only_a_valid_one() {
    let (_, section) = PAGE.split_once("## Signatures").unwrap();
    let (_, rest) = section.split_once("```js\n").unwrap();
    let (source, _) = rest.split_once("\n```").unwrap();
    // HMAC-SHA-256 of "an order" with the secret of the example, made with openssl dgst.
    let valid = "7e5698c31b2b1bc025815b009605f0ee2580ce26cb67276ff7ff283ec34e4064";
    let engine = engine();
    for (signature, status) in [(valid, 200), (&valid.replace('7', "8"), 401), ("", 401), ("no digits", 401)]
    {
        let mut invocation = scheduled(1, bundle_of(&[("main.js", source)]), &json!(null));
        invocation.handler = HandlerCall::Fetch(HttpRequest {
            method: "POST".into(),
            url: "https://shop.example/".into(),
            headers: vec![("x-signature".into(), signature.into())],
            body: "an order".into(),
        });
        let HandlerOutput::Response(response) = engine.invoke(invocation, TestHost::new()).await.unwrap()
        else {
            panic!("no response");
        };
        assert_eq!(response.status, status, "{signature}");
    }
}
