//! A backend project and who calls it.

use anyhow::Result;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{Client, Reply, Request, unix_time};

/// What tokens of people are signed with in tests.
const JWT_SECRET: &[u8] = b"only for tests, and long enough for them";

/// Settings that believe [`person_token`].
#[must_use]
pub fn identity_settings() -> Value {
    let key = json!({"kty": "oct", "k": URL_SAFE_NO_PAD.encode(JWT_SECRET), "alg": "HS256"});
    json!({"issuer": "https://id.example.test", "audience": "tests", "keys": [key]})
}

/// The token of a person with these claims beside the usual ones, good for a minute.
///
/// # Errors
///
/// Never: HMAC takes a key of any length.
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

/// A backend project of a workspace, and its maker.
#[derive(Debug, Clone)]
pub struct BackendProject {
    /// The project's id.
    pub id: String,
    owner: Client,
}

impl BackendProject {
    /// Makes a project.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create(owner: &Client, workspace: &str) -> Result<Self> {
        let path = format!("/v1/workspaces/{workspace}/backend/projects");
        let made = owner.post(&path, &json!({"name": "Shop"})).await?;
        Ok(Self { id: made.string_at("/id")?, owner: owner.clone() })
    }

    /// A project that is there.
    #[must_use]
    pub fn from_id(owner: &Client, id: &str) -> Self {
        Self { id: id.to_owned(), owner: owner.clone() }
    }

    /// A path of the console, under the project.
    #[must_use]
    pub fn console_path(&self, rest: &str) -> String {
        format!("/v1/backend/projects/{}{rest}", self.id)
    }

    /// A path of the data API.
    #[must_use]
    pub fn rest_path(&self, rest: &str) -> String {
        format!("/v1/projects/{}/rest/{rest}", self.id)
    }

    /// Makes a table.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_table(&self, name: &str, columns: &[(&str, &str)]) -> Result<()> {
        let columns: Vec<Value> =
            columns.iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect();
        let table = json!({"name": name, "columns": columns});
        self.owner.post(&self.console_path("/tables"), &table).await?.ok().map(drop)
    }

    /// Sets the rules of a table.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn set_policy(&self, table: &str, policy: &Value) -> Result<Reply> {
        self.owner.put(&self.console_path(&format!("/tables/{table}/policy")), policy).await
    }

    /// Makes a key, `publishable` or `secret`, and gives its value.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_key(&self, kind: &str) -> Result<String> {
        let made =
            self.owner.post(&self.console_path("/keys"), &json!({"kind": kind, "name": "Tests"})).await?;
        made.string_at("/secret")
    }

    /// A request to the data API with a key, and a person's token beside it.
    ///
    /// # Errors
    ///
    /// When the key or the token cannot stand in a header.
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
