//! An OpenID Connect issuer for tests that can be made to misbehave.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

/// Claims about the next person who signs in, and deviations from the specification.
#[derive(Debug, Clone)]
pub struct IssuerBehaviour {
    pub subject: String,
    pub email: Option<String>,
    /// The claim `email_verified`; `None` to omit it.
    pub email_verified: Option<bool>,
    /// Claims that replace the regular ones, to forge them.
    pub claim_overrides: Value,
    pub omitted_claims: &'static [&'static str],
    /// Signs with a key that is not in the published key set.
    pub is_signed_with_unpublished_key: bool,
    /// Signs by HS256 with this and not with the key.
    pub hmac_key: Option<HmacKey>,
    /// `authorization_response_iss_parameter_supported` in the metadata (RFC 9207); `None` to omit it.
    pub iss_parameter_supported: Option<bool>,
    /// Members of the metadata that replace the regular ones; null removes one.
    pub metadata_overrides: Value,
    /// Keys of the key set beside the one that signs.
    pub other_keys: Vec<Value>,
    /// The whole key set, in place of the regular one.
    pub key_set: Option<Value>,
    /// Members of the token response that replace the regular ones; null removes one.
    pub token_overrides: Value,
    /// Status of a token response.
    pub token_status: u16,
    /// Response of the userinfo endpoint; `None` if there is no such endpoint.
    pub userinfo: Option<Value>,
    /// True if the client must authenticate in the body.
    pub takes_secret_in_body: bool,
    /// True if it refuses scopes that it does not announce, and an address or a name without `form_post`, as Apple does.
    pub refuses_as_apple: bool,
    /// Content coding that responses claim to have.
    pub content_coding: Option<&'static str>,
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
            hmac_key: None,
            iss_parameter_supported: None,
            metadata_overrides: json!({}),
            other_keys: Vec::new(),
            key_set: None,
            token_overrides: json!({}),
            token_status: 200,
            userinfo: None,
            takes_secret_in_body: false,
            refuses_as_apple: false,
            content_coding: None,
        }
    }
}

/// Key of an ID token that is signed by HS256.
#[derive(Debug, Clone, Copy)]
pub enum HmacKey {
    ClientSecret,
    /// The published public key, as an attacker would use it.
    PublicKey,
}

/// Replaces members of an object; null removes one.
fn replace_members(object: &mut Value, overrides: &Value) {
    let (Some(object), Some(overrides)) = (object.as_object_mut(), overrides.as_object()) else { return };
    for (name, value) in overrides {
        match value {
            Value::Null => drop(object.remove(name)),
            value => drop(object.insert(name.clone(), value.clone())),
        }
    }
}

/// A running issuer. It ends with the runtime of the test.
#[derive(Debug, Clone)]
pub struct Issuer {
    base_url: String,
    state: Arc<Mutex<State>>,
}

/// Failure of one path of the issuer.
#[derive(Debug, Clone, Copy)]
pub enum IssuerFailure {
    /// Responds with this status and a JSON error.
    Status(u16),
    /// Responds 200 with a body that is not valid OAuth.
    InvalidBody,
    /// Responds 200 with a web page, as a server does that knows no such path and shows its application.
    WebPage,
    /// Responds 200 with an empty list.
    EmptyList,
    /// Closes the connection without a response.
    CloseConnection,
}

#[derive(Debug, Default)]
struct State {
    behaviour: IssuerBehaviour,
    failure: Option<(&'static str, IssuerFailure)>,
    /// Challenge, nonce and redirect URI by code.
    codes: HashMap<String, (String, String, String)>,
}

const CLIENT_ID: &str = "qala";
const CLIENT_SECRET: &str = "the issuer's secret";

/// The error that makes hyper close a connection without a response.
#[derive(Debug)]
struct ConnectionClosed;

impl std::fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection closed")
    }
}

impl std::error::Error for ConnectionClosed {}

fn json_response(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let kind = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

fn html_response(page: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page)));
    let kind = http::HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

impl Issuer {
    /// Returns the URL of the issuer, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Starts an issuer on a free port.
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

    /// The issuer identifier.
    #[must_use]
    pub fn issuer_url(&self) -> &str {
        &self.base_url
    }

    /// Writes the server's configuration file for this issuer to `folder` and returns its path.
    pub fn write_config(&self, folder: &std::path::Path, trusted_domains: &[&str]) -> Result<String> {
        self.write_config_with(folder, trusted_domains, "")
    }

    /// Like [`Self::write_config`], with more lines for the provider.
    pub fn write_config_with(
        &self,
        folder: &std::path::Path,
        trusted_domains: &[&str],
        lines: &str,
    ) -> Result<String> {
        let secret = folder.join("secret");
        std::fs::write(&secret, format!("{CLIENT_SECRET}\n"))?;
        let path = folder.join("oidc.toml");
        std::fs::write(
            &path,
            format!(
                "[[provider]]\nname = \"company\"\ntitle = \"Company\"\nissuer = {:?}\nclient_id = {CLIENT_ID:?}\n\
                 client_secret_file = {secret:?}\ntrusted_domains = {trusted_domains:?}\n{lines}",
                self.base_url
            ),
        )?;
        Ok(path.to_string_lossy().into_owned())
    }

    pub fn set_behaviour(&self, behaviour: IssuerBehaviour) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).behaviour = behaviour;
    }

    /// Makes one path fail from now on, or none.
    pub fn set_failure(&self, failure: Option<(&'static str, IssuerFailure)>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure = failure;
    }

    /// Signs a person in at the URL to which the browser was redirected, and returns the URL to which it is redirected
    /// back.
    pub fn sign_in(&self, address: &str) -> Result<String> {
        let url: url::Url = address.parse()?;
        anyhow::ensure!(address.starts_with(&format!("{}/authorize?", self.base_url)), "{address}");
        let query: HashMap<_, _> = url.query_pairs().into_owned().collect();
        let get = |name: &str| query.get(name).cloned().with_context(|| format!("no {name}: {address}"));
        anyhow::ensure!(get("response_type")? == "code" && get("client_id")? == CLIENT_ID, "{address}");
        anyhow::ensure!(get("code_challenge_method")? == "S256", "{address}");
        let scope = get("scope")?;
        anyhow::ensure!(scope.split(' ').any(|scope| scope == "openid"), "{address}");
        if self.behaviour().refuses_as_apple {
            let supported = self.metadata()["scopes_supported"].clone();
            let is_known =
                |scope: &str| supported.as_array().is_some_and(|all| all.iter().any(|it| it == scope));
            anyhow::ensure!(scope.split(' ').all(is_known), "invalid_scope: {address}");
            let is_form = query.get("response_mode").is_some_and(|mode| mode == "form_post");
            anyhow::ensure!(is_form || scope == "openid", "response_mode must be form_post: {address}");
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let code = format!("code-{}", state.codes.len());
        let authorization = (get("code_challenge")?, get("nonce")?, get("redirect_uri")?);
        state.codes.insert(code.clone(), authorization);
        let mut redirect: url::Url = get("redirect_uri")?.parse()?;
        redirect.query_pairs_mut().append_pair("code", &code).append_pair("state", &get("state")?);
        Ok(redirect.into())
    }

    /// Returns `None` to close the connection.
    async fn handle_request(&self, request: Request<Incoming>) -> Option<Response<Full<Bytes>>> {
        let failure = self.state.lock().unwrap_or_else(PoisonError::into_inner).failure;
        let failure = failure.filter(|(path, _)| *path == request.uri().path());
        match failure {
            Some((_, IssuerFailure::CloseConnection)) => return None,
            Some((_, IssuerFailure::Status(status))) => {
                return Some(json_response(status, &json!({"error": "server_error"})));
            }
            Some((_, IssuerFailure::InvalidBody)) => {
                return Some(json_response(200, &json!("down for maintenance")));
            }
            Some((_, IssuerFailure::WebPage)) => {
                return Some(html_response("<!doctype html><title>Company</title>".to_owned()));
            }
            Some((_, IssuerFailure::EmptyList)) => return Some(json_response(200, &json!([]))),
            None => {}
        }
        let (parts, body) = request.into_parts();
        if parts.uri.path() == "/authorize" {
            return Some(self.authorization_page(&parts.uri));
        }
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let (status, body) = match parts.uri.path() {
            "/.well-known/openid-configuration" => (200, self.metadata()),
            "/keys" => {
                let IssuerBehaviour { key_set, other_keys: mut keys, .. } = self.behaviour();
                keys.push(self.public_key());
                (200, key_set.unwrap_or_else(|| json!({"keys": keys})))
            }
            "/userinfo" => {
                let authorization = parts.headers.get(http::header::AUTHORIZATION);
                match self.behaviour().userinfo {
                    Some(userinfo) if authorization.is_some_and(|value| value == "Bearer unused") => {
                        (200, userinfo)
                    }
                    _ => (401, json!({"error": "invalid_token"})),
                }
            }
            "/token" => {
                let authorization = parts.headers.get(http::header::AUTHORIZATION);
                match self.token(authorization.and_then(|value| value.to_str().ok()), &body) {
                    Some(body) => (self.behaviour().token_status, body),
                    None => (400, json!({"error": "invalid_grant"})),
                }
            }
            _ => (404, json!({})),
        };
        let mut response = json_response(status, &body);
        if let Some(coding) = self.behaviour().content_coding {
            let coding = http::HeaderValue::from_static(coding);
            response.headers_mut().insert(http::header::CONTENT_ENCODING, coding);
        }
        Some(response)
    }

    fn behaviour(&self) -> IssuerBehaviour {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).behaviour.clone()
    }

    /// The page that asks the person, with a link for each answer.
    fn authorization_page(&self, uri: &http::Uri) -> Response<Full<Bytes>> {
        let address = format!("{}{uri}", self.base_url);
        let Ok(signed_in) = self.sign_in(&address) else {
            return json_response(400, &json!({"error": "invalid_request"}));
        };
        let denied = signed_in.replace("code=", "error=access_denied&was=");
        let link = |url: &str, words: &str| format!("<a href='{}'>{words}</a>", url.replace('&', "&amp;"));
        let page = format!(
            "<!doctype html><title>Company</title><link rel=icon href='data:,'>{} {}",
            link(&signed_in, "Continue"),
            link(&denied, "Cancel")
        );
        html_response(page)
    }

    fn metadata(&self) -> Value {
        let url = &self.base_url;
        let iss_parameter_supported =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).behaviour.iss_parameter_supported;
        let mut metadata = json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"), "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
        });
        if let Some(iss_parameter_supported) = iss_parameter_supported {
            metadata["authorization_response_iss_parameter_supported"] = json!(iss_parameter_supported);
        }
        let behaviour = self.behaviour();
        if behaviour.userinfo.is_some() {
            metadata["userinfo_endpoint"] = json!(format!("{url}/userinfo"));
        }
        replace_members(&mut metadata, &behaviour.metadata_overrides);
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
        if self.behaviour().takes_secret_in_body {
            let sent = (form.get("client_id")?.as_str(), form.get("client_secret")?.as_str());
            (authorization.is_none() && sent == (CLIENT_ID, CLIENT_SECRET)).then_some(())?;
        } else {
            let basic = authorization?.strip_prefix("Basic ")?;
            let credentials = base64::engine::general_purpose::STANDARD.decode(basic).ok()?;
            let secret: String = url::form_urlencoded::byte_serialize(CLIENT_SECRET.as_bytes()).collect();
            let is_right = credentials == format!("{CLIENT_ID}:{secret}").into_bytes();
            (is_right && !form.contains_key("client_secret")).then_some(())?;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (challenge, nonce, redirect) = state.codes.remove(form.get("code")?)?;
        let verifier = Sha256::digest(form.get("code_verifier")?.as_bytes());
        (BASE64.encode(verifier) == challenge && *form.get("redirect_uri")? == redirect).then_some(())?;

        let behaviour = &state.behaviour;
        let now = crate::unix_time();
        let mut claims = json!({
            "iss": self.base_url, "aud": CLIENT_ID, "sub": behaviour.subject, "iat": now, "exp": now + 300, "nonce": nonce,
        });
        if let Some(email) = &behaviour.email {
            claims["email"] = json!(email);
        }
        if let Some(verified) = behaviour.email_verified {
            claims["email_verified"] = json!(verified);
        }
        for (name, value) in behaviour.claim_overrides.as_object()? {
            claims[name] = value.clone();
        }
        for name in behaviour.omitted_claims {
            claims.as_object_mut()?.remove(*name);
        }
        let algorithm = if behaviour.hmac_key.is_some() { "HS256" } else { "ES256" };
        let header = BASE64.encode(json!({"alg": algorithm, "kid": "1"}).to_string());
        let signing_input = format!("{header}.{}", BASE64.encode(claims.to_string()));
        let key = SigningKey::from_slice(&[if behaviour.is_signed_with_unpublished_key { 4 } else { 3 }; 32])
            .ok()?;
        let hmac_key = behaviour.hmac_key.map(|kind| match kind {
            HmacKey::ClientSecret => CLIENT_SECRET.as_bytes().to_vec(),
            HmacKey::PublicKey => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
        });
        let signature = match hmac_key {
            Some(secret) => {
                let mut mac = Hmac::<Sha256>::new_from_slice(&secret).ok()?;
                mac.update(signing_input.as_bytes());
                BASE64.encode(mac.finalize().into_bytes())
            }
            None => {
                let signature: Signature = key.sign(signing_input.as_bytes());
                BASE64.encode(signature.to_bytes())
            }
        };
        let id_token = format!("{signing_input}.{signature}");
        let mut response = json!({"access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": id_token});
        replace_members(&mut response, &behaviour.token_overrides);
        Some(response)
    }
}
