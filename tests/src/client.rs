//! A small HTTP client that speaks as somebody.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::{client::legacy, client::legacy::connect::HttpConnector, rt::TokioExecutor};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    EventStream, Reply, StreamingReply,
    contract::{self, ReceivedResponse, SentRequest},
};

/// Speaks with one server as a visitor, a person with a session, or the bearer of a token or key.
#[derive(Debug, Clone)]
pub struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    base_url: String,
    /// The origin of the console's pages, where it is not the server's address.
    origin: Option<String>,
    credential: Credential,
    /// Whether its responses are compared with the description.
    is_contract_checked: bool,
}

#[derive(Debug, Clone)]
enum Credential {
    None,
    /// The session cookie, `name=value`.
    Session(HeaderValue),
    Bearer(HeaderValue),
}

/// A workspace made for a test, with the starter world every workspace begins with.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The workspace.
    pub id: String,
    /// The sample app.
    pub sample_app: String,
    /// The first automation, with a webhook trigger.
    pub automation: String,
    /// The whole answer to its making.
    pub creation_response: Value,
}

impl Client {
    /// A visitor of the server at `base_url`.
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

    /// A visitor of a server of another release, which `docs/openapi.json` does not describe.
    #[must_use]
    pub fn of_another_release(base_url: impl Into<String>) -> Self {
        Self { is_contract_checked: false, ..Self::new(base_url) }
    }

    /// Where the server is, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The same, as a page of a console at another origin asks.
    #[must_use]
    pub fn with_origin(&self, origin: &str) -> Self {
        Self { origin: Some(origin.to_owned()), ..self.clone() }
    }

    /// The origin of the console's pages, from which people sign in and change things.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.origin.as_deref().unwrap_or(&self.base_url)
    }

    /// The same server, asked by a visitor.
    #[must_use]
    pub fn signed_out(&self) -> Self {
        Self { credential: Credential::None, ..self.clone() }
    }

    /// The same server, asked with a token or project key.
    ///
    /// # Panics
    ///
    /// When the token cannot stand in a header.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a token that cannot be sent is a mistake in the test")]
    pub fn with_bearer(&self, token: &str) -> Self {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("tokens are plain ASCII");
        Self { credential: Credential::Bearer(value), ..self.clone() }
    }

    /// The session cookie, `name=value`, of whoever signed in.
    #[must_use]
    pub fn cookie(&self) -> Option<&str> {
        match &self.credential {
            Credential::Session(cookie) => cookie.to_str().ok(),
            _ => None,
        }
    }

    /// The same person at another node of the same system.
    #[must_use]
    pub fn with_base_url(&self, base_url: impl Into<String>) -> Self {
        Self { base_url: base_url.into(), ..self.clone() }
    }

    /// Signs somebody in by the development sign-in; the address counts as verified.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn sign_in(&self, email: &str) -> Result<Self> {
        let reply = self.post_from_console("/v1/auth/dev-login", &json!({"email": email})).await?;
        self.session_from_reply(&reply)
    }

    /// Sends JSON as a page of the console does before anybody is signed in.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn post_from_console(&self, path: &str, body: &Value) -> Result<Reply> {
        let visitor = self.signed_out();
        visitor.request(Method::POST, path).header(header::ORIGIN, self.origin())?.json(body)?.send().await
    }

    /// Whoever was signed in by this answer.
    ///
    /// # Errors
    ///
    /// When the answer is a refusal or sets no session cookie.
    pub fn session_from_reply(&self, reply: &Reply) -> Result<Self> {
        reply.ok()?;
        let cookie = reply.headers.get_all(header::SET_COOKIE).iter().find_map(|cookie| {
            let pair = cookie.to_str().ok()?.split(';').next()?;
            pair.contains("qala_session=").then(|| HeaderValue::from_str(pair))
        });
        let cookie = cookie.with_context(|| format!("no session cookie: {reply}"))??;
        Ok(Self { credential: Credential::Session(cookie), ..self.clone() })
    }

    /// Makes a workspace that the signed-in person owns.
    ///
    /// # Errors
    ///
    /// When the server refuses, or answers without the starter world.
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

    /// Makes a personal access token and returns its value.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_token(&self, workspace: &str, scopes: &[&str]) -> Result<String> {
        let body = json!({"name": "A test's token", "scopes": scopes});
        self.post(&format!("/v1/workspaces/{workspace}/tokens"), &body).await?.string_at("/secret")
    }

    /// Asks with `GET`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn get(&self, path: &str) -> Result<Reply> {
        self.request(Method::GET, path).send().await
    }

    /// Sends JSON with `POST`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::POST, path).json(body)?.send().await
    }

    /// Sends JSON with `PUT`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn put(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::PUT, path).json(body)?.send().await
    }

    /// Sends JSON with `PATCH`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn patch(&self, path: &str, body: &Value) -> Result<Reply> {
        self.request(Method::PATCH, path).json(body)?.send().await
    }

    /// Asks with `DELETE`.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn delete(&self, path: &str) -> Result<Reply> {
        self.request(Method::DELETE, path).send().await
    }

    /// A request of any kind, for what the short forms do not say.
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

/// A request that is being put together; [`send`](Self::send) sends it.
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
    /// Sets a header, in place of one of the same name.
    ///
    /// # Errors
    ///
    /// When the value cannot stand in a header.
    pub fn header(mut self, name: impl Into<HeaderName>, value: &str) -> Result<Self> {
        let name = name.into();
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, HeaderValue::from_str(value)?));
        Ok(self)
    }

    /// Adds a header beside one of the same name, as a careless or hostile sender would.
    ///
    /// # Errors
    ///
    /// When the value cannot stand in a header.
    pub fn append_header(mut self, name: impl Into<HeaderName>, value: &str) -> Result<Self> {
        self.headers.push((name.into(), HeaderValue::from_str(value)?));
        Ok(self)
    }

    /// Leaves a header out that the client would send, such as `Origin`.
    pub fn without_header(mut self, name: &HeaderName) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    /// Sets a JSON body.
    ///
    /// # Errors
    ///
    /// When the value has no JSON form.
    pub fn json(self, body: &impl Serialize) -> Result<Self> {
        let body = serde_json::to_vec(body)?;
        self.body("application/json", body)
    }

    /// Sets a body of any type.
    ///
    /// # Errors
    ///
    /// When the type cannot stand in a header.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Result<Self> {
        self.body = body.into();
        self.header(header::CONTENT_TYPE, content_type)
    }

    /// Sends and follows the stream of events that answers.
    ///
    /// # Errors
    ///
    /// When there is no answer, or it is no stream.
    pub async fn open_event_stream(self) -> Result<EventStream> {
        let (request, response) = self.dispatch().await?;
        check_response_head(&request, &response)?;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        anyhow::ensure!(
            parts.status == http::StatusCode::OK && kind == Some(b"text/event-stream"),
            "{}: {} is no stream",
            request.request_line(),
            parts.status
        );
        Ok(EventStream::new(parts.headers, body))
    }

    /// Sends, and gives the answer whose body comes in pieces as soon as it has a head.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn open_stream(self) -> Result<StreamingReply> {
        let (request, response) = self.dispatch().await?;
        check_response_head(&request, &response)?;
        Ok(StreamingReply::new(response))
    }

    /// Sends and reads the answer to its end; of a stream of events its head.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub async fn send(self) -> Result<Reply> {
        let (request, response) = self.dispatch().await?;
        let (parts, body) = response.into_parts();
        let is_event_stream = parts
            .headers
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        // Whoever wants to hear what a stream says follows it.
        let body = match is_event_stream {
            true => Bytes::new(),
            false => body.collect().await.with_context(|| request.request_line())?.to_bytes(),
        };
        let complete_body = (!is_event_stream).then_some(&body[..]);
        let responded =
            ReceivedResponse { status: parts.status, headers: &parts.headers, body: complete_body };
        let reply = |asked: &SentRequest| {
            format!("{} {}: {}", asked.request_line(), parts.status, String::from_utf8_lossy(&body))
        };
        contract::check(&request, responded).with_context(|| reply(&request))?;
        Ok(Reply { request_line: request.request_line(), status: parts.status, headers: parts.headers, body })
    }

    async fn dispatch(self) -> Result<(SentRequest, http::Response<Incoming>)> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        let is_described = self.client.is_contract_checked;
        let sent_request = SentRequest {
            method: self.method,
            path: self.path,
            headers,
            body: self.body,
            is_contract_checked: is_described,
        };
        let mut request = http::Request::builder()
            .method(sent_request.method.clone())
            .uri(format!("{}{}", self.client.base_url, sent_request.path))
            .body(Full::new(sent_request.body.clone()))
            .with_context(|| sent_request.request_line())?;
        request.headers_mut().clone_from(&sent_request.headers);
        let response =
            self.client.http.request(request).await.with_context(|| sent_request.request_line())?;
        Ok((sent_request, response))
    }
}

/// Compares what is known of a response before its body with the description.
fn check_response_head(asked: &SentRequest, response: &http::Response<Incoming>) -> Result<()> {
    let responded = ReceivedResponse { status: response.status(), headers: response.headers(), body: None };
    contract::check(asked, responded)
        .with_context(|| format!("{}: {}", asked.request_line(), response.status()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bearer_sends_no_cookie_and_no_origin() {
        let client = Client::new("http://127.0.0.1:1").with_bearer("qat_x");
        let request = client.request(Method::GET, "/");
        assert_eq!(request.headers, [(header::AUTHORIZATION, HeaderValue::from_static("Bearer qat_x"))]);
    }

    #[tokio::test]
    async fn headers_replace_and_leave() {
        let client = Client::new("http://127.0.0.1:1");
        let request = client.request(Method::GET, "/").header(header::ACCEPT, "a/b").unwrap();
        let request = request.header(header::ACCEPT, "c/d").unwrap();
        assert_eq!(request.headers, [(header::ACCEPT, HeaderValue::from_static("c/d"))]);
        assert!(request.without_header(&header::ACCEPT).headers.is_empty());
    }
}
