//! What the server answered, and what a test says about it.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub struct Reply {
    /// What was asked, for messages.
    pub request_line: String,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, whatever its type.
    pub body: Bytes,
}

impl Reply {
    /// The body of a successful answer, as JSON.
    ///
    /// # Errors
    ///
    /// When the answer is not a success, or not JSON.
    pub fn ok(&self) -> Result<Value> {
        if !self.status.is_success() {
            bail!("{self}");
        }
        self.json()
    }

    /// The body of any answer, as JSON.
    ///
    /// # Errors
    ///
    /// When the body is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body).with_context(|| self.to_string())
    }

    /// A string of a successful answer, by JSON pointer (`/workspace/id`).
    ///
    /// # Errors
    ///
    /// When the answer is not a success, or has no string there.
    pub fn string_at(&self, pointer: &str) -> Result<String> {
        let body = self.ok()?;
        let value = body.pointer(pointer).and_then(Value::as_str);
        Ok(value.with_context(|| format!("no string at {pointer}: {self}"))?.to_owned())
    }

    /// A header as text, when it is there.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The answer has this status.
    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{self}");
        self
    }

    /// The answer is the error envelope with this status and code, in every detail that holds for all errors.
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str) -> &Self {
        if let Err(difference) = self.check_error(status, Some(code)) {
            panic_with(&difference);
        }
        self
    }

    /// As [`assert_error`](Self::assert_error), for tests that gather differences; `None` takes any code.
    ///
    /// # Errors
    ///
    /// Names the first difference.
    pub fn check_error(&self, status: u16, code: Option<&str>) -> Result<()> {
        if self.status.as_u16() != status {
            bail!("expected {status} {}: {self}", code.unwrap_or_default());
        }
        let kind = self.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
        if kind.split(';').next() != Some("application/json") {
            bail!("an error of type {kind:?}: {self}");
        }
        let body = self.json::<Value>()?;
        let text = |field: &str| body["error"][field].as_str().filter(|text| !text.is_empty());
        let found = text("code").with_context(|| format!("no error.code: {self}"))?;
        if code.is_some_and(|code| code != found) {
            bail!("expected the code {}: {self}", code.unwrap_or_default());
        }
        text("message").with_context(|| format!("no error.message: {self}"))?;
        let id = text("requestId").with_context(|| format!("no error.requestId: {self}"))?;
        if self.header("x-request-id") != Some(id) {
            bail!("error.requestId is not x-request-id {:?}: {self}", self.header("x-request-id"));
        }
        if body["requestId"] != id {
            bail!("requestId does not stand beside the error: {self}");
        }
        Ok(())
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "this is an assertion")]
fn panic_with(difference: &anyhow::Error) -> ! {
    panic!("{difference:#}")
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} answered {}: {}", self.request_line, self.status, String::from_utf8_lossy(&self.body))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn unauthorized_reply() -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
        headers.insert("x-request-id", HeaderValue::from_static("req_1"));
        let error = json!({"code": "unauthorized", "message": "Sign in.", "requestId": "req_1"});
        let body = json!({"error": error, "requestId": "req_1"});
        Reply {
            request_line: "GET /v1/session".to_owned(),
            status: StatusCode::UNAUTHORIZED,
            headers,
            body: body.to_string().into(),
        }
    }

    #[test]
    fn a_whole_envelope_passes() {
        unauthorized_reply().assert_error(401, "unauthorized");
        assert!(unauthorized_reply().check_error(401, None).is_ok());
    }

    #[test]
    fn every_departure_from_the_envelope_is_named() {
        let assert_refused = |change: fn(&mut Reply), what: &str| {
            let mut reply = unauthorized_reply();
            change(&mut reply);
            let difference = reply.check_error(401, Some("unauthorized")).unwrap_err().to_string();
            assert!(difference.contains(what), "{difference}");
        };
        assert_refused(|reply| reply.status = StatusCode::NOT_FOUND, "expected 401");
        assert_refused(|reply| reply.headers.clear(), "of type");
        assert_refused(
            |reply| {
                reply.headers.remove("x-request-id");
            },
            "is not x-request-id",
        );
        assert_refused(|reply| reply.body = Bytes::from_static(b"{\"error\":{}}"), "no error.code");
        assert_refused(
            |reply| reply.body = Bytes::from_static(b"{\"error\":{\"code\":\"forbidden\"}}"),
            "expected the code",
        );
        assert_refused(
            |reply| {
                reply.body = Bytes::from_static(b"{\"error\":{\"code\":\"unauthorized\",\"message\":\"\"}}");
            },
            "no error.message",
        );
    }

    #[test]
    fn strings_are_read_by_pointer_from_successes_only() {
        let mut reply = unauthorized_reply();
        assert!(reply.string_at("/error/code").unwrap_err().to_string().contains("answered 401"));
        reply.status = StatusCode::OK;
        assert_eq!(reply.string_at("/error/code").unwrap(), "unauthorized");
        assert!(reply.string_at("/error/lost").unwrap_err().to_string().contains("no string at"));
    }
}
