//! An OpenID Connect issuer for tests, on a port of its own.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

/// What the issuer says of whoever signs in next, and how it misbehaves.
#[derive(Debug, Clone)]
pub struct IssuerBehaviour {
    /// `sub`.
    pub subject: String,
    /// `email`.
    pub email: Option<String>,
    /// `email_verified`, where it is said at all.
    pub email_verified: Option<bool>,
    /// Takes the place of claims, to forge them.
    pub claim_overrides: Value,
    /// Claims that are left out.
    pub omitted_claims: &'static [&'static str],
    /// Signs with a key that is not published.
    pub is_signed_with_unpublished_key: bool,
    /// What it says of whether it names itself when it sends a browser back.
    pub iss_parameter_supported: Option<bool>,
}

impl Default for IssuerBehaviour {
    fn default() -> Self {
        Self {
            subject: "subject-1".to_owned(),
            email: Some("aigerim@example.test".to_owned()),
            email_verified: Some(true),
            claim_overrides: json!({}),
            omitted_claims: &[],
            is_signed_with_unpublished_key: false,
            iss_parameter_supported: None,
        }
    }
}

/// A running issuer; it ends with the test.
#[derive(Debug, Clone)]
pub struct Issuer {
    base_url: String,
    state: Arc<Mutex<State>>,
}

/// How a path of the issuer fails.
#[derive(Debug, Clone, Copy)]
pub enum IssuerFailure {
    /// It answers with this status, in JSON that says `error`.
    Status(u16),
    /// It answers 200 with something that is not OAuth's.
    InvalidBody,
    /// It hangs up.
    CloseConnection,
}

#[derive(Debug, Default)]
struct State {
    behaviour: IssuerBehaviour,
    failure: Option<(&'static str, IssuerFailure)>,
    /// By code: challenge, nonce, redirect URI.
    codes: HashMap<String, (String, String, String)>,
}

const CLIENT_ID: &str = "qala";
const CLIENT_SECRET: &str = "the issuer's secret";

/// Why a connection ends without an answer.
#[derive(Debug)]
struct ConnectionClosed;

impl std::fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hung up")
    }
}

impl std::error::Error for ConnectionClosed {}

fn json_response(status: u16, answer: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let kind = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

impl Issuer {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// When there is no port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let issuer = Self { base_url: format!("http://{}", listener.local_addr()?), state: Arc::default() };
        let serving = issuer.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let issuer = serving.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let issuer = issuer.clone();
                        async move { issuer.handle_request(request).await.ok_or(ConnectionClosed) }
                    });
                    let _ended = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(issuer)
    }

    /// The issuer's own name.
    #[must_use]
    pub fn issuer_url(&self) -> &str {
        &self.base_url
    }

    /// The operator's file that names it, in `folder`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_config(&self, folder: &std::path::Path, trusted_domains: &[&str]) -> Result<String> {
        let secret = folder.join("secret");
        std::fs::write(&secret, format!("{CLIENT_SECRET}\n"))?;
        let path = folder.join("oidc.toml");
        std::fs::write(
            &path,
            format!(
                "[[provider]]\nname = \"company\"\ntitle = \"Company\"\nissuer = {:?}\nclient_id = {CLIENT_ID:?}\n\
                 client_secret_file = {secret:?}\ntrusted_domains = {trusted_domains:?}\n",
                self.base_url
            ),
        )?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// What it will say.
    pub fn set_behaviour(&self, word: IssuerBehaviour) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).behaviour = word;
    }

    /// Makes one of its paths fail from now on, or none.
    pub fn set_failure(&self, failing: Option<(&'static str, IssuerFailure)>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure = failing;
    }

    /// Signs somebody in at the address to which a browser was sent: where the browser is sent back to.
    ///
    /// # Errors
    ///
    /// When the address is not such a one.
    pub fn sign_in(&self, address: &str) -> Result<String> {
        let url: url::Url = address.parse()?;
        anyhow::ensure!(address.starts_with(&format!("{}/authorize?", self.base_url)), "{address}");
        let query: HashMap<_, _> = url.query_pairs().into_owned().collect();
        let get = |name: &str| query.get(name).cloned().with_context(|| format!("no {name}: {address}"));
        anyhow::ensure!(get("response_type")? == "code" && get("client_id")? == CLIENT_ID, "{address}");
        anyhow::ensure!(get("code_challenge_method")? == "S256", "{address}");
        anyhow::ensure!(get("scope")?.split(' ').any(|scope| scope == "openid"), "{address}");
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let code = format!("code-{}", state.codes.len());
        let authorization = (get("code_challenge")?, get("nonce")?, get("redirect_uri")?);
        state.codes.insert(code.clone(), authorization);
        let mut back: url::Url = get("redirect_uri")?.parse()?;
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &get("state")?);
        Ok(back.into())
    }

    /// None where it hangs up.
    async fn handle_request(&self, request: Request<Incoming>) -> Option<Response<Full<Bytes>>> {
        let failing = self.state.lock().unwrap_or_else(PoisonError::into_inner).failure;
        let failure = failing.filter(|(path, _)| *path == request.uri().path());
        match failure {
            Some((_, IssuerFailure::CloseConnection)) => return None,
            Some((_, IssuerFailure::Status(status))) => {
                return Some(json_response(status, &json!({"error": "server_error"})));
            }
            Some((_, IssuerFailure::InvalidBody)) => {
                return Some(json_response(200, &json!("down for maintenance")));
            }
            None => {}
        }
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let (status, answer) = match parts.uri.path() {
            "/.well-known/openid-configuration" => (200, self.metadata()),
            "/keys" => (200, json!({"keys": [self.public_key()]})),
            "/token" => {
                let authorization = parts.headers.get(http::header::AUTHORIZATION);
                match self.token(authorization.and_then(|value| value.to_str().ok()), &body) {
                    Some(answer) => (200, answer),
                    None => (400, json!({"error": "invalid_grant"})),
                }
            }
            _ => (404, json!({})),
        };
        Some(json_response(status, &answer))
    }

    fn metadata(&self) -> Value {
        let url = &self.base_url;
        let names_itself =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).behaviour.iss_parameter_supported;
        let mut metadata = json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"), "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
        });
        if let Some(names_itself) = names_itself {
            metadata["authorization_response_iss_parameter_supported"] = json!(names_itself);
        }
        metadata
    }

    fn public_key(&self) -> Value {
        let Ok(key) = SigningKey::from_slice(&[3; 32]) else { return Value::Null };
        let point = key.verifying_key().to_sec1_point(false);
        let coordinate = |at: usize| BASE64.encode(&point.as_bytes()[at..at + 32]);
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "1", "x": coordinate(1), "y": coordinate(33)})
    }

    fn token(&self, authorization: Option<&str>, body: &[u8]) -> Option<Value> {
        let form: HashMap<_, _> = url::form_urlencoded::parse(body).into_owned().collect();
        let basic = authorization?.strip_prefix("Basic ")?;
        let credentials = base64::engine::general_purpose::STANDARD.decode(basic).ok()?;
        let secret: String = url::form_urlencoded::byte_serialize(CLIENT_SECRET.as_bytes()).collect();
        (credentials == format!("{CLIENT_ID}:{secret}").into_bytes()).then_some(())?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (challenge, nonce, redirect) = state.codes.remove(form.get("code")?)?;
        let verifier = Sha256::digest(form.get("code_verifier")?.as_bytes());
        (BASE64.encode(verifier) == challenge && *form.get("redirect_uri")? == redirect).then_some(())?;

        let word = &state.behaviour;
        let now = crate::unix_time();
        let mut claims = json!({
            "iss": self.base_url, "aud": CLIENT_ID, "sub": word.subject, "iat": now, "exp": now + 300, "nonce": nonce,
        });
        if let Some(email) = &word.email {
            claims["email"] = json!(email);
        }
        if let Some(verified) = word.email_verified {
            claims["email_verified"] = json!(verified);
        }
        for (name, value) in word.claim_overrides.as_object()? {
            claims[name] = value.clone();
        }
        for name in word.omitted_claims {
            claims.as_object_mut()?.remove(*name);
        }
        let head = BASE64.encode(json!({"alg": "ES256", "kid": "1"}).to_string());
        let signed = format!("{head}.{}", BASE64.encode(claims.to_string()));
        let key =
            SigningKey::from_slice(&[if word.is_signed_with_unpublished_key { 4 } else { 3 }; 32]).ok()?;
        let signature: Signature = key.sign(signed.as_bytes());
        let id_token = format!("{signed}.{}", BASE64.encode(signature.to_bytes()));
        Some(
            json!({"access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": id_token}),
        )
    }
}
