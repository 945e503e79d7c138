//! Refusals of messages, as JSON-RPC errors (JSON-RPC 2.0, section 5.1).

use std::borrow::Cow;

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

/// Most characters of a client's text in a message.
const MAX_EXCERPT_CHARS: usize = 64;

/// A refusal of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    pub(crate) message: Cow<'static, str>,
    /// Id of the message, if it has a valid one.
    pub(crate) id: Option<Value>,
    pub(crate) data: Option<Value>,
}

impl Refusal {
    /// Creates a refusal of something that is no valid message.
    pub(super) fn invalid_request(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code: ErrorCode::INVALID_REQUEST, message: message.into(), id: None, data: None }
    }

    /// Creates a refusal of a request by its method or parameters. The protocol responds to such requests with 200.
    pub(super) fn of_request(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::OK, code, message: message.into(), id: None, data: None }
    }

    pub(super) fn with_id(self, id: Option<&Value>) -> Self {
        Self { id: id.cloned(), ..self }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut error = json!({ "code": self.code.0, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let mut body = json!({ "jsonrpc": "2.0", "error": error });
        // Without a valid id the member is left out, as the protocol's own schema has it: several clients refuse null.
        if let Some(id) = self.id {
            body["id"] = id;
        }
        (self.status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
    }
}

/// Returns the beginning of a text that a client sent, printable.
pub(crate) fn excerpt(text: &str) -> String {
    let printable = text.chars().filter(|c| !c.is_control());
    let mut excerpt: String = printable.clone().take(MAX_EXCERPT_CHARS).collect();
    if printable.count() > MAX_EXCERPT_CHARS {
        excerpt.push('…');
    }
    excerpt
}
