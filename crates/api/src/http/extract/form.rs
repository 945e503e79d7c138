//! Forms of pages.

use application::{Problem, late_proof::LateProof};
use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use serde::de::DeserializeOwned;

use super::payload::{late_proof_of, read_body_with};
use crate::{http::error::ApiError, state::Api};

const MAX_FORM_BYTES: usize = 16 << 10;

/// Body of at most 16 KiB in the format `application/x-www-form-urlencoded`, as `T`.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Api> for Form<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Api) -> Result<Self, ApiError> {
        let late_proof = late_proof_of(&request)?;
        Ok(Self(read_form(request, &late_proof).await?))
    }
}

/// [`Form`] of a request that has no caller.
pub(crate) struct AnonymousForm<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Api> for AnonymousForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Api) -> Result<Self, ApiError> {
        Ok(Self(read_form(request, &LateProof::of_nobody()).await?))
    }
}

async fn read_form<T: DeserializeOwned>(request: Request, late_proof: &LateProof) -> Result<T, Problem> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Problem::invalid("The body must be a form (application/x-www-form-urlencoded)."));
    }
    let (body, _) = read_body_with(request, MAX_FORM_BYTES, late_proof).await?;
    serde_urlencoded::from_bytes(&body)
        .map_err(|error| Problem::invalid(format!("The form does not match the schema: {error}")))
}
