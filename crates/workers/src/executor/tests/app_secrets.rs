//! Secrets of an app: which requests and keys get them, and that they are nowhere else.

use runs::{
    engine::{FetchRequest, Host, HttpResponse, KeyUse, SecretBinding},
    fair_share::search_turns,
};
use secrecy::ExposeSecret as _;

use super::{super::*, fixtures::*};

const SECRET: &str = "s3cret-of-the-app";

fn fixture() -> Fixture {
    let fixture = Fixture::default();
    for (name, clear) in [("KEY", false), ("SIGNING", false), ("PLAIN", true), ("KEPT", false)] {
        fixture.connections.add_app_secret(name, SECRET, clear);
    }
    fixture
}

/// Runs code that is a closure over the host; returns what it returned as a text, and the run.
async fn run<W>(
    fixture: &Fixture,
    code: impl Fn(Invocation, Arc<dyn Host>) -> W + Send + Sync + 'static,
) -> (Vec<String>, FinishedRun)
where
    W: Future<Output = Vec<String>> + Send + 'static,
{
    let results = Arc::new(std::sync::Mutex::new(Vec::new()));
    let found = Arc::clone(&results);
    let executor = fixture.executor(FakeStore::default(), move |invocation, host| {
        let (code, found) = (code(invocation, host), Arc::clone(&found));
        async move {
            let said = code.await;
            *found.lock().unwrap() = said;
            nothing()
        }
    });
    let finished = executor.run(claimed()).await;
    let results = std::mem::take(&mut *results.lock().unwrap());
    (results, finished)
}

fn with_header(url: &str, name: &str, value: &str) -> FetchRequest {
    FetchRequest { headers: vec![(name.to_owned(), value.to_owned())], ..request("GET", url) }
}

#[tokio::test]
async fn a_header_gets_the_secret_where_manifest_and_admin_allow_it() {
    let fixture = fixture();
    let (codes, finished) = run(&fixture, |_, host| async move {
        let mut codes = Vec::new();
        for (url, name, value) in [
            ("https://api.example.com/", "authorization", "Bearer [secret KEY]"),
            ("https://slow.example.com/", "x-api-key", "[secret KEY]"),
            ("https://api.example.com/", "x-api-key", "[secret SIGNING]"),
            ("https://api.example.com/", "x-api-key", "[secret MISSING]"),
            ("https://api.example.com/", "x-note", "[secret KEY]"),
            ("https://api.example.com/", "x-note", "[secret OTHER]"),
            ("https://other.example.com/", "x-api-key", "[secret KEY]"),
        ] {
            let result = host.fetch(with_header(url, name, value)).await;
            codes.push(result.map_or_else(|error| error.code, |response| response.status.to_string()));
        }
        codes
    })
    .await;
    let expected = [
        "200",
        "header_denied",
        "header_denied",
        "secret_unavailable",
        "header_denied",
        "200",
        "egress_denied",
    ];
    assert_eq!(codes, expected);
    let sent = fixture.outbound.sent.lock().unwrap().clone();
    let first = format!("https://api.example.com/ with authorization: Bearer {SECRET}");
    assert_eq!(sent, [first, "https://api.example.com/".to_owned()]);
    assert!(!format!("{finished:?}").contains(SECRET));
}

#[tokio::test]
async fn a_request_through_a_connection_takes_no_secret() {
    let fixture = fixture();
    fixture
        .connections
        .add(super::fake_connections::crm(connections::AuthInput::Bearer { prefix: None }), SECRET);
    let (codes, _) = run(&fixture, |_, host| async move {
        let request = with_header("/me", "x-api-key", "[secret KEY]");
        vec![host.connection_fetch("crm", request).await.unwrap_err().code]
    })
    .await;
    assert_eq!(codes, ["header_denied"]);
    assert!(fixture.outbound.sent.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_key_has_the_uses_of_the_manifest_and_leaves_a_step() {
    let fixture = fixture();
    let (codes, finished) = run(&fixture, |_, host| async move {
        let mut said = Vec::new();
        for (name, uses) in [
            ("SIGNING", &[KeyUse::Sign][..]),
            ("SIGNING", &[KeyUse::DeriveBits, KeyUse::Sign]),
            ("SIGNING", &[KeyUse::Sign, KeyUse::Verify]),
            ("KEY", &[KeyUse::Encrypt, KeyUse::Decrypt]),
            ("KEY", &[]),
            ("MISSING", &[KeyUse::Sign]),
            ("OTHER", &[KeyUse::Sign]),
        ] {
            let opened = host.secret_key(name, uses).await;
            said.push(opened.map_or_else(|error| error.code, |secret| secret.expose_secret().to_owned()));
        }
        said
    })
    .await;
    let refused = "secret_unavailable";
    assert_eq!(codes, [SECRET, SECRET, refused, SECRET, refused, refused, refused]);
    let steps = labels(&finished);
    assert_eq!(steps[1], ("Secret SIGNING as a key", StepStatus::Ok, None));
    assert_eq!(steps[7], ("Secret ? as a key", StepStatus::Failed, Some(refused)));
    assert!(!format!("{finished:?}").contains(SECRET));
}

#[tokio::test]
async fn a_text_is_given_only_if_the_manifest_and_the_admin_say_so_and_is_not_logged() {
    let fixture = fixture();
    let (said, finished) = run(&fixture, |invocation, host| async move {
        host.log(engine::LogLevel::Info, format!("the key is {SECRET}"));
        let shown =
            |secret: &SecretBinding| format!("{}={}", secret.name, secret.clear.as_deref().unwrap_or("-"));
        invocation.bindings.secrets.iter().map(shown).collect()
    })
    .await;
    assert_eq!(said, ["KEY=-", "SIGNING=-", "MISSING=-", &format!("PLAIN={SECRET}"), "KEPT=-"]);
    assert_eq!(finished.lines[0].message, "the key is [redacted]");

    let executor = fixture.executor(FakeStore::default(), |_, _| async {
        Err(Failure { code: FailureCode::AppError, message: format!("Error: {SECRET}"), host_code: None })
    });
    let finished = executor.run(claimed()).await;
    assert!(!format!("{finished:?}").contains(SECRET), "{finished:?}");
}

/// A secret is found before a line is cut, and no more is searched than the log keeps.
#[tokio::test]
async fn lines_beyond_the_log_are_dropped_before_they_are_searched() {
    let fixture = fixture();
    let (_, finished) = run(&fixture, |_, host| async move {
        let cut = "x".repeat(1_995);
        host.log(engine::LogLevel::Info, format!("{cut}{SECRET}"));
        for _ in 0..1_000 {
            host.log(engine::LogLevel::Info, SECRET.repeat(600));
        }
        Vec::new()
    })
    .await;
    let (last, kept) = finished.lines.split_last().unwrap();
    let kept_bytes = (kept.len() - 1) * SECRET.len() * 600;
    assert!(kept_bytes <= MAX_RUN_LOG_BYTES && kept_bytes + SECRET.len() * 600 + 2_020 > MAX_RUN_LOG_BYTES);
    assert!(last.message.starts_with("at least 9") && last.message.contains("log lines were dropped"));
    assert_eq!(kept[0].message, format!("{}[redac", "x".repeat(1_995)));
    assert!(kept[1].message.starts_with("[redacted][redacted]"));
    assert!(!format!("{finished:?}").contains(SECRET));
}

#[tokio::test]
async fn what_is_too_long_to_be_kept_out_of_the_log_stays_a_handle() {
    for (characters, is_clear) in [(16 << 10, true), ((16 << 10) + 1, false)] {
        let fixture = Fixture::default();
        fixture.connections.add_app_secret("PLAIN", &"x".repeat(characters), true);
        let (said, _) = run(&fixture, |invocation, _| async move {
            let secrets = &invocation.bindings.secrets;
            secrets.iter().filter(|secret| secret.clear.is_some()).map(|secret| secret.name.clone()).collect()
        })
        .await;
        assert_eq!(said, if is_clear { vec!["PLAIN"] } else { Vec::new() });
    }
}

#[tokio::test]
async fn a_store_that_is_away_gives_no_secret() {
    let fixture = fixture();
    let connections = fixture.connections.clone();
    let (codes, _) = run(&fixture, move |_, host| {
        connections.lock().are_secrets_away = true;
        async move {
            let fetched =
                host.fetch(with_header("https://api.example.com/", "x-api-key", "[secret KEY]")).await;
            let opened = host.secret_key("KEY", &[KeyUse::Sign]).await;
            vec![fetched.unwrap_err().code, opened.unwrap_err().code]
        }
    })
    .await;
    assert_eq!(codes, ["unavailable", "unavailable"]);
}

/// Whoever waits for a search takes nobody the place to write.
#[tokio::test]
async fn lines_that_wait_for_their_search_hold_no_place_to_write() {
    let fixture = fixture();
    let secret = "u".repeat(4_096);
    fixture.connections.add_app_secret("PLAIN", &secret, true);
    let store = FakeStore::default();
    let kept = store.kept_lines();
    let executor = fixture.executor(store, |_, host: Arc<dyn Host>| async move {
        for _ in 0..40 {
            host.log(engine::LogLevel::Info, "u".repeat(1_500));
        }
        Ok(HandlerOutput::Response(HttpResponse {
            status: 200,
            headers: Vec::new(),
            body: Default::default(),
        }))
    });
    let turns = std::thread::available_parallelism().map_or(1, |processors| (processors.get() / 2).max(1));
    let mut taken = Vec::new();
    for _ in 0..turns {
        taken.push(search_turns().acquire(id::<kernel::id::kind::Workspace>(77).into()).await.unwrap());
    }
    for _ in 0..MAX_PENDING_REDACTIONS_OF_SHARE {
        let request = visit("GET", "https://notes.example.com/");
        executor.serve(id(1), id(2), id(3), request).await.unwrap();
    }
    tokio::task::yield_now().await;
    assert_eq!(executor.0.log_writes.available_permits(), MAX_CONCURRENT_LOG_WRITES);
    assert!(kept.lock().unwrap().is_empty(), "nothing was searched yet");
    drop(taken);
    executor.flush().await;
    assert_eq!(kept.lock().unwrap().len(), 40 * MAX_PENDING_REDACTIONS_OF_SHARE);
    assert_eq!(executor.0.log_writes.available_permits(), MAX_CONCURRENT_LOG_WRITES);
}
