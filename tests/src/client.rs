//! An HTTP client that sends requests as a visitor, a signed-in person, or the bearer of a token or key, and checks
//! every response against the API description.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::{client::legacy, client::legacy::connect::HttpConnector, rt::TokioExecutor};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    EventStream, Reply, StreamingReply, UnfinishedRequest,
    contract::{self, ReceivedResponse, SentRequest},
};

/// Sends requests to one server with one credential.
#[derive(Debug, Clone)]
pub struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    base_url: String,
    /// The origin of the console's pages, if it differs from the base URL.
    origin: Option<String>,
    credential: Credential,
    /// True if responses are checked against `docs/openapi.json`.
    is_contract_checked: bool,
}

#[derive(Debug, Clone)]
enum Credential {
    None,
    /// The session cookie, `name=value`.
    Session(HeaderValue),
    Bearer(HeaderValue),
}

/// A workspace with the sample data that every new workspace has.
#[derive(Debug, Clone)]
pub struct Workspace {
    pub id: String,
    /// Id of the sample app.
    pub sample_app: String,
    /// Id of the first sample automation, which has a webhook trigger.
    pub automation: String,
    /// The response to its creation.
    pub creation_response: Value,
}

impl Client {
    /// Returns a client without a credential.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        let http = legacy::Client::builder(TokioExecutor::new()).build_http();
        Self {
            http,
            base_url: base_url.into(),
            origin: None,
            credential: Credential::None,
            is_contract_checked: true,
        }
    }

    /// Returns a client of a server of another release, which `docs/openapi.json` does not describe.
    #[must_use]
    pub fn of_another_release(base_url: impl Into<String>) -> Self {
        Self { is_contract_checked: false, ..Self::new(base_url) }
    }

    /// The base URL, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the client with the `Origin` of a console at another origin.
    #[must_use]
    pub fn with_origin(&self, origin: &str) -> Self {
        Self { origin: Some(origin.to_owned()), ..self.clone() }
    }

    /// The `Origin` that requests of a session carry.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_deref().unwrap_or(&self.base_url)
    }

    /// Returns the client without its credential.
    #[must_use]
    pub fn signed_out(&self) -> Self {
        Self { credential: Credential::None, ..self.clone() }
    }

    /// Returns the client with a token or project key.
    ///
    /// # Panics
    ///
    /// If the token is not a valid header value.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a token that cannot be sent is a mistake in the test")]
    pub fn with_bearer(&self, token: &str) -> Self {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("tokens are plain ASCII");
        Self { credential: Credential::Bearer(value), ..self.clone() }
    }

    /// The session cookie, `name=value`, if the credential is a session.
    #[must_use]
    pub fn cookie(&self) -> Option<&str> {
        match &self.credential {
            Credential::Session(cookie) => cookie.to_str().ok(),
            _ => None,
        }
    }

    /// Returns the client with another base URL, such as that of another node.
    #[must_use]
    pub fn with_base_url(&self, base_url: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), ..self.clone() }
    }

    /// Signs a person in with the development sign-in. The address counts as verified.
    pub async fn sign_in(&self, email: &str) -> Result<Self> {
        let reply = self.post_from_console("/v1/auth/dev-login", &json!({"email": email})).await?;
        self.session_from_reply(&reply)
    }

    /// Sends JSON as a console page does before sign-in: with an `Origin` and without a credential.
    pub async fn post_from_console(&self, path: &str, body: &Value) -> Result<Reply> {
        let visitor = self.signed_out();
        visitor.request(Method::POST, path).header(header::ORIGIN, self.origin())?.json(body)?.send().await
    }

    /// Returns a client with the session that a response sets.
    pub fn session_from_reply(&self, reply: &Reply) -> Result<Self> {
        reply.ok()?;
        let cookie = reply.headers.get_all(header::SET_COOKIE).iter().find_map(|cookie| {
            let pair = cookie.to_str().ok()?.split(';').next()?;
            pair.contains("qala_session=").then(|| HeaderValue::from_str(pair))
        });
        let cookie = cookie.with_context(|| format!("no session cookie: {reply}"))??;
        Ok(Self { credential: Credential::Session(cookie), ..self.clone() })
    }

    /// Creates a workspace that the signed-in person owns.
    pub async fn create_workspace(&self, name: &str) -> Result<Workspace> {
        let body = json!({"name": name, "profile": "global", "teamSize": "solo", "intents": []});
        let reply = self.post("/v1/workspaces", &body).await?;
        Ok(Workspace {
            id: reply.string_at("/workspace/id")?,
            sample_app: reply.string_at("/starter/sampleAppId")?,
            automation: reply.string_at("/starter/roadIds/0")?,
            creation_response: reply.ok()?,
        })
    }

    /// Creates a personal access token and returns its value.
    pub async fn create_token(&self, workspace: &str, scopes: &[&str]) -> Result<String> {
        let body = json!({"name": "A test's token", "scopes": scopes});
        self.post(&format!("/v1/workspaces/{workspace}/tokens"), &body).await?.string_at("/secret")
    }

    /// Sends a `GET` request.
    pub async fn get(&self, path: &str) -> Result<Reply> {
        self.request(Method::GET, path).send().await
    }

    /// Sends JSON with `POST`.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::POST, path).json(body)?.send().await
    }

    /// Sends JSON with `PUT`.
    pub async fn put(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::PUT, path).json(body)?.send().await
    }

    /// Sends JSON with `PATCH`.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::PATCH, path).json(body)?.send().await
    }

    /// Sends a `DELETE` request.
    pub async fn delete(&self, path: &str) -> Result<Reply> {
        self.request(Method::DELETE, path).send().await
    }

    /// Starts a request, for what the shorter methods cannot express.
    pub fn request(&self, method: Method, path: &str) -> Request<'_> {
        let mut request =
            Request { client: self, method, path: path.to_owned(), headers: Vec::new(), body: Bytes::new() };
        match &self.credential {
            Credential::None => {}
            Credential::Session(cookie) => {
                request.headers.push((header::COOKIE, cookie.clone()));
                if let Ok(origin) = HeaderValue::from_str(self.origin()) {
                    request.headers.push((header::ORIGIN, origin));
                }
            }
            Credential::Bearer(value) => request.headers.push((header::AUTHORIZATION, value.clone())),
        }
        request
    }
}

/// A request under construction; [`send`](Self::send) sends it.
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request<'a> {
    client: &'a Client,
    method: Method,
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl Request<'_> {
    /// Sets a header, replacing any of the same name.
    pub fn header(mut self, name: impl Into<HeaderName>, value: &str) -> Result<Self> {
        let name = name.into();
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, HeaderValue::from_str(value)?));
        Ok(self)
    }

    /// Adds a header whose value is no text.
    pub fn byte_header(mut self, name: impl Into<HeaderName>, value: &[u8]) -> Result<Self> {
        self.headers.push((name.into(), HeaderValue::from_bytes(value)?));
        Ok(self)
    }

    /// Adds a header and keeps any of the same name, as a careless or hostile sender would.
    pub fn append_header(mut self, name: impl Into<HeaderName>, value: &str) -> Result<Self> {
        self.headers.push((name.into(), HeaderValue::from_str(value)?));
        Ok(self)
    }

    /// Removes a header that the client would send, such as `Origin`.
    pub fn without_header(mut self, name: &HeaderName) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    /// Sets a JSON body.
    pub fn json(self, body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(body)?;
        self.body("application/json", body)
    }

    /// Sets a body and its content type.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Result<Self> {
        self.body = body.into();
        self.header(header::CONTENT_TYPE, content_type)
    }

    /// Sends the request and returns the event stream of the response.
    pub async fn open_event_stream(self) -> Result<EventStream> {
        let (request, response) = self.dispatch().await?;
        check_response_head(&request, &response)?;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        anyhow::ensure!(
            parts.status == http::StatusCode::OK && kind == Some(b"text/event-stream"),
            "{}: {} is not an event stream",
            request.request_line(),
            parts.status
        );
        Ok(EventStream::new(parts.headers, body))
    }

    /// Sends the request and returns as soon as the headers of the response arrive. The body is read piece by piece.
    pub async fn open_stream(self) -> Result<StreamingReply> {
        let (request, response) = self.dispatch().await?;
        check_response_head(&request, &response)?;
        Ok(StreamingReply::new(response))
    }

    /// Sends the request and reads the response; of an event stream only the headers.
    pub async fn send(self) -> Result<Reply> {
        let (request, response) = self.dispatch().await?;
        let (parts, body) = response.into_parts();
        let is_event_stream = parts
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        // An event stream never ends by itself; `open_event_stream` reads it.
        let body = match is_event_stream {
            true => Bytes::new(),
            false => body.collect().await.with_context(|| request.request_line())?.to_bytes(),
        };
        // The test that asks for a compressed response reads it.
        let is_compressed = parts.headers.contains_key(header::CONTENT_ENCODING);
        let complete_body = (!is_event_stream && !is_compressed).then_some(&body[..]);
        let received =
            ReceivedResponse { status: parts.status, headers: &parts.headers, body: complete_body };
        let message = |sent: &SentRequest| {
            format!("{} {}: {}", sent.request_line(), parts.status, String::from_utf8_lossy(&body))
        };
        contract::check(&request, received).with_context(|| message(&request))?;
        Ok(Reply { request_line: request.request_line(), status: parts.status, headers: parts.headers, body })
    }

    /// Sends the request without the last byte of its body, and returns once the server awaits it.
    pub async fn send_unfinished(self) -> Result<UnfinishedRequest> {
        let base_url = self.client.base_url();
        UnfinishedRequest::send(base_url, self.into_sent()).await
    }

    fn into_sent(self) -> SentRequest {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        SentRequest {
            method: self.method,
            path: self.path,
            headers,
            body: self.body,
            is_contract_checked: self.client.is_contract_checked,
        }
    }

    async fn dispatch(self) -> Result<(SentRequest, http::Response<Incoming>)> {
        let client = self.client;
        let sent_request = self.into_sent();
        let mut request = http::Request::builder()
            .method(sent_request.method.clone())
            .uri(format!("{}{}", client.base_url, sent_request.path))
            .body(Full::new(sent_request.body.clone()))
            .with_context(|| sent_request.request_line())?;
        request.headers_mut().clone_from(&sent_request.headers);
        let response = client.http.request(request).await.with_context(|| sent_request.request_line())?;
        Ok((sent_request, response))
    }
}

/// Checks status and headers of a response against the description.
fn check_response_head(sent: &SentRequest, response: &http::Response<Incoming>) -> Result<()> {
    let received = ReceivedResponse { status: response.status(), headers: response.headers(), body: None };
    contract::check(sent, received).with_context(|| format!("{}: {}", sent.request_line(), response.status()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bearer_request_has_no_cookie_and_no_origin() {
        let client = Client::new("http://127.0.0.1:1").with_bearer("qat_x");
        let request = client.request(Method::GET, "/");
        assert_eq!(request.headers, [(header::AUTHORIZATION, HeaderValue::from_static("Bearer qat_x"))]);
    }

    #[tokio::test]
    async fn headers_are_replaced_and_removed() {
        let client = Client::new("http://127.0.0.1:1");
        let request = client.request(Method::GET, "/").header(header::ACCEPT, "a/b").unwrap();
        let request = request.header(header::ACCEPT, "c/d").unwrap();
        assert_eq!(request.headers, [(header::ACCEPT, HeaderValue::from_static("c/d"))]);
        assert!(request.without_header(&header::ACCEPT).headers.is_empty());
    }
}
