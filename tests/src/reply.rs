//! A response that was read to its end, with assertions on it.

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A response with its body.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Method and path of the request, for messages.
    pub request_line: String,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// Returns the body of a successful response as JSON.
    pub fn ok(&self) -> Result<Value> {
        if !self.status.is_success() {
            bail!("{self}");
        }
        self.json()
    }

    /// Parses the body of any response as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body).with_context(|| self.to_string())
    }

    /// Returns a string of a successful response, by JSON pointer (`/workspace/id`).
    pub fn string_at(&self, pointer: &str) -> Result<String> {
        let body = self.ok()?;
        let value = body.pointer(pointer).and_then(Value::as_str);
        Ok(value.with_context(|| format!("no string at {pointer}: {self}"))?.to_owned())
    }

    /// Returns a header as text, if present.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    #[track_caller]
    pub fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status.as_u16(), status, "{self}");
        self
    }

    /// Asserts that the response is the error envelope with this status and code, in every detail that all errors
    /// share.
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str) -> &Self {
        if let Err(difference) = self.check_error(status, Some(code)) {
            panic_with(&difference);
        }
        self
    }

    /// Returns the first difference that [`assert_error`](Self::assert_error) would report, for tests that collect
    /// differences. `None` accepts any code.
    pub fn check_error(&self, status: u16, code: Option<&str>) -> Result<()> {
        if self.status.as_u16() != status {
            bail!("expected {status} {}: {self}", code.unwrap_or_default());
        }
        let kind = self.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
        if kind.split(';').next() != Some("application/json") {
            bail!("an error with content type {kind:?}: {self}");
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
            bail!("the top-level requestId differs from error.requestId: {self}");
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
        write!(f, "{} responded {}: {}", self.request_line, self.status, String::from_utf8_lossy(&self.body))
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
    fn a_complete_envelope_passes() {
        unauthorized_reply().assert_error(401, "unauthorized");
        assert!(unauthorized_reply().check_error(401, None).is_ok());
    }

    #[test]
    fn every_deviation_from_the_envelope_is_reported() {
        let assert_reports = |change: fn(&mut Reply), what: &str| {
            let mut reply = unauthorized_reply();
            change(&mut reply);
            let difference = reply.check_error(401, Some("unauthorized")).unwrap_err().to_string();
            assert!(difference.contains(what), "{difference}");
        };
        assert_reports(|reply| reply.status = StatusCode::NOT_FOUND, "expected 401");
        assert_reports(|reply| reply.headers.clear(), "with content type");
        assert_reports(
            |reply| {
                reply.headers.remove("x-request-id");
            },
            "is not x-request-id",
        );
        assert_reports(|reply| reply.body = Bytes::from_static(b"{\"error\":{}}"), "no error.code");
        assert_reports(
            |reply| reply.body = Bytes::from_static(b"{\"error\":{\"code\":\"forbidden\"}}"),
            "expected the code",
        );
        assert_reports(
            |reply| {
                reply.body = Bytes::from_static(b"{\"error\":{\"code\":\"unauthorized\",\"message\":\"\"}}");
            },
            "no error.message",
        );
    }

    #[test]
    fn strings_are_read_by_pointer_from_successful_responses_only() {
        let mut reply = unauthorized_reply();
        assert!(reply.string_at("/error/code").unwrap_err().to_string().contains("responded 401"));
        reply.status = StatusCode::OK;
        assert_eq!(reply.string_at("/error/code").unwrap(), "unauthorized");
        assert!(reply.string_at("/error/missing").unwrap_err().to_string().contains("no string at"));
    }
}
