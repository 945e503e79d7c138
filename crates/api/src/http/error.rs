//! Rendering of a [`Problem`] as an HTTP response. Nothing else does this.

mod render;

use std::{borrow::Cow, error::Error as _, sync::Arc, time::Duration};

use application::{Problem, ProblemKind, rate_limits::RateLimitState};
use axum::{
    http::{HeaderMap, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
};
use kernel::{Locale, id::RequestId};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use render::render;

/// Error of a handler.
#[derive(Debug)]
pub(crate) struct ApiError(pub(crate) Problem);

impl<E: Into<Problem>> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// Result of a handler.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// Problem in the extensions of a response, until the request middleware renders it with the request id.
#[derive(Clone)]
struct PendingProblem(Arc<Problem>);

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = status_code(self.0.kind).into_response();
        response.extensions_mut().insert(PendingProblem(Arc::new(self.0)));
        response
    }
}

pub(crate) fn status_code(kind: ProblemKind) -> StatusCode {
    match kind {
        ProblemKind::Invalid => StatusCode::BAD_REQUEST,
        ProblemKind::Unauthorized => StatusCode::UNAUTHORIZED,
        ProblemKind::Forbidden => StatusCode::FORBIDDEN,
        ProblemKind::NotFound => StatusCode::NOT_FOUND,
        ProblemKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ProblemKind::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        ProblemKind::Conflict => StatusCode::CONFLICT,
        ProblemKind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        ProblemKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ProblemKind::Unsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ProblemKind::RangeNotSatisfiable => StatusCode::RANGE_NOT_SATISFIABLE,
        ProblemKind::Misdirected => StatusCode::MISDIRECTED_REQUEST,
        ProblemKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ProblemKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        ProblemKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Marks a response whose client prefers HTML: errors become a page in this language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HtmlPreference(pub(crate) Locale);

/// Members next to `error`, for clients of a protocol with an error format of its own. A handler puts them into the
/// extensions of its response.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = DataErrorMembers)]
pub(crate) struct DataErrorMembers {
    /// Code for clients of PostgREST: `PGRST…`, an SQLSTATE, or a code of Qala.
    #[schema(min_length = 1, example = "PGRST205")]
    pub(crate) code: Cow<'static, str>,
    #[schema(min_length = 1)]
    pub(crate) message: String,
    /// Details of the error.
    #[schema(required)]
    pub(crate) details: Option<String>,
    #[schema(required)]
    pub(crate) hint: Option<String>,
}

/// The body of every error of the data API: the error envelope and the members that clients of PostgREST expect.
#[derive(Serialize, ToSchema)]
pub(crate) struct DataErrorEnvelope {
    #[serde(flatten)]
    envelope: ErrorEnvelope,
    #[serde(flatten)]
    members: DataErrorMembers,
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorEnvelope {
    error: ErrorBody,
    /// The id of the request, as in `error`.
    request_id: RequestId,
}

impl ErrorEnvelope {
    fn new(problem: &Problem, request: RequestId) -> Self {
        let error = ErrorBody {
            code: problem.code.clone().into_owned(),
            message: problem.message.clone().into_owned(),
            hint: problem.hint.as_deref().map(str::to_owned),
            request_id: request,
        };
        Self { error, request_id: request }
    }
}

/// Returns the body of a problem that occurs after the response has begun, and logs it if it is the server's fault.
pub(crate) fn problem_json(problem: &Problem, request: RequestId) -> serde_json::Value {
    if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) && problem.source().is_some()
    {
        log_problem(problem, request);
    }
    serde_json::json!(ErrorEnvelope::new(problem, request))
}

/// An error.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorBody {
    /// Stable code, for programs.
    #[schema(min_length = 1, example = "invalid_request")]
    code: String,
    /// Description of the error, for people.
    #[schema(min_length = 1)]
    message: String,
    /// Instruction for fixing the problem, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The id of the request, as in the header `x-request-id`.
    request_id: RequestId,
}

/// Returns the code of the problem in a handler's response, before it is rendered.
pub(crate) fn problem_code(response: &Response) -> Option<String> {
    response
        .extensions()
        .get::<PendingProblem>()
        .map(|PendingProblem(problem)| problem.code.clone().into_owned())
}

/// Writes the state of a caller's rate limit (draft-ietf-httpapi-ratelimit-headers-06, section 5).
pub(crate) fn write_rate_limit_state(state: &RateLimitState, headers: &mut HeaderMap) {
    headers.insert("ratelimit-limit", HeaderValue::from(state.limit));
    headers.insert("ratelimit-remaining", HeaderValue::from(state.remaining));
    // Time until the bucket is full again.
    let missing = u64::from(state.limit - state.remaining.min(state.limit));
    headers
        .insert("ratelimit-reset", HeaderValue::from((missing * 60).div_ceil(u64::from(state.limit.max(1)))));
}

/// Writes the state of the rate limit that refused a request: nothing is left until the waiting time is over.
pub(crate) fn write_rate_limit_headers(problem: &Problem, headers: &mut HeaderMap) {
    if let (Some(limit), Some(wait)) = (problem.limit, problem.retry_after) {
        headers.insert("ratelimit-limit", HeaderValue::from(limit.get()));
        headers.insert("ratelimit-remaining", HeaderValue::from(0));
        headers.insert("ratelimit-reset", HeaderValue::from(whole_seconds(wait)));
    }
}

/// At least one second, so that clients do not retry immediately.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX)
}

fn log_problem(problem: &Problem, request: RequestId) {
    let mut causes = Vec::new();
    let mut cause = problem.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    tracing::error!(request_id = %request, code = %problem.code, causes = ?causes, "request failed");
}
