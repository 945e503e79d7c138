//! Cases written from the texts of the standards (`standards/*.js`), and the table of them in `docs/runtime.md`.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use crate::support::*;

const PAGE: &str = include_str!("../../../../docs/runtime.md");

/// Cases of an interface, at least.
const LEAST: usize = 30;

/// An interface, the source of its cases and the name that exports them.
type Suite = (&'static str, &'static str, &'static str);

macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("standards/", $name, ".js"))
    };
}

const SUITES: &[Suite] = &[
    ("HMAC", source!("hmac"), "default"),
    ("AES-GCM", source!("aes_gcm"), "default"),
    ("HKDF", source!("kdf"), "HKDF"),
    ("PBKDF2", source!("kdf"), "PBKDF2"),
    ("RSASSA-PKCS1-v1_5", source!("signatures"), "RSASSA"),
    ("RSA-PSS", source!("signatures"), "PSS"),
    ("ECDSA", source!("signatures"), "ECDSA"),
    ("Ed25519", source!("signatures"), "Ed25519"),
    ("Blob", source!("files"), "BLOB"),
    ("File", source!("files"), "FILE"),
    ("FormData, multipart/form-data", source!("files"), "FORM"),
    ("TextDecoder", source!("decoder"), "default"),
    ("CompressionStream, DecompressionStream", source!("compression"), "default"),
    ("CustomEvent, EventTarget", source!("events"), "default"),
    ("Headers, Request, Response", source!("fetch"), "default"),
    ("Intl.DateTimeFormat", source!("date_time_format"), "default"),
];

/// Runs the cases of an interface; returns the names of those that passed, and the errors of the others.
async fn run_suite((interface, source, export): Suite) -> (usize, BTreeMap<String, String>) {
    let entry = format!("import {{ {export} as cases }} from './cases.js'; export default cases;");
    let vectors = format!("export default {};", include_str!("data/crypto_vectors.json"));
    let bundle = bundle_of(&[
        ("main.js", &entry),
        ("cases.js", source),
        ("suite.js", source!("suite")),
        ("vectors.js", &vectors),
    ]);
    let (result, _) = run_with(&engine(), "", |invocation| {
        invocation.bundle = bundle;
        invocation.limits.wall_time = Duration::from_secs(120);
        invocation.limits.cpu_time = Duration::from_secs(100);
    })
    .await;
    let result = result.unwrap_or_else(|failure| panic!("{interface}: {failure}"));
    let passed = result["passed"].as_array().unwrap().len();
    let failed = result["failed"].as_object().unwrap().iter();
    let text = |error: &Value| error.as_str().unwrap_or_default().to_owned();
    (passed, failed.map(|(name, error)| (name.clone(), text(error))).collect())
}

#[tokio::test]
async fn the_standards_hold_as_the_table_says() {
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for suite in SUITES {
        let (passed, failed) = run_suite(*suite).await;
        let interface = suite.0;
        wrong.extend(failed.iter().map(|(name, error)| format!("{interface}: {name}: {error}")));
        let total = passed + failed.len();
        if total < LEAST {
            wrong.push(format!("{interface} has only {total} cases"));
        }
        rows.push(format!("| {interface} | {total} | {passed} |"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (_, section) = PAGE.split_once("## Cases of the standards").unwrap();
    let said: Vec<_> = section
        .lines()
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(said, rows, "the table of docs/runtime.md must be\n{}", rows.join("\n"));
}
