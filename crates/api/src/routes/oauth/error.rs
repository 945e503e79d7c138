//! Errors in the format of OAuth (RFC 6749, section 5.2; RFC 7591, section 3.2.2).

use std::borrow::Cow;

use application::{Problem, ProblemKind};
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use identity::oauth::GrantError;
use kernel::StoreError;
use serde::Serialize;

use crate::http::error::write_rate_limit_headers;

/// Error of a public endpoint.
#[derive(Debug)]
pub(super) struct OAuthError {
    status: StatusCode,
    code: &'static str,
    /// Text for developers of clients; ASCII.
    description: Cow<'static, str>,
    /// Rate limit that refused the request, for the headers.
    rate_limit: Option<Box<Problem>>,
}

#[derive(Serialize)]
struct OAuthErrorBody {
    error: &'static str,
    error_description: Cow<'static, str>,
}

impl OAuthError {
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { status, code, description: description.into(), rate_limit: None }
    }

    /// Returns an error with the status 400 and a code of OAuth.
    pub(super) fn bad_request(code: &'static str, description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, description)
    }

    pub(super) fn invalid_client() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "invalid_client",
            "The client is unknown; it may have to register again.",
        )
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = OAuthErrorBody { error: self.code, error_description: self.description };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(problem) = &self.rate_limit {
            let wait = problem.retry_after.map_or(1, |wait| wait.as_secs().saturating_add(1));
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
            write_rate_limit_headers(problem, headers);
        }
        response
    }
}

impl From<GrantError> for OAuthError {
    fn from(error: GrantError) -> Self {
        match error {
            GrantError::InvalidGrant => Self::bad_request(
                "invalid_grant",
                "The code or refresh token is wrong, used, expired, revoked, or another client's.",
            ),
            GrantError::InvalidScope => {
                Self::bad_request("invalid_scope", "The scope is unknown, or exceeds what was granted.")
            }
        }
    }
}

impl From<StoreError> for OAuthError {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl From<Problem> for OAuthError {
    fn from(problem: Problem) -> Self {
        let (status, code) = match problem.kind {
            ProblemKind::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable"),
            ProblemKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable"),
            ProblemKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "invalid_request"),
            ProblemKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
            _ => (StatusCode::BAD_REQUEST, "invalid_request"),
        };
        if status.is_server_error() {
            tracing::error!(
                error = &problem as &dyn std::error::Error,
                cause = std::error::Error::source(&problem),
                "agent client request failed"
            );
        }
        let description = problem.message.clone();
        let limited = problem.retry_after.is_some().then(|| Box::new(problem));
        Self { status, code, description, rate_limit: limited }
    }
}
