//! Sign-ins with an issuer on this machine that responds as a test says.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use adapter_oidc::{OidcIssuers, Registration, ResponseMode};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use identity::oidc::{
    AuthRequestState, CallbackParams, EmailVerified, IdTokenClaims, OidcError, OidcProviders as _, Provider,
};
use kernel::Timestamp;
use ring::hmac;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const DESCRIPTION: &str = "/.well-known/openid-configuration";
const CLIENT_SECRET: &str = "a client secret of sufficient length";
const NOW: i64 = 1_000_000;

/// A response of the issuer.
#[derive(Debug, Clone)]
struct Answer {
    status: u16,
    headers: &'static str,
    body: String,
}

impl Answer {
    fn json(body: &Value) -> Self {
        Self { status: 200, headers: "Content-Type: application/json\r\n", body: body.to_string() }
    }

    fn status(status: u16) -> Self {
        Self { status, ..Self::json(&json!({})) }
    }

    fn html() -> Self {
        let body = "<!doctype html><title>Company</title><div id=app></div>".to_owned();
        Self { status: 200, headers: "Content-Type: text/html\r\n", body }
    }

    fn gzip() -> Self {
        Self { headers: "Content-Encoding: gzip\r\n", ..Self::json(&json!({})) }
    }
}

type Answers = Arc<Mutex<BTreeMap<&'static str, Answer>>>;

/// An issuer that signs ID tokens with the client secret.
struct Issuer {
    url: String,
    answers: Answers,
}

impl Issuer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Self { url, answers: Arc::default() };
        issuer.describe(&json!({}));
        issuer.set("/keys", Answer::json(&json!({"keys": []})));
        issuer.sign(&json!({}));
        let answers = Arc::clone(&issuer.answers);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(respond(stream, Arc::clone(&answers)));
            }
        });
        issuer
    }

    fn set(&self, path: &'static str, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(path, answer);
    }

    /// Publishes a description with these changes; null removes a member.
    fn describe(&self, changes: &Value) {
        let url = &self.url;
        let mut members = json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
            "id_token_signing_alg_values_supported": ["HS256"],
        });
        change(&mut members, changes);
        self.set(DESCRIPTION, Answer::json(&members));
    }

    /// Responds with an ID token with these changes of its claims.
    fn sign(&self, changes: &Value) {
        let mut claims = json!({
            "iss": self.url, "aud": "qala", "sub": "1", "iat": NOW, "exp": NOW + 300, "nonce": "n",
        });
        change(&mut claims, changes);
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&json!({"alg": "HS256"})), part(&claims));
        let key = hmac::Key::new(hmac::HMAC_SHA256, CLIENT_SECRET.as_bytes());
        let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes())));
        let body = json!({"access_token": "a", "token_type": "Bearer", "id_token": token});
        self.set("/token", Answer::json(&body));
    }

    fn registration(&self) -> Registration {
        Registration {
            provider: Provider {
                name: "company".to_owned(),
                title: "Company".to_owned(),
                trusted_domains: Vec::new(),
            },
            issuer: self.url.clone(),
            client_id: "qala".to_owned(),
            client_secret: Some(CLIENT_SECRET.into()),
            response_mode: None,
            scopes: None,
        }
    }

    async fn start_sign_in(&self) -> Result<String, OidcError> {
        self.start_sign_in_with(self.registration()).await
    }

    async fn start_sign_in_with(&self, registration: Registration) -> Result<String, OidcError> {
        let issuers = OidcIssuers::new(vec![registration]).unwrap();
        issuers.authorization_url("company", "https://qala.example.com/callback", &ties()).await
    }

    async fn finish_sign_in(&self) -> Result<IdTokenClaims, OidcError> {
        let issuers = OidcIssuers::new(vec![self.registration()]).unwrap();
        let returned = CallbackParams { code: "code".into(), issuer: None };
        let now = Timestamp::from_timestamp(NOW, 0).unwrap();
        issuers.exchange_code("company", "https://qala.example.com/callback", &returned, &ties(), now).await
    }
}

fn ties() -> AuthRequestState {
    AuthRequestState { state: "s".into(), nonce: "n".into(), verifier: "v".into() }
}

fn change(object: &mut Value, changes: &Value) {
    let (Some(object), Some(changes)) = (object.as_object_mut(), changes.as_object()) else { return };
    for (name, value) in changes {
        match value {
            Value::Null => drop(object.remove(name)),
            value => drop(object.insert(name.clone(), value.clone())),
        }
    }
}

/// Responds to one request and closes the connection.
async fn respond(mut stream: TcpStream, answers: Answers) {
    let mut request = Vec::new();
    loop {
        let mut part = [0; 4096];
        let Ok(length @ 1..) = stream.read(&mut part).await else { return };
        request.extend_from_slice(&part[..length]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&request);
    let path = text.split(' ').nth(1).unwrap_or_default();
    let answer = answers.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    let Answer { status, headers, body } = answer.unwrap_or_else(|| Answer::status(404));
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    drop(stream.write_all(response.as_bytes()).await);
}

#[tokio::test]
async fn a_person_signs_in() {
    let issuer = Issuer::start().await;
    let url = issuer.start_sign_in().await.unwrap();
    assert!(
        url.starts_with(&format!("{}/authorize?response_type=code&client_id=qala&", issuer.url)),
        "{url}"
    );
    let claims = issuer.finish_sign_in().await.unwrap();
    assert_eq!((claims.issuer, claims.subject, claims.email), (issuer.url, "1".to_owned(), None));
}

/// A document that is not what it must be is named, since the issuer does respond.
#[tokio::test]
async fn a_wrong_response_names_its_document() {
    let list = Answer::json(&json!([]));
    for (path, name) in [(DESCRIPTION, "description"), ("/keys", "key set"), ("/token", "token endpoint")] {
        for (answer, reason) in [
            (Answer::html(), "the body is not JSON"),
            (list.clone(), "the body is not a JSON object"),
            (Answer { body: String::new(), ..list.clone() }, "the body is not JSON"),
            (Answer::status(404), "the status is 404 Not Found"),
            (Answer::status(301), "the status is 301 Moved Permanently"),
            (Answer { status: 403, ..Answer::html() }, "the status is 403 Forbidden"),
            (Answer::gzip(), "content coding gzip"),
            (Answer { body: "x".repeat(2 << 20), ..list.clone() }, "too large"),
        ] {
            let issuer = Issuer::start().await;
            issuer.set(path, answer);
            let error = issuer.finish_sign_in().await.unwrap_err();
            let OidcError::InvalidResponse(text) = error else { panic!("{path} {reason}: {error}") };
            let address = format!("({name} at {}{path})", issuer.url);
            assert!(text.contains(reason) && text.ends_with(&address), "{path} {reason}: {text}");
            if path != "/token" {
                let before = issuer.start_sign_in().await.unwrap_err();
                assert!(matches!(&before, OidcError::InvalidResponse(found) if *found == text), "{before}");
            }
        }
    }
    let issuer = Issuer::start().await;
    issuer.set("/keys", Answer::json(&json!({"keys": {}})));
    let error = issuer.start_sign_in().await.unwrap_err().to_string();
    assert!(error.contains("`keys` is not a list (key set at "), "{error}");
}

/// Texts of an issuer are bounded in messages, and secrets of addresses are left out.
#[tokio::test]
async fn messages_repeat_no_secret_of_an_address() {
    let issuer = Issuer::start().await;
    let host = issuer.url.trim_start_matches("http://");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    for host in [host, &closed] {
        for path in ["keys".to_owned(), "x".repeat(5_000)] {
            let address = format!("http://user:hidden@{host}/{path}?key=hidden");
            issuer.describe(&json!({"jwks_uri": address}));
            let error = issuer.start_sign_in().await.unwrap_err().to_string();
            let is_named = error.contains(&format!("(key set at http://{host}/"));
            assert!(is_named && !error.contains("hidden") && error.len() < 500, "{error}");
        }
    }
}

#[tokio::test]
async fn a_failure_that_passes_is_no_wrong_response() {
    for path in [DESCRIPTION, "/keys", "/token"] {
        for status in [408, 425, 429, 500, 503] {
            let issuer = Issuer::start().await;
            issuer.set(path, Answer::status(status));
            let error = issuer.finish_sign_in().await.unwrap_err();
            assert!(matches!(error, OidcError::Unreachable(_)), "{path} {status}: {error}");
        }
    }
}

/// A person who is known by their subject needs nothing of the userinfo endpoint.
#[tokio::test]
async fn a_userinfo_endpoint_that_refuses_breaks_no_sign_in() {
    let json = |body: Value| Answer::json(&body);
    let jwt = Answer {
        headers: "Content-Type: application/jwt\r\n",
        body: "eyJhbGciOiJub25lIn0.e30.".to_owned(),
        ..Answer::status(200)
    };
    for (what, answer) in [
        ("400", Answer::status(400)),
        ("401", Answer::status(401)),
        ("403", Answer::status(403)),
        ("404", Answer::html()),
        ("500", Answer::status(500)),
        ("503", Answer::status(503)),
        ("a redirect", Answer::status(302)),
        ("a token", jwt),
        ("a list", json(json!([]))),
        ("a coding", Answer::gzip()),
        ("no subject", json(json!({"email": "a@example.com", "email_verified": true}))),
        ("a numeric subject", json(json!({"sub": 1, "email": "a@example.com", "email_verified": true}))),
        ("a malformed claim", json(json!({"sub": "1", "email": "a@example.com", "email_verified": 1}))),
    ] {
        for email in [None, Some("a@example.com")] {
            let issuer = Issuer::start().await;
            issuer.describe(&json!({"userinfo_endpoint": format!("{}/userinfo", issuer.url)}));
            issuer.sign(&json!({"email": email}));
            issuer.set("/userinfo", answer.clone());
            let claims = issuer.finish_sign_in().await.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(
                (claims.subject.as_str(), claims.email.as_deref(), claims.email_verified),
                ("1", email, EmailVerified::Absent),
                "{what}"
            );
        }
    }
    for email in [None, Some("a@example.com")] {
        let issuer = Issuer::start().await;
        issuer.describe(&json!({"userinfo_endpoint": format!("{}/userinfo", issuer.url)}));
        issuer.sign(&json!({"email": email}));
        issuer.set("/userinfo", json(json!({"sub": "1", "email": "a@example.com", "email_verified": true})));
        let claims = issuer.finish_sign_in().await.unwrap();
        assert_eq!(
            (claims.email.as_deref(), claims.email_verified),
            (Some("a@example.com"), EmailVerified::Yes)
        );
        issuer.set("/userinfo", json(json!({"sub": "2", "email": "a@example.com", "email_verified": true})));
        let refused = issuer.finish_sign_in().await.unwrap_err();
        assert!(matches!(refused, OidcError::Refused(_)), "{refused}");
    }
}

/// An issuer without a signing key signs with the client secret, and has no key to publish.
#[tokio::test]
async fn an_issuer_without_keys_signs_with_the_client_secret() {
    for keys in
        [json!({}), json!({"keys": null}), json!({"keys": []}), json!({"keys": [{"kty": "oct", "k": "AA"}]})]
    {
        let issuer = Issuer::start().await;
        issuer.set("/keys", Answer::json(&keys));
        issuer.start_sign_in().await.unwrap();
        assert_eq!(issuer.finish_sign_in().await.unwrap().subject, "1");
        // Where the description does not name the algorithm, only a key verifies.
        issuer.describe(&json!({"id_token_signing_alg_values_supported": ["RS256"]}));
        for error in [issuer.start_sign_in().await.unwrap_err(), issuer.finish_sign_in().await.unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains("there is no key that verifies ID tokens (key set at"), "{keys}: {text}");
        }
    }
    let issuer = Issuer::start().await;
    issuer.set("/keys", Answer::status(404));
    issuer.describe(&json!({"jwks_uri": null}));
    issuer.start_sign_in().await.unwrap();
    assert_eq!(issuer.finish_sign_in().await.unwrap().subject, "1");
    for algorithms in [json!(["RS256", "HS256"]), json!(["RS256"]), json!(null)] {
        issuer.describe(&json!({"jwks_uri": null, "id_token_signing_alg_values_supported": algorithms}));
        let text = issuer.finish_sign_in().await.unwrap_err().to_string();
        assert!(text.contains("`jwks_uri` is missing (description at"), "{algorithms}: {text}");
    }
    // With a key that could have signed, a token by the secret is refused unless the description names the algorithm.
    let key = json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([9; 256]), "e": "AQAB"});
    issuer.set("/keys", Answer::json(&json!({"keys": [key]})));
    for (algorithms, is_accepted) in
        [(json!(["RS256"]), false), (json!(null), false), (json!(["RS256", "HS256"]), true)]
    {
        issuer.describe(&json!({"id_token_signing_alg_values_supported": algorithms}));
        match issuer.finish_sign_in().await {
            Ok(_) => assert!(is_accepted, "{algorithms}"),
            Err(error) => {
                assert!(!is_accepted && matches!(error, OidcError::Refused(_)), "{algorithms}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn scopes_and_response_mode_are_those_of_the_operator() {
    let issuer = Issuer::start().await;
    issuer.describe(&json!({
        "response_modes_supported": ["query", "fragment", "form_post"],
        "scopes_supported": ["openid", "email", "name"],
    }));
    for (response_mode, scopes, expected) in [
        (None, None, (Some("openid email"), None)),
        (Some(ResponseMode::FormPost), None, (Some("openid email"), Some("form_post"))),
        (Some(ResponseMode::Query), None, (Some("openid email"), Some("query"))),
        (None, Some(vec!["profile".to_owned()]), (Some("openid profile"), None)),
        (None, Some(Vec::new()), (Some("openid"), None)),
    ] {
        let registration = Registration { response_mode, scopes, ..issuer.registration() };
        let url: url::Url = issuer.start_sign_in_with(registration).await.unwrap().parse().unwrap();
        let query: BTreeMap<_, _> = url.query_pairs().collect();
        let of = |name: &str| query.get(name).map(|value| &**value);
        assert_eq!((of("scope"), of("response_mode")), expected, "{url}");
    }
}
