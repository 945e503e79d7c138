//! Requests through connections: the service gets the credential, and nothing of it comes back.

use std::{
    io::{self, Write as _},
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use adapter_gate::EgressClient;
use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use connections::{
    Connection, ConnectionPolicy, ConnectionStatus, CredentialSource, EgressPermit, GateStatus,
    HttpConnection, OutboundClient as _, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    auth::{Auth, AuthInput, KeyPlace},
    authorize_connection,
    connection::{BaseUrl, ExtraHeader, HTTP_CONNECTOR},
    gates::Method,
    outbound::OpenedCredential,
};
use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
use kernel::{Id, Timestamp};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::{
    gate::{BOMB, FakeResolver, HOST, allowed_loopback, egress_client, patient_limits},
    text, whole,
};

pub(crate) const SECRET: &str = "sk-Zq8/9+x_TOKEN~value 0042=";

/// Requests that a service got, as it echoes them.
pub(crate) type Received = Arc<Mutex<Vec<String>>>;

/// Responds with what it got, in the form that the end of the path names.
async fn echo(State(received): State<Received>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let headers: Vec<_> = request
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let text = format!("{} {}\n{}\n", request.method(), request.uri(), headers.join("\n"));
    received.lock().unwrap().push(text.clone());
    let compressed = |encoder: &str| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let body = match encoder {
            "gzip" => gzip.finish().unwrap(),
            _ => {
                let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
                deflate.write_all(text.as_bytes()).unwrap();
                deflate.finish().unwrap()
            }
        };
        ([(header::CONTENT_ENCODING, encoder.to_owned())], body).into_response()
    };
    match path.rsplit('/').next().unwrap() {
        "base64" => STANDARD.encode(&text).into_response(),
        "chunks" => {
            let chunks: Vec<_> =
                text.as_bytes().chunks(5).map(|chunk| Ok::<_, io::Error>(chunk.to_vec())).collect();
            let chunks = futures::stream::iter(chunks);
            let slow = futures::StreamExt::then(chunks, async |chunk| {
                tokio::time::sleep(Duration::from_millis(1)).await;
                chunk
            });
            Body::from_stream(slow).into_response()
        }
        encoder @ ("gzip" | "deflate") => compressed(encoder),
        "brotli" => ([(header::CONTENT_ENCODING, "br")], text).into_response(),
        "bomb" => ([(header::CONTENT_ENCODING, "gzip")], BOMB.clone()).into_response(),
        "headers" => {
            let value = |name: &str| request.headers().get(name).cloned();
            let mut response = StatusCode::UNAUTHORIZED.into_response();
            for name in ["authorization", "x-key", "x-a", "x-b"] {
                if let Some(value) = value(name) {
                    response.headers_mut().append("x-echo", value);
                }
            }
            let uri = request.uri().to_string().try_into().unwrap();
            response.headers_mut().append("x-uri", uri);
            response
        }
        "moved" => (StatusCode::FOUND, [(header::LOCATION, "/v1/plain?moved")]).into_response(),
        "away" => (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.1:1/plain")]).into_response(),
        "above" => (StatusCode::FOUND, [(header::LOCATION, "/plain")]).into_response(),
        _ => text.into_response(),
    }
}

pub(crate) async fn service() -> (u16, Received) {
    let received = Received::default();
    let router = Router::new().fallback(echo).with_state(Arc::clone(&received));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (port, received)
}

/// A secret, and how often it was opened.
pub(crate) struct Opens(pub(crate) OpenedCredential, pub(crate) AtomicUsize);

impl Opens {
    pub(crate) fn secret(text: &str) -> Self {
        Self(OpenedCredential::Secret(text.into()), AtomicUsize::new(0))
    }
}

#[async_trait]
impl CredentialSource for Opens {
    async fn open(&self, _: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.clone())
    }
}

/// The rules of a connection to a service on loopback.
pub(crate) fn policy(port: u16, path: &str, auth: AuthInput) -> Arc<ConnectionPolicy> {
    let auth = Auth::parse(auth).unwrap();
    let host: connections::GateHost = HOST.parse().unwrap();
    let base_url = match auth {
        Auth::Url => BaseUrl::hidden(host.clone(), port),
        _ => BaseUrl::parse(&format!("https://{HOST}:{port}{path}")).unwrap(),
    };
    let connection = Connection {
        id: Id::from_uuid(Uuid::from_u128(5)),
        workspace: Id::from_uuid(Uuid::from_u128(2)),
        connector: HTTP_CONNECTOR.to_owned(),
        display_name: "CRM".to_owned(),
        status: ConnectionStatus::NEW,
        connected_at: None,
        key_id: None,
        secret_version: 1,
        http: HttpConnection {
            base_url,
            host,
            auth,
            methods: vec![Method::Get, Method::Post],
            path_prefix: "/".to_owned(),
            headers: vec![ExtraHeader { name: "x-version".to_owned(), value: "7".to_owned() }],
            test_path: None,
            testable: true,
            preset: None,
        },
        values: Default::default(),
        service_account: None,
        gate: GateStatus::Open,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
        revision: 1,
    };
    Arc::new(ConnectionPolicy {
        allowed_hosts: vec![allowed_loopback(port)],
        base_override: Some(format!("http://{HOST}:{port}{path}")),
        ..ConnectionPolicy::new(connection)
    })
}

pub(crate) fn permit(port: u16, path: &str, auth: AuthInput, target: &str) -> EgressPermit {
    authorize_connection(target, "GET", &policy(port, path, auth)).unwrap()
}

pub(crate) fn bearer() -> AuthInput {
    AuthInput::Bearer { prefix: None }
}

pub(crate) async fn send(permit: EgressPermit, credential: &Opens) -> Result<OutboundResponse, Refusal> {
    whole(egress_client().send_through_connection(OutboundRequest::default(), permit, credential).await).await
}

fn code(result: &Result<OutboundResponse, Refusal>) -> &'static str {
    result.as_ref().map_or_else(Refusal::code, |_| "ok")
}

/// Fails if eight characters of the secret are in a text, plainly or in base64 at any offset.
pub(crate) fn assert_free_of(secret: &str, text: &str, what: &str) {
    let windows: Vec<&[u8]> = secret.as_bytes().windows(8).collect();
    let has_secret =
        |bytes: &[u8]| windows.iter().any(|window| bytes.windows(8).any(|found| found == *window));
    assert!(!has_secret(text.as_bytes()), "{what}: {text}");
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    for run in text.split(|c| !is_base64(c)).filter(|run| run.len() >= 8) {
        for offset in 0..4 {
            let rest = &run[offset.min(run.len())..];
            let decoded = STANDARD.decode(&rest[..rest.len() / 4 * 4]).unwrap();
            assert!(!has_secret(&decoded), "{what}: {run} has {}", String::from_utf8_lossy(&decoded));
        }
    }
}

/// Of each kind: `auth`, the path of the base URL, the secret, what the service must get, and what must not come back.
fn kinds(port: u16) -> Vec<(AuthInput, &'static str, String, String, Vec<String>)> {
    let key = |place, prefix: Option<&str>| AuthInput::ApiKey {
        place,
        name: "x-key".to_owned(),
        prefix: prefix.map(str::to_owned),
    };
    let map = r#"{"X-A":"Alpha-secret-0001","x-b":"Bearer Beta-secret-0002"}"#;
    let names = vec!["x-a".to_owned(), "x-b".to_owned()];
    let url =
        format!("https://{HOST}:{port}/hooks/T0000001/abcdefghijklmnopqrstuvwx?sig=qwertyuiopasdfghjkl");
    let own = |text: &str| vec![text.to_owned()];
    let basic = STANDARD.encode(format!("robot:{SECRET}"));
    let path_token = "7201:AAE-path_Token.value~0042";
    vec![
        (bearer(), "/v1", SECRET.into(), format!("authorization: Bearer {SECRET}\n"), own(SECRET)),
        (
            AuthInput::Basic { username: "robot".to_owned() },
            "/v1",
            SECRET.into(),
            format!("authorization: Basic {basic}\n"),
            vec![SECRET.into(), basic],
        ),
        (key(KeyPlace::Header, None), "/v1", SECRET.into(), format!("x-key: {SECRET}\n"), own(SECRET)),
        (
            key(KeyPlace::Query, None),
            "/v1",
            SECRET.into(),
            "?a=b&x-key=sk-Zq8%2F9%2Bx_TOKEN~value%200042%3D".to_owned(),
            vec![SECRET.into(), "sk-Zq8%2F9%2Bx_TOKEN~value%200042%3D".into()],
        ),
        (
            AuthInput::Headers { names },
            "/v1",
            map.into(),
            "x-b: Bearer Beta-secret-0002\n".to_owned(),
            vec!["Alpha-secret-0001".into(), "Beta-secret-0002".into()],
        ),
        (
            AuthInput::PathToken {},
            "/bot{secret}",
            path_token.into(),
            format!("GET /bot{path_token}/"),
            own(path_token),
        ),
        (
            AuthInput::Url {},
            "",
            url,
            "/hooks/T0000001/abcdefghijklmnopqrstuvwx/".to_owned(),
            vec!["abcdefghijklmnopqrstuvwx".into(), "qwertyuiopasdfghjkl".into()],
        ),
    ]
}

#[tokio::test]
async fn each_kind_reaches_the_service_and_nothing_of_it_comes_back() {
    let (port, received) = service().await;
    for (auth, path, secret, sent, hidden) in kinds(port) {
        for form in ["plain", "base64", "chunks", "gzip", "deflate", "headers"] {
            let what = format!("{auth:?} {form}");
            let credential = Opens::secret(&secret);
            let permit = permit(port, path, auth.clone(), &format!("/{form}?a=b"));
            let response = send(permit, &credential).await.unwrap_or_else(|error| panic!("{what}: {error}"));
            let got = received.lock().unwrap().pop().unwrap();
            assert!(got.contains(&sent), "{what}: {got}");
            assert!(got.contains("x-version: 7\n") && got.contains("accept-encoding: identity\n"), "{got}");
            assert!(got.contains("a=b"), "{got}");
            assert_eq!(credential.1.load(Ordering::SeqCst), 1);

            let body = text(&response);
            let headers = format!("{:?}", response.headers);
            for hidden in &hidden {
                assert_free_of(hidden, &body, &what);
                assert_free_of(hidden, &headers, &what);
            }
            assert!(!headers.contains("content-encoding"), "{headers}");
            let echo = if form == "headers" { &headers } else { &body };
            assert!(echo.contains("[redacted]"), "{what}: {echo}");
            if matches!(form, "plain" | "chunks" | "gzip" | "deflate") {
                assert!(body.contains("x-version: 7"), "the rest stays: {body}");
            }
            let length = response.headers.iter().find(|(name, _)| name == "content-length");
            assert!(length.is_none_or(|(_, length)| *length == body.len().to_string()), "{headers}");
        }
    }
}

#[tokio::test]
async fn an_access_token_and_no_credential_are_sent_as_such() {
    let (port, received) = service().await;
    let token = Opens(OpenedCredential::AccessToken("ya29.access-token-0001".into()), AtomicUsize::new(0));
    let oauth = AuthInput::ClientCredentials {
        token_url: "https://tokens.example/".to_owned(),
        client_id: "client".to_owned(),
        scopes: Vec::new(),
        style: connections::auth::ClientAuthStyle::Basic,
    };
    let response = send(permit(port, "/v1", oauth.clone(), "/plain"), &token).await.unwrap();
    assert!(
        received.lock().unwrap().pop().unwrap().contains("authorization: Bearer ya29.access-token-0001\n")
    );
    assert_free_of("ya29.access-token-0001", &text(&response), "token");

    let none = Opens(OpenedCredential::None, AtomicUsize::new(0));
    send(permit(port, "/v1", AuthInput::None {}, "/plain"), &none).await.unwrap();
    assert!(!received.lock().unwrap().pop().unwrap().contains("authorization"));

    // A credential of another kind is not sent at all.
    for (auth, credential) in [
        (AuthInput::None {}, Opens::secret(SECRET)),
        (bearer(), Opens(OpenedCredential::None, AtomicUsize::new(0))),
        (bearer(), Opens(OpenedCredential::AccessToken(SECRET.into()), AtomicUsize::new(0))),
        (oauth, Opens::secret(SECRET)),
        (bearer(), Opens::secret("a\r\nhost: evil")),
        (AuthInput::Url {}, Opens::secret("https://other.example/hooks/abcdefghijklmnopqrstuvwx")),
    ] {
        let refused = send(permit(port, "/v1", auth.clone(), "/plain"), &credential).await.unwrap_err();
        assert_eq!(refused.code, RefusalCode::SecretUnavailable, "{auth:?}");
        assert!(!refused.message.contains("TOKEN") && !refused.message.contains("plain"), "{refused}");
    }
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_request_does_not_open_the_credential() {
    let (port, received) = service().await;
    for (headers, body) in [
        (vec![("x-a", "b\r\nauthorization: evil")], 0),
        (vec![("x-a\r\nx", "b")], 0),
        (vec![("x-a", "b\0")], 0),
        (vec![("Authorization", "Bearer mine")], 0),
        (vec![("X-Version", "8")], 0),
        (vec![("host", "evil.example")], 0),
        (vec![], (1 << 20) + 1),
    ] {
        let credential = Opens::secret(SECRET);
        let pairs = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let request =
            OutboundRequest { headers: pairs.collect(), body: vec![0; body].into(), ..Default::default() };
        let permit = permit(port, "/v1", bearer(), "/plain");
        let sent = egress_client().send_through_connection(request, permit, &credential).await;
        let expected = if body == 0 { "header_denied" } else { "request_too_large" };
        assert_eq!(code(&sent), expected, "{headers:?}");
        assert_eq!(credential.1.load(Ordering::SeqCst), 0, "{headers:?}");
    }
    // The name of a header counts in any case.
    let key = AuthInput::ApiKey { place: KeyPlace::Header, name: "X-Key".to_owned(), prefix: None };
    let request = || OutboundRequest { headers: vec![("x-KEY".into(), "mine".into())], ..Default::default() };
    let permit_with_key = permit(port, "/v1", key, "/plain");
    let sent =
        egress_client().send_through_connection(request(), permit_with_key, &Opens::secret(SECRET)).await;
    assert_eq!(code(&sent), "header_denied");

    for (addresses, expected) in [
        (&["10.0.0.1"][..], "private_address"),
        (&["127.0.0.1", "169.254.169.254"], "private_address"),
        (&[], "dns_failed"),
    ] {
        let client = EgressClient::with_resolver(patient_limits(), FakeResolver::new(&[addresses])).unwrap();
        let credential = Opens::secret(SECRET);
        let sent = client.send_through_connection(
            OutboundRequest::default(),
            permit(port, "/v1", bearer(), "/plain"),
            &credential,
        );
        assert_eq!((code(&sent.await), credential.1.load(Ordering::SeqCst)), (expected, 0));
    }
    assert!(received.lock().unwrap().is_empty());

    // A permit of a connection is good for nothing without its credential, and the other way round.
    let plain = egress_client().send(request(), permit(port, "/v1", bearer(), "/plain")).await;
    assert_eq!(code(&plain), "secret_unavailable");
    let credential = Opens::secret(SECRET);
    let other = crate::gate::permit("GET", port, "/plain");
    let sent = egress_client().send_through_connection(request(), other, &credential).await;
    assert_eq!((code(&sent), credential.1.load(Ordering::SeqCst)), ("not_connected", 0));
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_coding_that_is_not_decoded_or_decompresses_to_too_much_is_refused() {
    let (port, _) = service().await;
    LazyLock::force(&BOMB);
    for (form, expected) in [("brotli", "upstream_failed"), ("bomb", "response_too_large")] {
        let permit = permit(port, "/v1", bearer(), &format!("/{form}"));
        let refused = send(permit, &Opens::secret(SECRET)).await.unwrap_err();
        assert_eq!(refused.code(), expected, "{form}");
        assert_free_of(SECRET, &refused.to_string(), form);
    }
    // The app cannot ask for a coding either.
    let (port, received) = service().await;
    let request =
        OutboundRequest { headers: vec![("Accept-Encoding".into(), "gzip".into())], ..Default::default() };
    let permit = permit(port, "/v1", bearer(), "/plain");
    egress_client().send_through_connection(request, permit, &Opens::secret(SECRET)).await.unwrap();
    assert!(received.lock().unwrap().pop().unwrap().contains("accept-encoding: identity\n"));
}

#[tokio::test]
async fn a_redirect_is_authorized_again_and_gets_the_credential_again() {
    let (port, received) = service().await;
    let credential = Opens::secret(SECRET);
    let response = send(permit(port, "/v1", bearer(), "/moved"), &credential).await.unwrap();
    let got = std::mem::take(&mut *received.lock().unwrap());
    assert_eq!(got.len(), 2);
    assert!(got[1].starts_with("GET /v1/plain?moved\n"), "{got:?}");
    assert!(got.iter().all(|got| got.contains(&format!("authorization: Bearer {SECRET}\n"))), "{got:?}");
    assert_free_of(SECRET, &text(&response), "moved");
    assert_eq!(credential.1.load(Ordering::SeqCst), 1, "it is opened once for a request");

    for (path, auth, target, expected) in [
        ("/v1", bearer(), "/away", "redirect_denied"),
        ("/v1", bearer(), "/above", "path_denied"),
        ("/bot{secret}", AuthInput::PathToken {}, "/moved", "redirect_denied"),
    ] {
        let sent = send(permit(port, path, auth, target), &Opens::secret("a-token-of-the-path")).await;
        assert_eq!(code(&sent), expected, "{target}");
        assert_eq!(std::mem::take(&mut *received.lock().unwrap()).len(), 1, "{target}");
    }
}
