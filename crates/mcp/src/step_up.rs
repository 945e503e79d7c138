//! Telling an agent over HTTP that its person must allow more.
//!
//! A client asks its person for more when the answer is 403 (RFC 6750 §3.1), so what a call needs must be known before
//! the protocol's own answers begin.

use api::Api;
use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::{Caller, Context, caller::Scope};
use serde::Deserialize;

use crate::{MAX_BODY, tools};

#[derive(Deserialize)]
struct Call {
    method: String,
    #[serde(default)]
    params: Option<Named>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    name: Option<String>,
}

pub(crate) async fn step_up(State(api): State<Api>, request: Request, next: Next) -> Response {
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
    if let Some(scope) = needed(&body)
        && !scopes.allow(scope)
    {
        return api.insufficient_scope();
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// What a message needs; none when it calls no tool that there is, which is answered further in.
fn needed(body: &[u8]) -> Option<Scope> {
    let call: Call = serde_json::from_slice(body).ok()?;
    if call.method != "tools/call" {
        return None;
    }
    tools::scope(&call.params?.name?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_of_a_known_tool_needs_something() {
        assert_eq!(needed(br#"{"method":"tools/call","params":{"name":"list_apps"}}"#), Some(Scope::Read));
        for other in [
            &br#"{"method":"tools/list"}"#[..],
            br#"{"method":"tools/call","params":{"name":"drop_everything"}}"#,
            br#"{"method":"tools/call"}"#,
            br#"[{"method":"tools/call","params":{"name":"list_apps"}}]"#,
            b"",
        ] {
            assert_eq!(needed(other), None);
        }
    }
}
