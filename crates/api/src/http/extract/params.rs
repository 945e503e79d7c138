//! Typed query strings.

use application::Problem;
use axum::{extract::FromRequestParts, http::request::Parts};
use serde::de::DeserializeOwned;

use crate::{http::error::ApiError, state::Api};

/// Query string as `T`. Unknown parameters are refused, so that a mistyped filter is noticed.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Api> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let parser = serde_urlencoded::Deserializer::new(url::form_urlencoded::parse(query.as_bytes()));
        let value = serde_path_to_error::deserialize(parser).map_err(|error| {
            let path = error.path().to_string();
            let what = error.into_inner();
            if path == "." || path == "?" {
                Problem::invalid(format!("The query does not match the schema: {what}"))
            } else {
                Problem::invalid_field(&path, format_args!("does not match the schema: {what}"))
            }
        })?;
        Ok(Self(value))
    }
}
