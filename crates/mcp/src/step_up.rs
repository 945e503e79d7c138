//! Refuses a tool call over HTTP if the agent's token lacks the tool's scope.
//!
//! A client asks its person for more scopes when it gets a 403 (RFC 6750, section 3.1). So the scope must be checked
//! before the protocol responds, which it does with 200.

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Caller, Context, caller::Scope};
use serde::Deserialize;

/// Maximum size of a request's body, in bytes.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// Makes the response for a missing scope, given the URL of the protected resource metadata.
pub type InsufficientScope = fn(&str) -> Response;

/// Dependencies of the check.
#[derive(Clone)]
pub(crate) struct StepUpCheck {
    /// Returns the scope that a tool requires, or `None` if there is no such tool.
    pub(crate) required_scope: fn(&str) -> Option<Scope>,
    /// Makes the response for a missing scope, in the form of the HTTP surface around this server.
    pub(crate) insufficient_scope: InsufficientScope,
    /// URL of the agent server's protected resource metadata.
    pub(crate) resource_metadata: String,
}

#[derive(Deserialize)]
struct JsonRpcRequest {
    method: String,
    #[serde(default)]
    params: Option<ToolCallParams>,
}

#[derive(Deserialize)]
struct ToolCallParams {
    #[serde(default)]
    name: Option<String>,
}

pub(crate) async fn step_up(State(check): State<StepUpCheck>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let scopes = match request.extensions().get::<Context>().map(|context| &context.caller) {
        Some(Caller::Token(token)) => token.scopes,
        _ => return StatusCode::UNAUTHORIZED.into_response(),
    };
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    if let Some(scope) = check.required_scope_of(&body)
        && !scopes.allows(scope)
    {
        return (check.insufficient_scope)(&check.resource_metadata);
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}

impl StepUpCheck {
    /// Returns the scope that a message requires; `None` unless it calls a known tool, which the protocol then handles.
    fn required_scope_of(&self, body: &[u8]) -> Option<Scope> {
        let call: JsonRpcRequest = serde_json::from_slice(body).ok()?;
        if call.method != "tools/call" {
            return None;
        }
        (self.required_scope)(&call.params?.name?)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::{Router, http::header, middleware, routing::post};
    use kernel::{Id, SeededRandomness, caller::Scopes, caller::TokenCaller};
    use tower::ServiceExt as _;

    use super::*;

    /// A server with a tool that reads and one that writes.
    fn check() -> StepUpCheck {
        StepUpCheck {
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
            .layer(middleware::from_fn_with_state(check(), step_up));
        let mut request = Request::post("/mcp").body(Body::from(body)).unwrap();
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
            // The message is passed on unchanged.
            let body = to_bytes(passed.into_body(), MAX_BODY).await.unwrap();
            assert_eq!(body, calling(tool));
        }
    }

    #[tokio::test]
    async fn a_request_without_a_caller_or_with_a_too_large_body_is_refused() {
        assert_eq!(respond(None, calling("look")).await.status(), StatusCode::UNAUTHORIZED);
        let long = "x".repeat(MAX_BODY + 1);
        let refused = respond(Some(Scopes::of(Scope::Read)), long).await;
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn only_a_call_of_a_known_tool_requires_a_scope() {
        let needed = |body: &[u8]| check().required_scope_of(body);
        assert_eq!(needed(br#"{"method":"tools/call","params":{"name":"look"}}"#), Some(Scope::Read));
        for other in [
            &br#"{"method":"tools/list"}"#[..],
            br#"{"method":"tools/call","params":{"name":"drop_everything"}}"#,
            br#"{"method":"tools/call"}"#,
            br#"[{"method":"tools/call","params":{"name":"look"}}]"#,
            b"",
        ] {
            assert_eq!(needed(other), None);
        }
    }
}
