//! The HTTP transport of the protocol: what is checked before a message reaches the protocol library.
//!
//! A request that cannot be served gets a JSON-RPC error that says what to do (`refusal`), never one of the library's texts.
//! A client asks its person for more scopes when it gets a 403 (RFC 6750, section 3.1), so the scope of a tool is
//! checked here too: the protocol responds with 200.

mod accept;
mod message;
mod refusal;

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Caller, Context, caller::Scope};
use rmcp::model::ErrorCode;

use message::Message;
use refusal::Refusal;
pub(crate) use refusal::excerpt;

/// Maximum size of a request's body, in bytes.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// Media type of messages, both ways.
const JSON: &str = "application/json";
/// Value of `Accept` that the protocol library demands.
const LIBRARY_ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Makes the response for a missing scope, given the URL of the protected resource metadata.
pub type InsufficientScope = fn(&str) -> Response;

/// Dependencies of the checks.
#[derive(Clone)]
pub(crate) struct Transport {
    /// Returns the scope that a tool requires, or `None` if there is no such tool.
    pub(crate) required_scope: fn(&str) -> Option<Scope>,
    /// Makes the response for a missing scope, in the form of the HTTP surface around this server.
    pub(crate) insufficient_scope: InsufficientScope,
    /// URL of the agent server's protected resource metadata.
    pub(crate) resource_metadata: String,
}

/// Passes valid messages on to the protocol library, and refuses all others.
pub(crate) async fn check_request(
    State(transport): State<Transport>,
    request: Request,
    next: Next,
) -> Response {
    let scopes = match request.extensions().get::<Context>().map(|context| &context.caller) {
        Some(Caller::Token(token)) => token.scopes,
        _ => return StatusCode::UNAUTHORIZED.into_response(),
    };
    let (mut parts, body) = request.into_parts();
    if let Err(refusal) = check_head(&parts.method, &parts.headers) {
        let mut response = refusal.into_response();
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        return response;
    }
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        let message = format!("The body must have at most {MAX_BODY} bytes.");
        return Refusal::invalid_request(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(refusal) => return refusal.into_response(),
    };
    if let Err(refusal) = check_version(&message, &parts.headers) {
        return refusal.into_response();
    }
    let scope = message.called_tool().and_then(transport.required_scope);
    if scope.is_some_and(|scope| !scopes.allows(scope)) {
        return (transport.insufficient_scope)(&transport.resource_metadata);
    }
    parts.headers.insert(header::ACCEPT, LIBRARY_ACCEPT);
    parts.headers.remove(header::CONTENT_LENGTH);
    let response = next.run(Request::from_parts(parts, Body::from(message.to_json()))).await;
    replace_text_error(response, &message)
}

/// Checks the method and the headers of a request, all but the protocol version.
fn check_head(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let refuse = |status, message: &'static str| Err(Refusal::invalid_request(status, message));
    if method != Method::POST {
        return refuse(
            StatusCode::METHOD_NOT_ALLOWED,
            "The server has neither sessions nor streams. Send each message with POST.",
        );
    }
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case(JSON) {
        return refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The header Content-Type must be application/json.",
        );
    }
    let mut codings = headers.get_all(header::CONTENT_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Compressed bodies are not supported. Send the message without Content-Encoding.",
        );
    }
    if !accept::accepts_json(headers) {
        return refuse(
            StatusCode::NOT_ACCEPTABLE,
            "The server responds with JSON only. The header Accept must allow application/json.",
        );
    }
    Ok(())
}

fn check_version(message: &Message, headers: &HeaderMap) -> Result<(), Refusal> {
    let version = headers.get("mcp-protocol-version").map(HeaderValue::to_str).transpose().map_err(|_| {
        let rule = "The header MCP-Protocol-Version must be a version such as 2025-11-25.";
        Refusal::invalid_request(StatusCode::BAD_REQUEST, rule).with_id(message.id())
    })?;
    message.check_version(version)
}

/// Replaces an error of the protocol library that is not JSON.
fn replace_text_error(response: Response, message: &Message) -> Response {
    let status = response.status();
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == JSON);
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let refusal = if status.is_server_error() {
        tracing::error!(%status, "the protocol library failed");
        Refusal {
            code: ErrorCode::INTERNAL_ERROR,
            ..Refusal::invalid_request(status, "The server could not handle the message. Try again.")
        }
    } else {
        Refusal::invalid_request(status, "The message is not one that the protocol allows here.")
    };
    refusal.with_id(message.id()).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::{Router, http::header, middleware, routing::post};
    use kernel::{Id, SeededRandomness, caller::Scopes, caller::TokenCaller};
    use serde_json::Value;
    use tower::ServiceExt as _;

    use super::*;

    /// A server with a tool that reads and one that writes.
    fn transport() -> Transport {
        Transport {
            required_scope: |name| match name {
                "look" => Some(Scope::Read),
                "change" => Some(Scope::Write),
                _ => None,
            },
            insufficient_scope: |metadata| {
                let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
                (StatusCode::FORBIDDEN, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
            },
            resource_metadata: "https://qala.example/.well-known/oauth-protected-resource/mcp".to_owned(),
        }
    }

    fn calling(tool: &str) -> String {
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}})
            .to_string()
    }

    async fn respond(scopes: Option<Scopes>, body: String) -> Response {
        let router: Router = Router::new()
            .route("/mcp", post(async |body: String| body))
            .layer(middleware::from_fn_with_state(transport(), check_request));
        let request = Request::post("/mcp").header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(Body::from(body)).unwrap();
        if let Some(scopes) = scopes {
            let id = Id::from_uuid(Default::default());
            let caller = TokenCaller {
                token: id,
                user: Id::from_uuid(Default::default()),
                workspace: Id::from_uuid(Default::default()),
                scopes,
                grant: Some(Id::from_uuid(Default::default())),
            };
            let (now, random) = (Default::default(), Arc::new(SeededRandomness::new(1)));
            let request_id = Id::from_uuid(Default::default());
            let context = Context::new(Caller::Token(caller), now, request_id, None, random);
            request.extensions_mut().insert(context);
        }
        router.oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn a_tool_that_writes_requires_the_write_scope() {
        let refused = respond(Some(Scopes::of(Scope::Read)), calling("change")).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        assert_eq!(
            refused.headers()[header::WWW_AUTHENTICATE],
            "Bearer resource_metadata=\"https://qala.example/.well-known/oauth-protected-resource/mcp\""
        );
        for (scopes, tool) in [
            (Scopes::of(Scope::Read), "look"),
            (Scopes::of(Scope::Write), "look"),
            (Scopes::of(Scope::Write), "change"),
            (Scopes::of(Scope::Read), "nothing"),
        ] {
            let passed = respond(Some(scopes), calling(tool)).await;
            assert_eq!(passed.status(), StatusCode::OK, "{tool}");
            let body = to_bytes(passed.into_body(), MAX_BODY).await.unwrap();
            let (body, sent): (Value, Value) =
                (serde_json::from_slice(&body).unwrap(), serde_json::from_str(&calling(tool)).unwrap());
            assert_eq!(body, sent);
        }
    }

    #[tokio::test]
    async fn a_request_without_a_caller_or_with_a_too_large_body_is_refused() {
        assert_eq!(respond(None, calling("look")).await.status(), StatusCode::UNAUTHORIZED);
        let long = "x".repeat(MAX_BODY + 1);
        let refused = respond(Some(Scopes::of(Scope::Read)), long).await;
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn a_scope_cannot_be_avoided_by_a_second_member() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"change"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","name":"change"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[],"params":{"name":"change"}}"#,
        ] {
            let refused = respond(Some(Scopes::of(Scope::Read)), body.to_owned()).await;
            assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{body}");
        }
    }

    #[test]
    fn requests_of_another_form_are_refused_with_a_status() {
        let headers = |pairs: &[(&'static str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                (header::HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
            });
            pairs.collect::<HeaderMap>()
        };
        for (method, pairs, status) in [
            (Method::GET, &[("content-type", "application/json")][..], 405),
            (Method::DELETE, &[("mcp-session-id", "1")], 405),
            (Method::POST, &[], 415),
            (Method::POST, &[("content-type", "text/plain")], 415),
            (Method::POST, &[("content-type", "application/x-www-form-urlencoded")], 415),
            (Method::POST, &[("content-type", "application/jsonp")], 415),
            (Method::POST, &[("content-type", "қ")], 415),
            (Method::POST, &[("content-type", "application/json"), ("content-encoding", "gzip")], 415),
            (Method::POST, &[("content-type", "application/json"), ("accept", "text/event-stream")], 406),
        ] {
            let refusal = check_head(&method, &headers(pairs)).unwrap_err();
            assert_eq!(
                (refusal.status.as_u16(), refusal.code),
                (status, ErrorCode::INVALID_REQUEST),
                "{pairs:?}"
            );
        }
        let taken = [("content-type", "Application/JSON ; charset=utf-8"), ("content-encoding", "Identity")];
        check_head(&Method::POST, &headers(&taken)).unwrap();
    }
}
