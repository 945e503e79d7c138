//! Errors of the data API: the API's error envelope, and the members that clients of PostgREST expect.

use std::borrow::Cow;

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use backend_data::Error;
use kernel::StoreError;

use crate::http::error::{ApiError, DataErrorMembers};
use application::{Problem, ProblemKind, rows_problem};

/// Error of the data API, with the total number of rows if a range begins after the last row.
#[derive(Debug)]
pub(crate) struct RestError(Box<(Problem, DataErrorMembers, Option<u64>)>);

/// Result of a handler of the data API.
pub(crate) type RestResult<T> = Result<T, RestError>;

impl From<Problem> for RestError {
    fn from(problem: Problem) -> Self {
        let beside = DataErrorMembers {
            code: postgrest_code(&problem),
            message: problem.message.clone().into_owned(),
            details: None,
            hint: problem.hint.as_deref().map(str::to_owned),
        };
        Self(Box::new((problem, beside, None)))
    }
}

impl From<StoreError> for RestError {
    fn from(error: StoreError) -> Self {
        Problem::from(error).into()
    }
}

impl From<Error> for RestError {
    fn from(error: Error) -> Self {
        let beside = DataErrorMembers {
            code: error.pgrst_code().into(),
            message: error.message().to_owned(),
            details: error.details().map(str::to_owned),
            hint: error.hint().map(str::to_owned),
        };
        let total = error.total();
        Self(Box::new((rows_problem(error), beside, total)))
    }
}

impl From<RestError> for Problem {
    fn from(error: RestError) -> Self {
        error.0.0
    }
}

impl RestError {
    /// Replaces the code by the one for missing scopes.
    pub(super) fn with_scope_code(mut self) -> Self {
        self.0.0.code = INSUFFICIENT_SCOPE.into();
        self
    }
}

pub(super) const INSUFFICIENT_SCOPE: &str = "insufficient_scope";

/// Returns PostgREST's code for an error from outside the engine; the error's own code if there is none.
fn postgrest_code(problem: &Problem) -> Cow<'static, str> {
    match problem.kind {
        ProblemKind::Invalid => "PGRST100".into(),
        ProblemKind::Unauthorized => "PGRST301".into(),
        ProblemKind::Forbidden => "42501".into(),
        ProblemKind::NotAcceptable => "PGRST107".into(),
        ProblemKind::Unsupported => "PGRST102".into(),
        ProblemKind::RangeNotSatisfiable => "PGRST103".into(),
        ProblemKind::TooLarge => "54000".into(),
        ProblemKind::Internal => "XX000".into(),
        ProblemKind::Unavailable => "PGRST001".into(),
        ProblemKind::NotFound
        | ProblemKind::MethodNotAllowed
        | ProblemKind::Conflict
        | ProblemKind::PreconditionFailed
        | ProblemKind::Misdirected
        | ProblemKind::RateLimited => problem.code.clone(),
    }
}

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        let (problem, beside, total) = *self.0;
        let mut response = ApiError(problem).into_response();
        if let Some(range) = total.and_then(|total| HeaderValue::try_from(format!("*/{total}")).ok()) {
            response.headers_mut().insert(header::CONTENT_RANGE, range);
        }
        response.extensions_mut().insert(beside);
        response
    }
}
