//! Rendering of the problem in a response: as JSON, or as a page.

use std::error::Error as _;

use application::ProblemKind;
use axum::{
    Json,
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use kernel::id::RequestId;

use super::{
    DataErrorEnvelope, DataErrorMembers, ErrorEnvelope, HtmlPreference, PendingProblem, log_problem,
    whole_seconds, write_rate_limit_headers,
};
use crate::http::pages;

/// Renders the problem in a handler's response, and logs it if it is the server's fault.
pub(crate) fn render(mut response: Response, request: RequestId) -> Response {
    let Some(PendingProblem(problem)) = response.extensions_mut().remove::<PendingProblem>() else {
        return response;
    };
    // Without a cause, the response has all that a log line could say.
    if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) && problem.source().is_some()
    {
        log_problem(&problem, request);
    }
    let envelope = ErrorEnvelope::new(&problem, request);
    let (mut parts, _) = response.into_parts();
    let (reader, beside) =
        (parts.extensions.remove::<HtmlPreference>(), parts.extensions.remove::<DataErrorMembers>());
    let rendered = match (reader, beside) {
        (Some(HtmlPreference(locale)), _) => pages::error_page(locale, &problem).into_response(),
        (None, Some(beside)) => Json(DataErrorEnvelope { envelope, members: beside }).into_response(),
        (None, None) => Json(envelope).into_response(),
    };
    let (rendered, body) = rendered.into_parts();
    let mut response = Response::from_parts(parts, Body::new(body));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.headers_mut().extend(rendered.headers);
    if let Some(wait) = problem.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
    }
    write_rate_limit_headers(&problem, response.headers_mut());
    if problem.kind == ProblemKind::Unauthorized {
        let challenge = HeaderValue::from_static("Bearer");
        response.headers_mut().entry(header::WWW_AUTHENTICATE).or_insert(challenge);
    }
    response
}
