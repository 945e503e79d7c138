//! A request's body, taken whole and read only after the caller's rights are known: a refusal about its content must
//! not tell a stranger that the thing exists.
//! See `docs/decisions/0007-authorize-before-parsing-the-body.md`.

use std::time::Duration;

use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kernel::{Problem, ProblemKind};
use serde::de::DeserializeOwned;

use super::json;
use crate::{http::error::ApiError, state::Api};

/// The most a body may have, save where an operation says otherwise.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// How long a body may take to arrive: whoever sends it drop by drop must not hold a place for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A whole body, not yet read.
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

/// Takes a body of at most `limit` bytes.
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
    /// Takes a body of at most `limit` bytes.
    pub(crate) async fn read(request: Request, limit: usize) -> Result<Self, Problem> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json");
        let is_csv = essence.eq_ignore_ascii_case("text/csv");
        let bytes = read_body(request, limit).await?;
        Ok(Self { bytes, is_json, is_csv })
    }

    /// The body's text, for whoever reads JSON without building it.
    ///
    /// # Errors
    /// 415 unless it says it is JSON.
    pub(crate) fn json_text(&self) -> Result<&[u8], Problem> {
        if self.is_json {
            Ok(&self.bytes)
        } else {
            Err(Problem::new(ProblemKind::Unsupported, "unsupported_media_type", "The body must be JSON.")
                .hint("Send Content-Type: application/json."))
        }
    }

    /// Whether the body says it is CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.is_csv
    }

    /// The body's text, be it JSON or CSV.
    ///
    /// # Errors
    /// 415 unless it says it is one of them.
    pub(crate) fn rows_text(&self) -> Result<&[u8], Problem> {
        if self.is_csv { Ok(&self.bytes) } else { self.json_text() }
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// 415 unless it says it is JSON; 400 naming the field when it does not fit.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let text = json::parse(self.json_text()?)
            .map_err(|error| Problem::invalid(format!("The body is not JSON: {error}.")))?;
        serde_path_to_error::deserialize(text).map_err(|error| {
            let path = error.path().to_string();
            // Positions would be those of the part that does not fit; the path says where that is.
            let what = error.into_inner().to_string();
            let what = what.split_once(" at line ").map_or(what.as_str(), |(what, _)| what);
            if path == "." || path == "?" {
                Problem::invalid(format!("The body does not fit: {what}"))
            } else {
                Problem::invalid_field(&path, format_args!("does not fit: {what}"))
            }
        })
    }

    /// Reads the body as JSON; nothing sent is like `{}`.
    pub(crate) fn json_or_empty<T: DeserializeOwned + Default>(&self) -> Result<T, Problem> {
        if self.bytes.is_empty() { Ok(T::default()) } else { self.json() }
    }
}
