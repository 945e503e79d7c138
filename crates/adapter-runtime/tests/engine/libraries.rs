//! Libraries of npm, unmodified, in apps that are bundled with esbuild.
//!
//! `npm ci` installs them into a directory under `target`, at the versions in `tests/libraries/package-lock.json`. Without
//! Node.js the tests fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    time::Duration,
};

use futures::StreamExt as _;
use runs::engine::{
    Engine as _, HandlerCall, HandlerOutput, HttpRequest, HttpResponse, Invocation, StreamedResponse,
};
use serde_json::{Value, json};

use crate::support::*;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/libraries");
/// Keys that `jose.js` imports.
const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/data/crypto_vectors.json");

/// Installs the libraries beside the apps, once for all tests of this file.
fn install_libraries() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime-libraries");
        fs::create_dir_all(&directory).unwrap();
        for entry in fs::read_dir(SOURCES).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, directory.join(path.file_name().unwrap())).unwrap();
            }
        }
        fs::copy(VECTORS, directory.join("crypto_vectors.json")).unwrap();
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&directory);
        let output = npm.output().unwrap_or_else(|error| {
            panic!("cannot start npm: these tests need Node.js and npm: {error}");
        });
        assert!(output.status.success(), "npm ci failed: {}", String::from_utf8_lossy(&output.stderr));
        directory
    })
}

/// Bundles an app; returns the source of the one file.
fn bundled(app: &str) -> String {
    let mut esbuild = Command::new("node_modules/.bin/esbuild");
    esbuild.args(["--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main"]);
    esbuild.args(["--conditions=worker", "--target=es2023", "--log-level=warning"]);
    let output = esbuild.arg(format!("{app}.js")).current_dir(install_libraries()).output().unwrap();
    assert!(output.status.success(), "esbuild failed: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs an app of checks with the limits of a deployed app, but for time: the engine may be a debug build.
async fn assert_passes(app: &str, least: usize) {
    let (result, host) = run_with(&engine(), &bundled(app), |invocation| {
        invocation.limits.wall_time = Duration::from_secs(120);
        invocation.limits.cpu_time = Duration::from_secs(100);
    })
    .await;
    let result = result.unwrap_or_else(|failure| panic!("{app}: {failure}"));
    let failed = result["failed"].as_object().unwrap();
    let told: Vec<String> =
        failed.iter().map(|(name, error)| format!("{name}: {}", error.as_str().unwrap())).collect();
    assert!(failed.is_empty(), "{app}:\n{}\n{:?}", told.join("\n"), host.log_messages());
    let passed = result["passed"].as_array().unwrap().len();
    assert!(passed >= least, "only {passed} checks of {app} ran");
}

#[tokio::test]
async fn jose_signs_encrypts_and_verifies() {
    assert_passes("jose", 15).await;
}

#[tokio::test]
async fn luxon_knows_zones_and_languages() {
    assert_passes("luxon", 17).await;
}

#[tokio::test]
async fn lodash_works() {
    assert_passes("lodash", 10).await;
}

#[tokio::test]
async fn zod_validates() {
    assert_passes("zod", 11).await;
}

#[tokio::test]
async fn stripe_verifies_webhooks() {
    assert_passes("stripe", 8).await;
}

/// A request to the app in `hono.js`, and what the response must be.
struct Exchange {
    request: (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str),
    status: u16,
    body: &'static str,
    headers: &'static [(&'static str, &'static str)],
}

const fn get(path: &'static str, status: u16, body: &'static str) -> Exchange {
    Exchange { request: ("GET", path, &[], ""), status, body, headers: &[] }
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

const EXCHANGES: &[Exchange] = &[
    get("/", 200, "hello"),
    get("/orders/42?page=2&tag=a&tag=b", 200, r#"{"id":"42","page":"2","tags":["a","b"]}"#),
    get("/orders/42/lines", 200, r#"{"part":"lines","id":"42"}"#),
    get("/orders/x", 404, r#"{"error":"not found"}"#),
    get("/books", 200, "all books"),
    get("/books/%D3%A9%D0%BB%D0%B5%D2%A3", 200, "өлең"),
    get("/broken", 500, r#"{"error":"broken"}"#),
    get("/teapot", 418, "short and stout"),
    get("/forward", 200, r#"{"url":"https://other.example/x","method":"GET"}"#),
    get("/later", 200, "shop"),
    get("/words", 200, "one\ntwo"),
    get("/bytes", 200, "hi"),
    get("/jwt/me", 401, "Unauthorized"),
    get("/admin/page", 401, "Unauthorized"),
    Exchange {
        headers: &[("x-seen-by", "middleware"), ("location", "/orders/1")],
        ..get("/elsewhere", 303, "")
    },
    Exchange {
        headers: &[("x-frame-options", "SAMEORIGIN"), ("content-type", "text/html; charset=UTF-8")],
        ..get("/safe", 200, "<p>&lt;b&gt;</p>")
    },
    Exchange {
        headers: &[("content-type", "text/event-stream")],
        ..get(
            "/sse",
            200,
            "event: count\ndata: 0\nid: 0\n\nevent: count\ndata: 2\nid: 1\n\nevent: count\ndata: 4\nid: 2\n\n",
        )
    },
    Exchange { request: ("HEAD", "/", &[], ""), status: 200, body: "", headers: &[] },
    Exchange {
        request: ("POST", "/orders", JSON, r#"{"title":"tea","n":[1]}"#),
        status: 201,
        body: r#"{"got":{"title":"tea","n":[1]}}"#,
        headers: &[("content-type", "application/json")],
    },
    Exchange {
        request: ("POST", "/orders", JSON, "{"),
        status: 500,
        body: "",
        headers: &[("x-seen-by", "middleware")],
    },
    Exchange {
        request: ("POST", "/checked", JSON, r#"{"title":7}"#),
        status: 400,
        body: "a title is needed",
        headers: &[],
    },
    Exchange {
        request: ("POST", "/checked", JSON, r#"{"title":"tea"}"#),
        status: 200,
        body: r#"{"title":"tea"}"#,
        headers: &[],
    },
    Exchange {
        request: (
            "POST",
            "/form",
            &[("content-type", "multipart/form-data; boundary=xx")],
            "--xx\r\ncontent-disposition: form-data; name=\"name\"\r\n\r\nana\r\n--xx\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\ncontent-type: text/csv\r\n\r\n1,2\r\n--xx--\r\n",
        ),
        status: 200,
        body: r#"{"name":"ana","file":["a.txt","text/csv","1,2"]}"#,
        headers: &[],
    },
    Exchange {
        request: ("OPTIONS", "/api/list", &[("origin", "https://console.example")], ""),
        status: 204,
        body: "",
        headers: &[("access-control-allow-origin", "https://console.example")],
    },
    Exchange {
        // `ana:only for this test`
        request: ("GET", "/admin/page", &[("authorization", "Basic YW5hOm9ubHkgZm9yIHRoaXMgdGVzdA==")], ""),
        status: 200,
        body: "in",
        headers: &[],
    },
];

async fn answer(app: &str, request: HttpRequest) -> HttpResponse {
    let mut invocation: Invocation = scheduled(1, bundle_of(&[("main.js", app)]), &json!(null));
    invocation.handler = HandlerCall::Fetch(request);
    match engine().invoke(invocation, TestHost::new()).await.unwrap() {
        HandlerOutput::Response(response) => response,
        HandlerOutput::Streamed(StreamedResponse { status, headers, mut body, completion }) => {
            let mut bytes = Vec::new();
            while let Some(chunk) = body.next().await {
                bytes.extend_from_slice(&chunk.unwrap());
            }
            completion.await.unwrap();
            HttpResponse { status, headers, body: bytes.into() }
        }
        HandlerOutput::Scheduled(_) => panic!("no response"),
    }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &'static str) -> HttpRequest {
    HttpRequest {
        method: method.into(),
        url: format!("https://shop.example{path}"),
        headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        body: body.into(),
    }
}

fn header<'a>(response: &'a HttpResponse, name: &str) -> Vec<&'a str> {
    response.headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
}

#[tokio::test]
async fn hono_serves_an_app() {
    let app = bundled("hono");
    for Exchange { request: (method, path, sent, sent_body), status, body, headers } in EXCHANGES {
        let response = answer(&app, request(method, path, sent, sent_body)).await;
        let text = String::from_utf8_lossy(&response.body);
        assert_eq!(response.status, *status, "{method} {path}: {text}");
        assert!(*status == 500 && body.is_empty() || text == *body, "{method} {path}: {text}");
        for (name, value) in *headers {
            assert_eq!(header(&response, name), [*value], "{method} {path}");
        }
    }
}

#[tokio::test]
async fn hono_reads_and_writes_cookies() {
    let app = bundled("hono");
    let signed = answer(&app, request("GET", "/sign", &[], "")).await;
    let cookie = header(&signed, "set-cookie")[0].split(';').next().unwrap().to_owned();
    let sent = format!("theme=dark; {cookie}");
    let response = answer(&app, request("GET", "/cookies", &[("cookie", &sent)], "")).await;
    let read: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(read, json!({"theme": "dark", "who": "ana"}));
    let set = header(&response, "set-cookie");
    assert_eq!(set[0], "plain=a%20b; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax");
    assert!(set[1].starts_with("signed=ana."), "{set:?}");
    // A changed signature, and a changed value.
    for changed in [cookie.replace("ana", "eve"), format!("{}x{}", &cookie[..8], &cookie[9..])] {
        let response = answer(&app, request("GET", "/cookies", &[("cookie", &changed)], "")).await;
        let read: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(read["who"], json!(false), "{changed}");
    }
}

#[tokio::test]
async fn hono_tags_responses_and_reads_its_tokens() {
    let app = bundled("hono");
    let first = answer(&app, request("GET", "/tagged", &[], "")).await;
    let tag = header(&first, "etag")[0].to_owned();
    let second = answer(&app, request("GET", "/tagged", &[("if-none-match", &tag)], "")).await;
    assert_eq!((second.status, second.body.len()), (304, 0));
    let token = answer(&app, request("GET", "/token", &[], "")).await;
    let bearer = format!("Bearer {}", String::from_utf8_lossy(&token.body));
    let me = answer(&app, request("GET", "/jwt/me", &[("authorization", &bearer)], "")).await;
    assert_eq!((me.status, &me.body[..]), (200, &br#"{"sub":"ana"}"#[..]));
}
