//! Path parameters.

use application::Problem;
use axum::{
    extract::{FromRequestParts, Path as RawPath},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use crate::{http::error::ApiError, state::Api};

/// Path parameters as `T`. A parameter that is not valid, such as one that is not UTF-8, matches no route.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Api> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        match RawPath::from_request_parts(parts, api).await {
            Ok(RawPath(value)) => Ok(Self(value)),
            Err(_) => Err(Problem::not_found("route").into()),
        }
    }
}
