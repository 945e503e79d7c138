//! A backend project, its keys and tables, and requests to its data API.

use anyhow::Result;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{Client, Reply, Request, unix_time};

/// Key that signs person tokens.
const JWT_SECRET: &[u8] = b"only for tests, and long enough for them";

/// Returns the issuer settings under which a project accepts [`person_token`].
#[must_use]
pub fn identity_settings() -> Value {
    let key = json!({"kty": "oct", "k": URL_SAFE_NO_PAD.encode(JWT_SECRET), "alg": "HS256"});
    json!({"issuer": "https://id.example.test", "audience": "tests", "keys": [key]})
}

/// Returns a person token with these claims beside the usual ones. It expires after a minute.
pub fn person_token(subject: &str, claims: Value) -> Result<String> {
    let mut all = json!({
        "sub": subject, "iss": "https://id.example.test", "aud": "tests", "exp": unix_time() + 60,
    });
    if let (Value::Object(all), Value::Object(claims)) = (&mut all, claims) {
        all.extend(claims);
    }
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({"alg": "HS256"})), part(&all));
    let mut mac = Hmac::<Sha256>::new_from_slice(JWT_SECRET)?;
    mac.update(message.as_bytes());
    let signature = mac.finalize().into_bytes();
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// A backend project and the client of its owner.
#[derive(Debug, Clone)]
pub struct BackendProject {
    pub id: String,
    owner: Client,
}

impl BackendProject {
    /// Creates a project.
    pub async fn create(owner: &Client, workspace: &str) -> Result<Self> {
        let path = format!("/v1/workspaces/{workspace}/backend/projects");
        let created = owner.post(&path, &json!({"name": "Shop"})).await?;
        Ok(Self { id: created.string_at("/id")?, owner: owner.clone() })
    }

    /// Returns an existing project.
    #[must_use]
    pub fn from_id(owner: &Client, id: &str) -> Self {
        Self { id: id.to_owned(), owner: owner.clone() }
    }

    /// Returns a path of the project's settings, which the owner calls.
    #[must_use]
    pub fn console_path(&self, rest: &str) -> String {
        format!("/v1/backend/projects/{}{rest}", self.id)
    }

    /// Returns a path of the project's data API.
    #[must_use]
    pub fn rest_path(&self, rest: &str) -> String {
        format!("/v1/projects/{}/rest/{rest}", self.id)
    }

    /// Creates a table of columns with a name and a type.
    pub async fn create_table(&self, name: &str, columns: &[(&str, &str)]) -> Result<()> {
        let columns: Vec<Value> =
            columns.iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect();
        let table = json!({"name": name, "columns": columns});
        self.owner.post(&self.console_path("/tables"), &table).await?.ok().map(drop)
    }

    /// Sets the policy of a table.
    pub async fn set_policy(&self, table: &str, policy: &Value) -> Result<Reply> {
        self.owner.put(&self.console_path(&format!("/tables/{table}/policy")), policy).await
    }

    /// Creates a key, `publishable` or `secret`, and returns its value.
    pub async fn create_key(&self, kind: &str) -> Result<String> {
        let created =
            self.owner.post(&self.console_path("/keys"), &json!({"kind": kind, "name": "Tests"})).await?;
        created.string_at("/secret")
    }

    /// Returns a request to the data API with a project key and, if given, a person token.
    pub fn rest_request<'c>(
        &self,
        client: &'c Client,
        (key, person): (&str, Option<&str>),
        method: Method,
        rest: &str,
    ) -> Result<Request<'c>> {
        let request = client
            .request(method, &self.rest_path(rest))
            .header(http::HeaderName::from_static("apikey"), key)?;
        match person {
            Some(token) => request.header(http::header::AUTHORIZATION, &format!("Bearer {token}")),
            None => Ok(request),
        }
    }
}
