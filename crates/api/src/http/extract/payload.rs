//! Request bodies, received completely but parsed only after the caller's rights are checked: an error about the
//! content must not reveal to a stranger that the object exists.
//! See `docs/decisions/0007-authorize-before-parsing-the-body.md`.

use std::{borrow::Cow, time::Duration};

use application::{Problem, ProblemKind};
use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::json;
use crate::{http::error::ApiError, state::Api};

/// Maximum length of a body in bytes, unless an operation has another.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// Time for receiving a body, so that slow senders do not occupy the server.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A request body that is not parsed yet.
pub(crate) struct Payload {
    bytes: Bytes,
    is_json: bool,
    is_csv: bool,
}

impl FromRequest<Api> for Payload {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Api) -> Result<Self, ApiError> {
        Ok(Self::read(request, MAX_BODY).await?)
    }
}

/// Receives a body of at most `limit` bytes.
///
/// # Errors
/// 413 `too_large` if it is longer; 400 `invalid_request` if it does not arrive in time or completely.
pub(crate) async fn read_body(request: Request, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        let message = format!("The body may have at most {} KiB.", limit >> 10);
        Problem::new(ProblemKind::TooLarge, "too_large", message)
    };
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared.and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let body = Limited::new(request.into_body(), limit).collect();
    let Ok(collected) = tokio::time::timeout(BODY_TIMEOUT, body).await else {
        return Err(Problem::invalid("The body took too long to arrive."));
    };
    match collected {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(Problem::invalid("The body ended before it was complete.")),
    }
}

impl Payload {
    /// Receives a body of at most `limit` bytes.
    pub(crate) async fn read(request: Request, limit: usize) -> Result<Self, Problem> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json");
        let is_csv = essence.eq_ignore_ascii_case("text/csv");
        let bytes = read_body(request, limit).await?;
        Ok(Self { bytes, is_json, is_csv })
    }

    /// Returns the text of a JSON body, for callers that parse it themselves.
    ///
    /// # Errors
    /// 415 `unsupported_media_type` unless the `Content-Type` is JSON.
    pub(crate) fn json_text(&self) -> Result<&[u8], Problem> {
        if self.is_json {
            Ok(&self.bytes)
        } else {
            Err(Problem::new(ProblemKind::Unsupported, "unsupported_media_type", "The body must be JSON.")
                .hint("Send Content-Type: application/json."))
        }
    }

    /// Returns `true` if the `Content-Type` is CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.is_csv
    }

    /// Returns the text of a JSON or CSV body.
    ///
    /// # Errors
    /// 415 `unsupported_media_type` unless the `Content-Type` is JSON or CSV.
    pub(crate) fn rows_text(&self) -> Result<&[u8], Problem> {
        if self.is_csv { Ok(&self.bytes) } else { self.json_text() }
    }

    /// Parses a JSON body.
    ///
    /// # Errors
    /// 415 `unsupported_media_type` unless the `Content-Type` is JSON; 400 `invalid_request`, with the field, if it
    /// does not match.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let text = json::parse(self.json_text()?)
            .map_err(|error| Problem::invalid(format!("The body is not valid JSON: {error}.")))?;
        serde_path_to_error::deserialize(text).map_err(|error| {
            let path = error.path().to_string();
            let error = error.into_inner().to_string();
            let what = without_value(&error);
            // The position is relative to the value with the error, so it would mislead; the path locates the value.
            let what = what.split_once(" at line ").map_or(&*what, |(what, _)| what);
            if path == "." || path == "?" {
                Problem::invalid(format!("The body does not match the schema: {what}"))
            } else {
                Problem::invalid_field(&path, format_args!("does not match the schema: {what}"))
            }
        })
    }

    /// Parses a JSON body; no body counts as `{}`.
    pub(crate) fn json_or_empty<T: DeserializeOwned + Default>(&self) -> Result<T, Problem> {
        if self.bytes.is_empty() { Ok(T::default()) } else { self.json() }
    }
}

/// Returns the text of an error of serde without the value that the request has: it may be a secret.
fn without_value(what: &str) -> Cow<'_, str> {
    const EXPECTED: &str = "`, expected ";
    if let Some(rest) = what.strip_prefix("unknown variant `") {
        // The value may have this text too; the list of variants after it does not.
        let expected = rest.rfind(EXPECTED).map(|at| &rest[at + 1..]);
        return format!("unknown variant{}", expected.unwrap_or_default()).into();
    }
    if !what.starts_with("invalid type: ") && !what.starts_with("invalid value: ") {
        return what.into();
    }
    // As in "invalid type: string \"abc\", expected u64" and "invalid type: integer `1`, expected a string".
    let separator = what.find(", expected ").unwrap_or(what.len());
    let Some(start) = what.find(['"', '`']).filter(|start| *start < separator) else { return what.into() };
    let value = &what[start..];
    let end = if value.starts_with('"') {
        let mut is_escaped = false;
        let closing = value.char_indices().skip(1).find(|(_, c)| {
            let is_closing = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_closing
        });
        closing.map(|(at, _)| at + 1)
    } else {
        value[1..].find(EXPECTED).map(|at| at + 2)
    };
    let rest = end.map(|end| &value[end..]).unwrap_or_default();
    format!("{}{rest}", what[..start].trim_end()).into()
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        One,
        Two,
    }

    fn error<T: DeserializeOwned + Debug>(text: &str) -> String {
        let error = serde_json::from_str::<T>(text).unwrap_err().to_string();
        without_value(&error).split(" at line ").next().unwrap().to_owned()
    }

    #[test]
    fn errors_do_not_repeat_the_value() {
        assert_eq!(error::<String>("1234567890123"), "invalid type: integer, expected a string");
        assert_eq!(error::<String>("-1.5"), "invalid type: floating point, expected a string");
        assert_eq!(error::<String>("true"), "invalid type: boolean, expected a string");
        assert_eq!(error::<String>("null"), "invalid type: null, expected a string");
        assert_eq!(error::<String>("[1]"), "invalid type: sequence, expected a string");
        assert_eq!(error::<u8>("300"), "invalid value: integer, expected u8");
        for secret in [r#"s3cret"#, r#"s\"3cret, expected `u8"#, r#"\\"#, "`, expected `x", "at line 1"] {
            let text = format!("\"{secret}\"");
            assert_eq!(error::<u8>(&text), "invalid type: string, expected u8", "{text}");
            assert_eq!(
                error::<char>(&format!("\"a{secret}\"")),
                "invalid value: string, expected a character"
            );
            let choice = error::<Choice>(&text);
            assert_eq!(choice, "unknown variant, expected `one` or `two`", "{text}");
        }
        assert_eq!(without_value("missing field `value`"), "missing field `value`");
        assert_eq!(
            without_value("invalid type: character ```, expected u8"),
            "invalid type: character, expected u8"
        );
        assert_eq!(without_value("invalid type: map, expected `a`"), "invalid type: map, expected `a`");
    }
}
