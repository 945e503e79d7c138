//! Requests through connections: which secret they carry, what is counted, and how access tokens are renewed.

use connections::{
    Auth, AuthInput, Connection, ConnectionPolicy, ConnectionStatus, CredentialSource as _, GateStatus,
    Refusal, RefusalCode,
    auth::{ClientAuthStyle, KeyPlace},
    connection::SecretPurpose,
    connection_test::{Checked, ConnectionTester as _},
    health::{CallCounts, CallOutcome},
    outbound::{IssuedToken, OpenedCredential, TokenError},
    stored_token::StoredToken,
};
use futures::StreamExt as _;
use kernel::id::kind;
use runs::engine::{FetchBody, Host};
use secrecy::ExposeSecret as _;

use super::{super::*, fake_connections::*, fixtures::*};
use crate::CallCountWriter;

const SECRET: &str = "s3cret-of-the-crm";

fn bearer() -> AuthInput {
    AuthInput::Bearer { prefix: None }
}

fn oauth() -> AuthInput {
    AuthInput::ClientCredentials {
        token_url: "https://tokens.example.com/token".to_owned(),
        client_id: "client".to_owned(),
        scopes: Vec::new(),
        style: ClientAuthStyle::Basic,
    }
}

/// Sends requests through `crm` in one run; returns the statuses or codes, and the run.
async fn call(fixture: &Fixture, requests: &[(&str, &str)]) -> (Vec<String>, FinishedRun) {
    let results = Arc::new(std::sync::Mutex::new(Vec::new()));
    let requests: Vec<_> =
        requests.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned())).collect();
    let found = Arc::clone(&results);
    let executor = fixture.executor(FakeStore::default(), move |_, host: Arc<dyn Host>| {
        let (requests, found) = (requests.clone(), Arc::clone(&found));
        async move {
            for (method, path) in requests {
                let result = host.connection_fetch("crm", request(&method, &path)).await;
                found.lock().unwrap().push(match result {
                    Ok(response) => response.status.to_string(),
                    Err(error) => {
                        assert!(!error.message.contains(SECRET), "{error}");
                        error.code
                    }
                });
            }
            nothing()
        }
    });
    let finished = executor.run(claimed()).await;
    let results = std::mem::take(&mut *results.lock().unwrap());
    (results, finished)
}

async fn code_of(fixture: &Fixture, method: &str, path: &str) -> String {
    call(fixture, &[(method, path)]).await.0.remove(0)
}

fn with_crm(change: impl FnOnce(&mut Connection)) -> Fixture {
    let fixture = Fixture::default();
    let mut connection = crm(bearer());
    change(&mut connection);
    fixture.connections.add(connection, SECRET);
    fixture
}

#[tokio::test]
async fn a_request_carries_the_opened_secret_and_leaves_a_step_and_a_line() {
    let fixture = with_crm(|_| {});
    let (results, finished) = call(&fixture, &[("GET", "/me?limit=1")]).await;
    assert_eq!(results, ["200"]);
    let sent = fixture.outbound.sent.lock().unwrap().clone();
    assert_eq!(sent, [format!("https://crm.example.com/v1/me?limit=1 with {SECRET}")]);
    assert_eq!(labels(&finished)[1], ("GET through crm", StepStatus::Ok, Some("200")));
    let through = format!(
        "GET through crm ({}) at crm.example.com allowed 200 ",
        id::<kernel::id::kind::Connection>(9)
    );
    assert!(finished.lines[0].message.starts_with(&through), "{:?}", finished.lines[0]);
    assert_eq!(fixture.connections.lock().transactions, 0, "a success writes nothing");
}

/// Reads the body of a response to `crm`, in pieces; returns the pieces and codes, and the run.
async fn read_pieces(path: &'static str, most: usize) -> (Vec<String>, FinishedRun, Fixture) {
    let fixture = with_crm(|_| {});
    let read = Arc::new(std::sync::Mutex::new(Vec::new()));
    let found = Arc::clone(&read);
    let executor = fixture.executor(FakeStore::default(), move |_, host: Arc<dyn Host>| {
        let found = Arc::clone(&found);
        async move {
            let response = host.connection_fetch("crm", request("GET", path)).await.unwrap();
            let FetchBody::Stream(pieces) = response.body else { panic!("the body is complete") };
            let mut pieces = pieces.take(most);
            while let Some(piece) = pieces.next().await {
                let text = piece.map(|piece| String::from_utf8(piece.to_vec()).unwrap());
                found.lock().unwrap().push(text.unwrap_or_else(|error| error.code));
            }
            nothing()
        }
    });
    let finished = executor.run(claimed()).await;
    let pieces = std::mem::take(&mut *read.lock().unwrap());
    (pieces, finished, fixture)
}

#[tokio::test]
async fn a_streamed_response_is_recorded_once_at_its_end() {
    for (path, most, pieces, status, detail) in [
        ("/stream", 9, &["one", "two"][..], StepStatus::Ok, "200"),
        // The code need not read it to its end.
        ("/stream", 1, &["one"], StepStatus::Ok, "200"),
        ("/stream", 0, &[], StepStatus::Ok, "200"),
        ("/broken-stream", 9, &["one", "upstream_failed"], StepStatus::Failed, "upstream_failed"),
    ] {
        let (read, finished, fixture) = read_pieces(path, most).await;
        assert_eq!(read, pieces, "{path}");
        let calls: Vec<_> =
            labels(&finished).into_iter().filter(|(label, ..)| label.contains("crm")).collect();
        assert_eq!(calls, [("GET through crm", status, Some(detail))], "{path} {most}");
        let lines = finished.lines.iter().filter(|line| line.message.contains("through crm"));
        assert_eq!(lines.count(), 1, "{path} {most}");
        let writer = CallCountWriter::new(Arc::clone(&fixture.calls), Arc::new(fixture.connections.clone()));
        let ended = CancellationToken::new();
        ended.cancel();
        writer.run(ended).await;
        let errors = u64::from(status == StepStatus::Failed);
        let counts: Vec<_> = fixture.connections.lock().calls.iter().map(|entry| entry.sum.counts).collect();
        assert_eq!(counts, [CallCounts { calls: 1, errors, blocked: 0 }], "{path} {most}");
    }
}

#[tokio::test]
async fn too_many_requests_through_a_connection_are_refused() {
    let fixture = with_crm(|_| {});
    let (results, finished) = call(&fixture, &vec![("GET", "/me"); 1_400]).await;
    let refused = results.iter().filter(|result| *result == "rate_limited").count();
    assert!((100..=200).contains(&refused), "{refused}");
    assert_eq!(fixture.outbound.sent.lock().unwrap().len(), results.len() - refused);
    assert_eq!(finished.outcome, AttemptOutcome::Succeeded, "the code caught the refusals");
}

#[tokio::test]
async fn what_is_not_connected_or_not_allowed_sends_nothing() {
    let none = Fixture::default();
    assert_eq!(code_of(&none, "GET", "/me").await, "not_connected");
    type Change = fn(&mut Connection);
    let cases: [(Change, &str, &str, &str); 9] = [
        (|crm| crm.workspace = id(99), "GET", "/me", "not_connected"),
        (|crm| crm.id = id(99), "GET", "/me", "not_connected"),
        (|crm| crm.status = ConnectionStatus::Disconnected { since: start() }, "GET", "/me", "not_connected"),
        (|crm| crm.status = ConnectionStatus::Expired { since: start() }, "GET", "/me", "expired"),
        (|crm| crm.gate = GateStatus::Closed, "GET", "/me", "host_denied"),
        (|crm| crm.http.path_prefix = "/contacts".to_owned(), "GET", "/me", "path_denied"),
        (|_| {}, "DELETE", "/me", "method_denied"),
        (|_| {}, "GET", "https://crm.example.com/me", "invalid_url"),
        (|_| {}, "GET", "/../admin", "path_denied"),
    ];
    for (change, method, path, expected) in cases {
        let fixture = with_crm(change);
        assert_eq!(code_of(&fixture, method, path).await, expected, "{method} {path}");
        assert!(fixture.outbound.sent.lock().unwrap().is_empty());
    }
    let fixture = with_crm(|_| {});
    fixture.connections.lock().is_away = true;
    assert_eq!(code_of(&fixture, "GET", "/me").await, "unavailable");
}

#[tokio::test]
async fn a_secret_that_does_not_open_is_unavailable() {
    // It was sealed for another number, and another master key.
    let moved = with_crm(|_| {});
    moved.connections.update(|crm| crm.secret_version = 2);
    let foreign = with_crm(|_| {});
    for sealed in foreign.connections.lock().sealed.values_mut() {
        *sealed = sealed.replacen("qs1.", "qs1.ffffffff", 1);
    }
    let deleted = with_crm(|_| {});
    deleted.connections.lock().sealed.clear();
    for fixture in [moved, foreign, deleted] {
        assert_eq!(code_of(&fixture, "GET", "/me").await, "secret_unavailable");
        assert_eq!(test(&fixture).await, (Some(false), Some("secret_unavailable")));
        assert!(fixture.outbound.sent.lock().unwrap().is_empty());
    }
}

/// Tests `crm`, for which no request is sent.
async fn test(fixture: &Fixture) -> (Option<bool>, Option<&'static str>) {
    let connection = fixture.connections.lock().connections[0].clone();
    let result = fixture.executor(FakeStore::default(), |_, _| async { nothing() }).test(connection).await;
    assert_eq!((result.checked, result.status, result.latency), (Checked::Format, None, None));
    (result.ok, result.reason)
}

#[tokio::test]
async fn a_test_without_a_request_says_if_requests_could_carry_the_secret() {
    assert_eq!(test(&with_crm(|_| {})).await, (Some(true), None));
    assert_eq!(test(&with_crm(|crm| crm.http.auth = Auth::None)).await, (Some(true), None));
    let key = |place| AuthInput::ApiKey { place, name: "key".to_owned(), prefix: None };
    for (place, expected) in
        [(KeyPlace::Query, (Some(true), None)), (KeyPlace::Header, (Some(false), Some("secret_unavailable")))]
    {
        let fixture = Fixture::default();
        fixture.connections.add(crm(key(place)), "пароль-сервиса");
        assert_eq!(test(&fixture).await, expected);
    }
}

#[tokio::test]
async fn a_disconnect_takes_effect_with_the_next_request_of_a_run() {
    let fixture = with_crm(|_| {});
    let connections = fixture.connections.clone();
    let executor = fixture.executor(FakeStore::default(), move |_, host: Arc<dyn Host>| {
        let connections = connections.clone();
        async move {
            assert_eq!(host.connection_fetch("crm", request("GET", "/me")).await.unwrap().status, 200);
            connections.update(|crm| crm.status = ConnectionStatus::Disconnected { since: start() });
            let refused = host.connection_fetch("crm", request("GET", "/me")).await.unwrap_err();
            assert_eq!(refused.code, "not_connected");
            let unknown = host.connection_fetch("erp", request("GET", "/me")).await.unwrap_err();
            assert_eq!(unknown.code, "not_connected");
            nothing()
        }
    });
    assert_eq!(executor.run(claimed()).await.outcome, AttemptOutcome::Succeeded);
    assert_eq!(fixture.outbound.sent.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn rejections_change_the_status_and_a_success_restores_it() {
    let fixture = with_crm(|_| {});
    let reject = [("GET", "/reject")];
    for failures in 1..3 {
        assert_eq!(call(&fixture, &reject).await.0, ["401"]);
        assert_eq!(fixture.connections.status(), ConnectionStatus::Connected { auth_failures: failures });
    }
    call(&fixture, &reject).await;
    assert_eq!(fixture.connections.status().name().as_str(), "error");
    // Further rejections change nothing, so nothing is written.
    call(&fixture, &reject).await;
    assert_eq!(fixture.connections.lock().transactions, 3);
    assert_eq!(call(&fixture, &[("GET", "/me"), ("GET", "/me")]).await.0, ["200", "200"]);
    assert_eq!(fixture.connections.status(), ConnectionStatus::NEW);
    assert_eq!(fixture.connections.lock().transactions, 4);
    assert_eq!(fixture.connections.lock().audited, ["connection.error", "connection.restore"]);
}

#[tokio::test(start_paused = true)]
async fn requests_are_counted_by_gate_and_written_in_the_background() {
    let fixture = with_crm(|_| {});
    call(&fixture, &[("GET", "/me"), ("GET", "/reject"), ("DELETE", "/me")]).await;
    let executor = fixture.executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        for (method, url) in [
            ("GET", "https://api.example.com/"),
            ("DELETE", "https://api.example.com/"),
            // Not a host of a gate.
            ("GET", "https://evil.example/"),
        ] {
            drop(host.fetch(request(method, url)).await);
        }
        nothing()
    });
    executor.run(claimed()).await;
    // While the store is away, the counts are kept.
    fixture.connections.lock().is_away = true;
    let shutdown = CancellationToken::new();
    let writer = CallCountWriter::new(Arc::clone(&fixture.calls), Arc::new(fixture.connections.clone()));
    let written = tokio::spawn(writer.run(shutdown.clone()));
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    assert!(fixture.connections.lock().calls.is_empty());
    fixture.connections.lock().is_away = false;
    shutdown.cancel();
    written.await.unwrap();
    let mut calls = std::mem::take(&mut fixture.connections.lock().calls);
    calls.sort_by_key(|entry| entry.gate);
    let counts: Vec<_> = calls.iter().map(|entry| (entry.gate, entry.sum.counts)).collect();
    assert_eq!(
        counts,
        [
            (id::<kind::Gate>(5), CallCounts { calls: 1, errors: 0, blocked: 1 }),
            (id::<kind::Gate>(9), CallCounts { calls: 2, errors: 1, blocked: 1 }),
        ]
    );
    assert!(calls.iter().all(|entry| entry.workspace == id(1) && entry.sum.last_call_at == Some(start())));
}

fn with_oauth(tokens: Vec<Result<IssuedToken, TokenError>>) -> Fixture {
    let fixture = Fixture::default();
    fixture.connections.add(crm(oauth()), SECRET);
    *fixture.outbound.tokens.lock().unwrap() = tokens.into_iter().rev().collect();
    fixture
}

fn issued(token: &str) -> Result<IssuedToken, TokenError> {
    let lifetime = Some(std::time::Duration::from_secs(1000));
    Ok(IssuedToken { access_token: token.into(), refresh_token: None, lifetime })
}

fn asked(fixture: &Fixture) -> usize {
    let sent = fixture.outbound.sent.lock().unwrap();
    let to_endpoint = format!("https://tokens.example.com/token with {SECRET}");
    sent.iter().filter(|sent| **sent == to_endpoint).count()
}

#[tokio::test(start_paused = true)]
async fn a_token_is_stored_sealed_and_renewed_at_four_fifths_of_its_life() {
    let fixture = with_oauth(vec![issued("token-1"), issued("token-2")]);
    let me = "https://crm.example.com/v1/me with";
    for (seconds, token, times) in
        [(0, "token-1", 1), (799, "token-1", 1), (1, "token-2", 2), (10, "token-2", 2)]
    {
        fixture.clock.advance(chrono::TimeDelta::seconds(seconds));
        assert_eq!(code_of(&fixture, "GET", "/me").await, "200");
        assert_eq!(*fixture.outbound.sent.lock().unwrap().last().unwrap(), format!("{me} {token}"));
        assert_eq!(asked(&fixture), times);
    }
    let tables = fixture.connections.lock();
    assert!(!tables.sealed[&(id(9), SecretPurpose::Tokens)].contains("token-2"));
    assert!(tables.audited.is_empty(), "nobody asked for a renewal");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_does_not_interrupt_a_renewal() {
    let fixture = with_oauth(vec![issued("token-1")]);
    let executor = fixture.executor(FakeStore::default(), async |_, host: Arc<dyn Host>| {
        let sent = host.connection_fetch("crm", request("GET", "/me"));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(5), sent).await.is_err());
        nothing()
    });
    let finished = executor.run(claimed()).await;
    assert_eq!(labels(&finished)[1], ("GET through crm", StepStatus::Failed, Some("aborted")));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(code_of(&fixture, "GET", "/me").await, "200");
    assert_eq!(asked(&fixture), 1, "the token was stored");
}

#[tokio::test(start_paused = true)]
async fn requests_at_once_share_one_renewal() {
    let fixture = with_oauth(vec![issued("token-1"), issued("token-2")]);
    let credentials = fixture.credentials();
    let policy = Arc::new(ConnectionPolicy::new(crm(oauth())));
    let opened = futures::future::join_all((0..8).map(|_| credentials.open(&policy))).await;
    for opened in opened {
        let OpenedCredential::AccessToken(token) = opened.unwrap() else { panic!("no token") };
        assert_eq!(token.expose_secret(), "token-1");
    }
    assert_eq!(asked(&fixture), 1);
    // Another node finds the stored token.
    fixture.credentials().open(&policy).await.unwrap();
    assert_eq!(asked(&fixture), 1);
    // A token of an older secret is not used.
    fixture.connections.add(Connection { secret_version: 2, ..crm(oauth()) }, SECRET);
    fixture.connections.lock().connections.remove(0);
    let changed = Connection { secret_version: 2, revision: 2, ..crm(oauth()) };
    let opened = credentials.open(&Arc::new(ConnectionPolicy::new(changed))).await.unwrap();
    let OpenedCredential::AccessToken(token) = opened else { panic!("no token") };
    assert_eq!((token.expose_secret(), asked(&fixture)), ("token-2", 2));
}

#[tokio::test(start_paused = true)]
async fn a_token_that_the_service_rejects_is_renewed_at_most_once_a_minute() {
    let fixture = with_oauth(vec![issued("token-1"), issued("token-2"), issued("token-3")]);
    let credentials = fixture.credentials();
    let policy = Arc::new(ConnectionPolicy::new(crm(oauth())));
    for (seconds, times) in [(0, 1), (30, 1), (30, 2), (30, 2), (30, 3)] {
        fixture.clock.advance(chrono::TimeDelta::seconds(seconds));
        credentials.open(&policy).await.unwrap();
        credentials.record_outcome(&policy.connection, CallOutcome::AuthRejected).await;
        credentials.open(&policy).await.unwrap();
        assert_eq!(asked(&fixture), times, "{seconds}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_endpoint_that_fails_is_spared_and_the_old_token_serves_to_its_end() {
    let fixture = with_oauth(vec![issued("token-1")]);
    let credentials = fixture.credentials();
    let policy = Arc::new(ConnectionPolicy::new(crm(oauth())));
    credentials.open(&policy).await.unwrap();
    fixture.clock.advance(chrono::TimeDelta::seconds(900));
    for _ in 0..3 {
        credentials.open(&policy).await.unwrap();
    }
    assert_eq!(asked(&fixture), 2, "it was asked once more, and was away");
    fixture.clock.advance(chrono::TimeDelta::seconds(95));
    assert_eq!(credentials.open(&policy).await.unwrap_err().code, RefusalCode::UpstreamFailed);
    assert_eq!(asked(&fixture), 2);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_grant_expires_the_connection_and_a_rejection_counts() {
    let fixture = with_oauth(vec![Err(TokenError::GrantEnded)]);
    assert_eq!(call(&fixture, &[("GET", "/me"), ("GET", "/me")]).await.0, ["expired", "expired"]);
    assert_eq!(fixture.connections.status().name().as_str(), "expired");
    assert_eq!(
        (asked(&fixture), fixture.connections.lock().audited.clone()),
        (1, vec!["connection.expire".into()])
    );

    let rejected = Refusal::new(RefusalCode::AuthRejected, "rejected");
    let fixture = with_oauth(vec![Err(rejected.into())]);
    assert_eq!(code_of(&fixture, "GET", "/me").await, "auth_rejected");
    assert_eq!(fixture.connections.status(), ConnectionStatus::Connected { auth_failures: 1 });
}

#[tokio::test(start_paused = true)]
async fn a_token_for_a_connection_that_was_changed_meanwhile_is_not_used() {
    let changes: [fn(&mut Connection); 3] = [
        |crm| crm.status = ConnectionStatus::Disconnected { since: start() },
        |crm| crm.secret_version = 2,
        |crm| crm.workspace = id(99),
    ];
    for change in changes {
        let fixture = with_oauth(vec![issued("token-1")]);
        let credentials = fixture.credentials();
        let policy = Arc::new(ConnectionPolicy::new(crm(oauth())));
        let opening = credentials.open(&policy);
        let changing = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            fixture.connections.update(change);
        };
        let (opened, ()) = tokio::join!(opening, changing);
        assert_eq!(opened.unwrap_err().code, RefusalCode::NotConnected);
        assert!(!fixture.connections.lock().sealed.contains_key(&(id(9), SecretPurpose::Tokens)));
    }
}

/// A connection that a person allowed in a browser, with its first tokens stored.
fn authorized(tokens: Vec<Result<IssuedToken, TokenError>>, refresh_token: Option<&str>) -> Fixture {
    let fixture = Fixture::default();
    let connection = crm(AuthInput::AuthorizationCode {});
    let first = IssuedToken {
        access_token: "token-1".into(),
        refresh_token: refresh_token.map(Into::into),
        lifetime: Some(std::time::Duration::from_secs(1000)),
    };
    let text = StoredToken::new(first, start()).to_text();
    let context = connection.sealing_context(SecretPurpose::Tokens);
    let sealed = vault().seal(&kernel::SeededRandomness::new(7), &context.parts(), &text);
    let mut tables = fixture.connections.lock();
    tables.sealed.insert((connection.id, SecretPurpose::Tokens), sealed);
    tables.connections.push(connection);
    drop(tables);
    *fixture.outbound.tokens.lock().unwrap() = tokens.into_iter().rev().collect();
    fixture
}

fn renewed(token: &str, refresh_token: Option<&str>) -> Result<IssuedToken, TokenError> {
    Ok(IssuedToken { refresh_token: refresh_token.map(Into::into), ..issued(token)? })
}

fn sent_to_endpoint(fixture: &Fixture) -> Vec<String> {
    let sent = fixture.outbound.sent.lock().unwrap();
    let to_endpoint =
        |sent: &String| sent.strip_prefix("https://auth.example.com/token with ").map(str::to_owned);
    sent.iter().filter_map(to_endpoint).collect()
}

#[tokio::test(start_paused = true)]
async fn a_refresh_token_renews_and_the_newest_one_is_kept() {
    let tokens =
        vec![renewed("token-2", Some("refresh-2")), renewed("token-3", None), renewed("token-4", None)];
    let fixture = authorized(tokens, Some("refresh-1"));
    for (seconds, token) in [(0, "token-1"), (850, "token-2"), (850, "token-3"), (2_000, "token-4")] {
        fixture.clock.advance(chrono::TimeDelta::seconds(seconds));
        assert_eq!(code_of(&fixture, "GET", "/me").await, "200");
        let me = format!("https://crm.example.com/v1/me with {token}");
        assert_eq!(*fixture.outbound.sent.lock().unwrap().last().unwrap(), me);
        assert_eq!(fixture.connections.lock().renewal_until, None, "the reservation has ended");
    }
    assert_eq!(sent_to_endpoint(&fixture), ["refresh-1", "refresh-2", "refresh-2"]);
}

#[tokio::test(start_paused = true)]
async fn without_a_refresh_token_the_connection_expires_with_its_access_token() {
    let fixture = authorized(Vec::new(), None);
    assert_eq!(code_of(&fixture, "GET", "/me").await, "200");
    fixture.clock.advance(chrono::TimeDelta::seconds(1000));
    assert_eq!(code_of(&fixture, "GET", "/me").await, "expired");
    assert_eq!(fixture.connections.status().name().as_str(), "expired");
    assert!(sent_to_endpoint(&fixture).is_empty());
}

#[tokio::test(start_paused = true)]
async fn one_node_renews_and_the_others_use_what_it_gets() {
    // The token is due, and still serves; then it has expired, and the other node waits.
    for seconds in [850, 2_000] {
        let fixture = authorized(vec![renewed("token-2", Some("refresh-2"))], Some("refresh-1"));
        fixture.clock.advance(chrono::TimeDelta::seconds(seconds));
        let nodes = [fixture.credentials(), fixture.credentials()];
        let policy = Arc::new(ConnectionPolicy::new(crm(AuthInput::AuthorizationCode {})));
        let opened = futures::future::join_all(nodes.iter().map(|node| node.open(&policy))).await;
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
        assert_eq!(sent_to_endpoint(&fixture), ["refresh-1"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_reservation_of_a_lost_node_ends() {
    let fixture = authorized(vec![renewed("token-2", None)], Some("refresh-1"));
    fixture.clock.advance(chrono::TimeDelta::seconds(2_000));
    let lost = fixture.clock.now() + chrono::TimeDelta::seconds(15);
    fixture.connections.lock().renewal_until = Some(lost);
    let credentials = fixture.credentials();
    let policy = Arc::new(ConnectionPolicy::new(crm(AuthInput::AuthorizationCode {})));
    let waiting = credentials.open(&policy);
    let passing = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert!(sent_to_endpoint(&fixture).is_empty());
        fixture.clock.advance(chrono::TimeDelta::seconds(15));
    };
    let (opened, ()) = tokio::join!(waiting, passing);
    assert!(opened.is_ok());
    assert_eq!(sent_to_endpoint(&fixture), ["refresh-1"]);
}
