//! Forms of pages.

use application::Problem;
use axum::{
    extract::{FromRequest, Request},
    http::header,
};
use serde::de::DeserializeOwned;

use super::read_body;
use crate::{http::error::ApiError, state::Api};

const MAX_FORM_BYTES: usize = 16 << 10;

/// Body of at most 16 KiB in the format `application/x-www-form-urlencoded`, as `T`.
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Api> for Form<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Api) -> Result<Self, ApiError> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Err(
                Problem::invalid("The body must be a form (application/x-www-form-urlencoded).").into()
            );
        }
        let body = read_body(request, MAX_FORM_BYTES).await?;
        let value = serde_urlencoded::from_bytes(&body)
            .map_err(|error| Problem::invalid(format!("The form does not match the schema: {error}")))?;
        Ok(Self(value))
    }
}
