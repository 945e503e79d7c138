//! Request bodies, received completely but parsed only after the caller's rights are checked: an error about the
//! content must not reveal to a stranger that the object exists.
//! See `docs/decisions/0007-authorize-before-parsing-the-body.md`.

use application::{
    Problem, ProblemKind,
    late_proof::{self, LateProof, ProveAgain},
};
use axum::{
    body::Body,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::{json, json_error::without_value};
use crate::{http::error::ApiError, state::Api};

/// Maximum length of a body in bytes, unless an operation has another.
pub(crate) const MAX_BODY: usize = 1 << 20;

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

/// Returns what makes the proof of a request once more. The extractor of its caller stored it.
///
/// # Errors
/// 500 `internal` if no extractor did: the body of such a request could be used with rights that have ended.
pub(super) fn late_proof_of(request: &Request) -> Result<LateProof, Problem> {
    let stored = request.extensions().get::<LateProof>().cloned();
    stored.ok_or_else(|| Problem::internal("the caller's rights cannot be proven again after the body"))
}

/// Receives a body of at most `limit` bytes.
///
/// # Errors
/// 413 `too_large` if it is longer; 400 `invalid_request` if it does not arrive in time or completely; if it arrives late,
/// those of the caller's rights.
pub(crate) async fn read_body(request: Request, limit: usize) -> Result<Bytes, Problem> {
    let late_proof = late_proof_of(&request)?;
    Ok(read_body_with(request, limit, &late_proof).await?.0)
}

/// Receives a body of at most `limit` bytes, of a request that has no caller or whose body proves it.
///
/// # Errors
/// As [`read_body`].
pub(crate) async fn read_anonymous_body(request: Request, limit: usize) -> Result<Bytes, Problem> {
    Ok(read_body_with(request, limit, &LateProof::of_nobody()).await?.0)
}

/// Receives a body of at most `limit` bytes; if it arrives late, with the proof that was made after it.
///
/// # Errors
/// As [`read_body`].
pub(crate) async fn read_body_with<P: ProveAgain>(
    request: Request,
    limit: usize,
    late_proof: &P,
) -> Result<(Bytes, Option<P::Proven>), Problem> {
    let (parts, body) = request.into_parts();
    receive(&parts.headers, body, limit, late_proof).await
}

async fn receive<P: ProveAgain>(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    late_proof: &P,
) -> Result<(Bytes, Option<P::Proven>), Problem> {
    let too_large = || {
        let message = format!("The body may have at most {} KiB.", limit >> 10);
        Problem::new(ProblemKind::TooLarge, "too_large", message)
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared.and_then(|text| text.parse::<u64>().ok()).is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let body = Limited::new(body, limit).collect();
    let (collected, proven) = late_proof::receive(body, late_proof).await?;
    match collected {
        Ok(body) => Ok((body.to_bytes(), proven)),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_) => Err(Problem::invalid("The body ended before it was complete.")),
    }
}

/// Returns a text without the byte order mark that some senders put before it (RFC 8259, section 8.1).
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

impl Payload {
    /// Receives a body of at most `limit` bytes.
    pub(crate) async fn read(request: Request, limit: usize) -> Result<Self, Problem> {
        let late_proof = late_proof_of(&request)?;
        let (parts, body) = request.into_parts();
        Ok(Self::read_with(&parts.headers, body, limit, &late_proof).await?.0)
    }

    /// Receives a body of at most `limit` bytes; if it arrives late, with the proof that was made after it.
    pub(crate) async fn read_with<P: ProveAgain>(
        headers: &HeaderMap,
        body: Body,
        limit: usize,
        late_proof: &P,
    ) -> Result<(Self, Option<P::Proven>), Problem> {
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json");
        let is_csv = essence.eq_ignore_ascii_case("text/csv");
        let (bytes, proven) = receive(headers, body, limit, late_proof).await?;
        Ok((Self { bytes, is_json, is_csv }, proven))
    }

    /// Returns the text of a JSON body, for callers that parse it themselves.
    ///
    /// # Errors
    /// 415 `unsupported_media_type` unless the `Content-Type` is JSON.
    pub(crate) fn json_text(&self) -> Result<&[u8], Problem> {
        if self.is_json {
            Ok(without_mark(&self.bytes))
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

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::Arc,
        sync::atomic::{AtomicBool, Ordering},
        time::Duration,
    };

    use axum::body::Body;

    use super::*;

    /// Reads a body that ends after `delay`, of a request whose caller has lost the right meanwhile.
    async fn read(delay: Duration) -> (Result<Bytes, Problem>, bool) {
        let parts = futures::stream::once(async move {
            tokio::time::sleep(delay).await;
            Ok::<_, Infallible>(Bytes::from_static(b"{}"))
        });
        let mut request = Request::new(Body::from_stream(parts));
        let was_asked = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&was_asked);
        request.extensions_mut().insert(LateProof::<()>::new(move || {
            asked.store(true, Ordering::SeqCst);
            async { Err(Problem::not_found("app")) }
        }));
        (read_body(request, MAX_BODY).await, was_asked.load(Ordering::SeqCst))
    }

    #[tokio::test(start_paused = true)]
    async fn the_right_is_proven_once_more_if_the_body_comes_late() {
        let (prompt, was_asked) = read(Duration::from_millis(100)).await;
        assert!(prompt.is_ok() && !was_asked);
        let (late, was_asked) = read(Duration::from_secs(3)).await;
        assert!(was_asked);
        assert_eq!(late.unwrap_err().code, "app_not_found");
        let (never, was_asked) = read(Duration::from_secs(60)).await;
        assert!(never.is_err() && !was_asked);
    }

    #[tokio::test]
    async fn a_body_without_a_proof_to_make_again_is_not_read() {
        let request = || Request::new(Body::from("{}"));
        assert_eq!(read_body(request(), MAX_BODY).await.unwrap_err().kind, ProblemKind::Internal);
        let payload = Payload::read(request(), MAX_BODY).await;
        assert_eq!(payload.err().map(|problem| problem.kind), Some(ProblemKind::Internal));
        assert_eq!(read_anonymous_body(request(), MAX_BODY).await.unwrap(), "{}");
    }
}
