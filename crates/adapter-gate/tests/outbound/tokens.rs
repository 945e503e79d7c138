//! Requests to token endpoints.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse as _,
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use connections::{
    ConnectionPolicy, OutboundClient as _, OutboundRequest, Refusal,
    auth::{AuthInput, ClientAuthStyle},
    authorize_connection, authorize_token_request,
    oauth_apps::OauthApp,
    outbound::{AuthorizationCode, GrantSource, IssuedToken, TokenError, TokenGrant},
};
use kernel::Timestamp;
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    connection::{Opens, policy},
    gate::{HOST, egress_client},
};

const PKCS8: &str = include_str!("keys/rsa_pkcs8.pem");
const PKCS1: &str = include_str!("keys/rsa_pkcs1.pem");
const CLIENT_SECRET: &str = "s3cret of/the+client";

type Received = Arc<Mutex<Vec<(HeaderMap, String)>>>;

/// A token endpoint that responds in the same way to every request.
async fn endpoint(status: u16, body: &str) -> (u16, Received) {
    let received = Received::default();
    let (log, body) = (Arc::clone(&received), body.to_owned());
    let respond = async move |headers: HeaderMap, form: String| {
        log.lock().unwrap().push((headers, form));
        let location = [(header::LOCATION, "/elsewhere")];
        (StatusCode::from_u16(status).unwrap(), location, body).into_response()
    };
    let router = Router::new().fallback(respond);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (port, received)
}

fn client_credentials(style: ClientAuthStyle) -> AuthInput {
    AuthInput::ClientCredentials {
        token_url: "https://tokens.example/token".to_owned(),
        client_id: "client:1".to_owned(),
        scopes: vec!["read".to_owned(), "write".to_owned()],
        style,
    }
}

fn service_account(audience: Option<&str>, subject: Option<&str>) -> AuthInput {
    AuthInput::ServiceAccount {
        token_url: "https://tokens.example/token".to_owned(),
        scopes: vec!["read".to_owned()],
        audience: audience.map(str::to_owned),
        subject: subject.map(str::to_owned),
    }
}

fn key_file(pem: &str) -> String {
    json!({
        "client_email": "robot@project.example",
        "private_key_id": "key-1",
        "private_key": pem,
        "token_uri": "https://evil.example/token",
    })
    .to_string()
}

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
}

/// Opens one grant, and counts how often.
struct Grants(TokenGrant, AtomicUsize);

impl Grants {
    fn secret(text: &str) -> Self {
        Self(TokenGrant::Secret(text.into()), AtomicUsize::new(0))
    }
}

#[async_trait]
impl GrantSource for Grants {
    async fn open_grant(&self, _: &Arc<ConnectionPolicy>) -> Result<TokenGrant, Refusal> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.clone())
    }
}

fn app(style: ClientAuthStyle) -> OauthApp {
    OauthApp {
        client_id: "client:1".to_owned(),
        client_secret: CLIENT_SECRET.into(),
        style,
        authorize_url: "https://auth.example/authorize".parse().unwrap(),
        token_url: "https://auth.example/token".parse().unwrap(),
        revocation_url: Some("https://auth.example/revoke".parse().unwrap()),
        issuer: None,
    }
}

async fn ask(port: u16, policy: &Arc<ConnectionPolicy>, secret: &Grants) -> Result<IssuedToken, TokenError> {
    let permit = authorize_token_request(&format!("http://{HOST}:{port}/token"), policy).unwrap();
    egress_client().request_token(permit, secret, now()).await
}

fn code(result: Result<IssuedToken, TokenError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(TokenError::GrantEnded) => "grant_ended".to_owned(),
        Err(TokenError::Refused(refusal)) => {
            assert!(!refusal.message.contains("leak") && !refusal.message.contains("s3cret"), "{refusal}");
            refusal.code().to_owned()
        }
    }
}

const ISSUED: &str = r#"{"access_token":"token-1","token_type":"Bearer","expires_in":3600}"#;

#[tokio::test]
async fn a_client_proves_itself_in_the_header_or_in_the_body() {
    let (port, received) = endpoint(200, ISSUED).await;
    for style in [ClientAuthStyle::Basic, ClientAuthStyle::Body] {
        let policy = policy(port, "/v1", client_credentials(style));
        let token = ask(port, &policy, &Grants::secret(CLIENT_SECRET)).await.unwrap();
        assert_eq!(token.access_token.expose_secret(), "token-1");
        assert_eq!(token.lifetime, Some(Duration::from_secs(3600)));
        let (headers, form) = received.lock().unwrap().pop().unwrap();
        assert_eq!(headers["content-type"], "application/x-www-form-urlencoded");
        assert!(form.starts_with("grant_type=client_credentials&scope=read+write"), "{form}");
        let in_form = "&client_id=client%3A1&client_secret=s3cret+of%2Fthe%2Bclient";
        match style {
            // Both parts are encoded as in a form first (RFC 6749, section 2.3.1).
            ClientAuthStyle::Basic => {
                let pair = STANDARD.encode("client%3A1:s3cret+of%2Fthe%2Bclient");
                assert_eq!(headers["authorization"].to_str().unwrap(), format!("Basic {pair}"));
                assert!(!form.contains("client_id") && !form.contains("client_secret"), "{form}");
            }
            ClientAuthStyle::Body => {
                assert!(form.ends_with(in_form), "{form}");
                assert!(!headers.contains_key("authorization"));
            }
        }
    }
}

#[tokio::test]
async fn a_service_account_signs_an_assertion() {
    let (port, received) = endpoint(200, ISSUED).await;
    for (pem, audience, subject) in
        [(PKCS8, None, None), (PKCS1, Some("https://audience.example/"), Some("ann@example.com"))]
    {
        let policy = policy(port, "/v1", service_account(audience, subject));
        ask(port, &policy, &Grants::secret(&key_file(pem))).await.unwrap();
        let (headers, form) = received.lock().unwrap().pop().unwrap();
        assert!(!headers.contains_key("authorization"));
        let form: Vec<(String, String)> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        assert_eq!(form[0].1, "urn:ietf:params:oauth:grant-type:jwt-bearer");
        let (message, signature) = form[1].1.rsplit_once('.').unwrap();
        let (header, claims) = message.split_once('.').unwrap();
        let read =
            |part: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
        assert_eq!(read(header), json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"}));
        let mut expected = json!({
            "iss": "robot@project.example",
            "aud": audience.unwrap_or("https://tokens.example/token"),
            "scope": "read",
            "iat": 1_800_000_000,
            "exp": 1_800_003_600,
        });
        if let Some(subject) = subject {
            expected["sub"] = subject.into();
        }
        assert_eq!(read(claims), expected);
        let PrivateKeyDer::Pkcs8(der) = PrivateKeyDer::from_pem_slice(PKCS8.as_bytes()).unwrap() else {
            panic!()
        };
        let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
        key.verify(message.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    }
}

#[tokio::test]
async fn other_responses_say_why_there_is_no_token() {
    let policy_of = |port| policy(port, "/v1", client_credentials(ClientAuthStyle::Basic));
    for (status, body, expected) in [
        (200, r#"{"access_token":"a"}"#, "ok"),
        (200, r#"{"access_token":"a","token_type":"bearer","expires_in":"60"}"#, "ok"),
        (201, r#"{"access_token":"a"}"#, "ok"),
        (202, r#"{"access_token":"a","token_type":"BearerToken"}"#, "ok"),
        (202, r#"{}"#, "upstream_failed"),
        (204, "", "upstream_failed"),
        (200, r#"{"access_token":"a","token_type":"mac"}"#, "upstream_failed"),
        (200, r#"{"access_token":""}"#, "upstream_failed"),
        (200, r#"{"access_token":"leak\r\nhost: evil"}"#, "upstream_failed"),
        (200, r#"{"error":"bad_verification_code","error_description":"leak"}"#, "auth_rejected"),
        (200, r#"{"ok":false,"error":"invalid_client_id"}"#, "auth_rejected"),
        (200, r#"{"ok":false,"error":"invalid_refresh_token"}"#, "grant_ended"),
        (200, r#"{"error":"bad_refresh_token"}"#, "grant_ended"),
        (200, "\u{feff}{\"error\":\"invalid_grant\"}", "grant_ended"),
        (200, r#"{"error":"temporarily_unavailable"}"#, "upstream_failed"),
        (200, r#"{"ok":false,"error":"ratelimited"}"#, "upstream_failed"),
        (200, r#"{"ok":false,"error":"leak"}"#, "upstream_failed"),
        (200, r#"{"error":""}"#, "upstream_failed"),
        (200, r#"{"access_token":"a","error":"leak"}"#, "ok"),
        (400, r#"{"access_token":"a","error":"leak"}"#, "auth_rejected"),
        (200, "leak", "upstream_failed"),
        (400, r#"{"error":"invalid_grant","error_description":"leak"}"#, "grant_ended"),
        (400, r#"{"error":"invalid_client","error_description":"leak"}"#, "auth_rejected"),
        (400, r#"{"error":{"message":"leak"}}"#, "auth_rejected"),
        (503, r#"{"error":"invalid_client"}"#, "upstream_failed"),
        (401, "leak s3cret", "auth_rejected"),
        (404, "", "auth_rejected"),
        (429, r#"{"error":"slow_down"}"#, "upstream_failed"),
        (400, r#"{"error":"temporarily_unavailable"}"#, "auth_rejected"),
        (500, r#"{"error":"invalid_grant"}"#, "upstream_failed"),
        (302, "", "redirect_denied"),
        (307, "", "redirect_denied"),
    ] {
        let (port, received) = endpoint(status, body).await;
        let asked = ask(port, &policy_of(port), &Grants::secret(CLIENT_SECRET)).await;
        assert_eq!(code(asked), expected, "{status} {body}");
        assert_eq!(received.lock().unwrap().len(), 1, "{status} {body}");
    }
    let (port, _) = endpoint(200, &"x".repeat(65 << 10)).await;
    assert_eq!(code(ask(port, &policy_of(port), &Grants::secret(CLIENT_SECRET)).await), "response_too_large");
}

#[tokio::test]
async fn an_unfit_secret_or_permit_asks_nothing() {
    let (port, received) = endpoint(200, ISSUED).await;
    let account = policy(port, "/v1", service_account(None, None));
    let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for secret in ["{}", CLIENT_SECRET, &key_file(broken), &key_file("x")] {
        assert_eq!(code(ask(port, &account, &Grants::secret(secret)).await), "secret_unavailable");
    }
    let token =
        Grants(TokenGrant::RefreshToken(app(ClientAuthStyle::Body), "token-1".into()), AtomicUsize::new(0));
    assert_eq!(code(ask(port, &account, &token).await), "secret_unavailable");
    // Permits of one kind do not serve for another.
    let through = authorize_connection("/token", "POST", &account).unwrap();
    let secret = Grants::secret(&key_file(PKCS8));
    assert_eq!(code(egress_client().request_token(through, &secret, now()).await), "not_connected");
    let permit = || authorize_token_request(&format!("http://{HOST}:{port}/token"), &account).unwrap();
    assert!(egress_client().send(OutboundRequest::default(), permit()).await.is_err());
    let opens = Opens::secret("x");
    assert!(
        egress_client().send_through_connection(OutboundRequest::default(), permit(), &opens).await.is_err()
    );
    assert_eq!((received.lock().unwrap().len(), secret.1.load(Ordering::SeqCst)), (0, 0));
    // The token endpoint passes the checks of every other host.
    for url in ["http://tokens.example/", "https://tokens.example:8443/", "https://127.0.0.1/"] {
        assert!(authorize_token_request(url, &account).is_err(), "{url}");
    }
}

#[tokio::test]
async fn codes_and_refresh_tokens_are_exchanged_by_the_app_of_the_operator() {
    let issued =
        r#"{"access_token":"token-1","refresh_token":"refresh-2","token_type":"Bearer","expires_in":"60"}"#;
    let (port, received) = endpoint(200, issued).await;
    let account = policy(port, "/v1", AuthInput::AuthorizationCode {});
    let code = || AuthorizationCode {
        code: "code/1".into(),
        verifier: "verifier-1".into(),
        redirect_uri: "https://qala.example/v1/connectors/callback".to_owned(),
    };
    for (grant, basic, expected) in [
        (
            TokenGrant::Code(app(ClientAuthStyle::Body), code()),
            false,
            vec![
                ("grant_type", "authorization_code"),
                ("code", "code/1"),
                ("redirect_uri", "https://qala.example/v1/connectors/callback"),
                ("code_verifier", "verifier-1"),
                ("client_id", "client:1"),
                ("client_secret", CLIENT_SECRET),
            ],
        ),
        (
            TokenGrant::RefreshToken(app(ClientAuthStyle::Basic), "refresh-1".into()),
            true,
            vec![("grant_type", "refresh_token"), ("refresh_token", "refresh-1")],
        ),
    ] {
        let token = ask(port, &account, &Grants(grant, AtomicUsize::new(0))).await.unwrap();
        assert_eq!(token.access_token.expose_secret(), "token-1");
        assert_eq!(token.refresh_token.unwrap().expose_secret(), "refresh-2");
        assert_eq!(token.lifetime, Some(Duration::from_secs(60)));
        let (headers, form) = received.lock().unwrap().pop().unwrap();
        let pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        let pairs: Vec<(&str, &str)> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, expected);
        assert_eq!(headers.contains_key(header::AUTHORIZATION), basic);
    }
}
