//! The HTTP transport of the protocol: what is checked before a message reaches the protocol library.
//!
//! A request that cannot be served gets a JSON-RPC error that says what to do (`refusal`), never one of the library's texts.
//! A client asks its person for more scopes when it gets a 403 (RFC 6750, section 3.1), so the scope of a tool is
//! checked here too: the protocol responds with 200.

mod accept;
mod message;
mod refusal;

use application::{
    Problem,
    late_proof::{self, LateProof, ReceiveError},
};
use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
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

/// Responses in the form of the HTTP surface around this server. Each is given the URL of the protected resource metadata.
#[derive(Debug, Clone, Copy)]
pub struct SurfaceResponses {
    /// Makes the response for a missing scope.
    pub insufficient_scope: fn(&str) -> Response,
    /// Makes the response for a caller that the surface refuses after it has admitted them.
    pub refused: fn(Problem, &str) -> Response,
}

/// Dependencies of the checks.
#[derive(Clone)]
pub(crate) struct Transport {
    /// Returns the scope that a tool requires, or `None` if there is no such tool.
    pub(crate) required_scope: fn(&str) -> Option<Scope>,
    pub(crate) responses: SurfaceResponses,
    /// URL of the agent server's protected resource metadata.
    pub(crate) resource_metadata: String,
}

/// Passes valid messages on to the protocol library, and refuses all others.
pub(crate) async fn check_request(
    State(transport): State<Transport>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(late_proof) = parts.extensions.get::<LateProof<Context>>().cloned() else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    if let Err(refusal) = check_head(&parts.method, &parts.headers) {
        let mut response = refusal.into_response();
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        return response;
    }
    let body = match read_body(&parts.headers, body, &late_proof).await {
        Ok((body, None)) => body,
        Ok((body, Some(context))) => {
            // Tools act at the time at which they are called, as who the caller is then.
            parts.extensions.insert(context);
            body
        }
        Err(BodyError::Invalid(refusal)) => return refusal.into_response(),
        Err(BodyError::Refused(problem)) => {
            return (transport.responses.refused)(problem, &transport.resource_metadata);
        }
    };
    let scopes = match parts.extensions.get::<Context>().map(|context| &context.caller) {
        Some(Caller::Token(token)) => token.scopes,
        _ => return StatusCode::UNAUTHORIZED.into_response(),
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
        return (transport.responses.insufficient_scope)(&transport.resource_metadata);
    }
    parts.headers.insert(header::ACCEPT, LIBRARY_ACCEPT);
    parts.headers.remove(header::CONTENT_LENGTH);
    let response = next.run(Request::from_parts(parts, Body::from(message.to_json()))).await;
    replace_text_error(response, &message)
}

/// Failure to receive a body.
enum BodyError {
    /// It is too long, incomplete or did not arrive in time.
    Invalid(Refusal),
    /// It arrived late, and the caller's token ended meanwhile.
    Refused(Problem),
}

/// Receives a body; if it arrives late, with the context as of then.
async fn read_body(
    headers: &HeaderMap,
    body: Body,
    late_proof: &LateProof<Context>,
) -> Result<(Bytes, Option<Context>), BodyError> {
    let refuse = |status, message: String| BodyError::Invalid(Refusal::invalid_request(status, message));
    let too_large = || {
        let message = format!("The body must have at most {MAX_BODY} bytes.");
        refuse(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared.and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length > MAX_BODY as u64) {
        return Err(too_large());
    }
    let (collected, context) =
        match late_proof::receive(Limited::new(body, MAX_BODY).collect(), late_proof).await {
            Ok(received) => received,
            Err(ReceiveError::Refused(problem)) => return Err(BodyError::Refused(problem)),
            Err(error @ ReceiveError::TimedOut) => {
                let message = Problem::from(error).message.into_owned();
                return Err(refuse(StatusCode::BAD_REQUEST, message));
            }
        };
    match collected {
        Ok(body) => Ok((body.to_bytes(), context)),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(refuse(StatusCode::BAD_REQUEST, "The body ended before it was complete.".to_owned())),
    }
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
    use std::{convert::Infallible, sync::Arc, time::Duration};

    use axum::{Extension, Router, body::to_bytes, http::header, middleware, routing::post};
    use futures::{FutureExt as _, StreamExt as _, stream};
    use kernel::{Id, SeededRandomness, Timestamp, caller::Scopes, caller::TokenCaller};
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
            responses: SurfaceResponses {
                insufficient_scope: |metadata| challenge(StatusCode::FORBIDDEN, metadata),
                refused: |_, metadata| challenge(StatusCode::UNAUTHORIZED, metadata),
            },
            resource_metadata: "https://qala.example/.well-known/oauth-protected-resource/mcp".to_owned(),
        }
    }

    fn challenge(status: StatusCode, metadata: &str) -> Response {
        let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
        (status, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
    }

    fn calling(tool: &str) -> String {
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}})
            .to_string()
    }

    fn context(scopes: Scopes, now: Timestamp) -> Context {
        let caller = TokenCaller {
            token: Id::from_uuid(Default::default()),
            user: Id::from_uuid(Default::default()),
            workspace: Id::from_uuid(Default::default()),
            scopes,
            grant: Some(Id::from_uuid(Default::default())),
        };
        let (request_id, random) = (Id::from_uuid(Default::default()), Arc::new(SeededRandomness::new(1)));
        Context::new(Caller::Token(caller), now, request_id, None, random)
    }

    /// Returns the response to a request, whose body comes back from what is behind the checks.
    async fn respond(scopes: Option<Scopes>, body: String) -> Response {
        let router: Router = Router::new()
            .route("/mcp", post(async |body: String| body))
            .layer(middleware::from_fn_with_state(transport(), check_request));
        let request = Request::post("/mcp").header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(Body::from(body)).unwrap();
        if let Some(scopes) = scopes {
            let context = context(scopes, Timestamp::default());
            let late = context.clone();
            request.extensions_mut().insert(LateProof::new(move || {
                let late = late.clone();
                async move { Ok(late) }
            }));
            request.extensions_mut().insert(context);
        }
        router.oneshot(request).await.unwrap()
    }

    /// Returns the response to a call whose last byte comes after `delay`, and the time at which its tool ran. `late` makes the
    /// proof after the body.
    async fn respond_late(
        delay: Duration,
        late: fn() -> Result<Context, Problem>,
    ) -> (Response, Option<Timestamp>) {
        let (ran_tx, mut ran_rx) = tokio::sync::mpsc::unbounded_channel();
        let tool = post(async move |Extension(context): Extension<Context>| {
            let _sent = ran_tx.send(context.now);
        });
        let check = middleware::from_fn_with_state(transport(), check_request);
        let router: Router = Router::new().route("/mcp", tool).layer(check);
        let (whole, last) = (calling("change"), calling("change").len() - 1);
        let (begin, end) = (whole[..last].to_owned(), whole[last..].to_owned());
        let end = async move {
            tokio::time::sleep(delay).await;
            end
        };
        let parts = stream::iter([async { begin }.boxed(), end.boxed()]);
        let body = Body::from_stream(parts.then(|part| part).map(Ok::<_, Infallible>));
        let request = Request::post("/mcp").header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(body).unwrap();
        request.extensions_mut().insert(context(Scopes::of(Scope::Write), Timestamp::UNIX_EPOCH));
        request.extensions_mut().insert(LateProof::new(move || async move { late() }));
        let response = router.oneshot(request).await.unwrap();
        (response, ran_rx.try_recv().ok())
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_call_runs_with_the_rights_and_the_time_of_its_last_byte() {
        let later = || Ok(context(Scopes::of(Scope::Write), Timestamp::MAX_UTC));
        let (prompt, ran_at) = respond_late(Duration::from_millis(100), later).await;
        assert_eq!((prompt.status(), ran_at), (StatusCode::OK, Some(Timestamp::UNIX_EPOCH)));
        let (late, ran_at) = respond_late(Duration::from_secs(3), later).await;
        assert_eq!((late.status(), ran_at), (StatusCode::OK, Some(Timestamp::MAX_UTC)));

        let revoked = || Err(Problem::unauthorized());
        let (refused, ran_at) = respond_late(Duration::from_secs(3), revoked).await;
        assert_eq!((refused.status(), ran_at), (StatusCode::UNAUTHORIZED, None));
        assert!(refused.headers().contains_key(header::WWW_AUTHENTICATE));
        let narrowed = || Ok(context(Scopes::of(Scope::Read), Timestamp::MAX_UTC));
        let (refused, ran_at) = respond_late(Duration::from_secs(3), narrowed).await;
        assert_eq!((refused.status(), ran_at), (StatusCode::FORBIDDEN, None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_not_awaited() {
        let begin = tokio::time::Instant::now();
        let (refused, ran_at) = respond_late(Duration::from_secs(24 * 60 * 60), || unreachable!()).await;
        assert_eq!((refused.status(), ran_at), (StatusCode::BAD_REQUEST, None));
        assert!(begin.elapsed() < Duration::from_secs(31), "{:?}", begin.elapsed());
        let body = to_bytes(refused.into_body(), MAX_BODY).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["message"], "The body took too long to arrive.");
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
