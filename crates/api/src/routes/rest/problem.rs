//! From the row engine's errors to ours.

use backend_data::{Error, ErrorKind};
use kernel::{Problem, ProblemKind};

/// The one place that maps the row engine's errors.
pub(crate) fn rest_problem(error: Error) -> Problem {
    let kind = match error.kind() {
        ErrorKind::Invalid => ProblemKind::Invalid,
        ErrorKind::Unauthorized => ProblemKind::Unauthorized,
        ErrorKind::Forbidden => ProblemKind::Forbidden,
        ErrorKind::NotFound => ProblemKind::NotFound,
        ErrorKind::Conflict => ProblemKind::Conflict,
        ErrorKind::TooLarge => ProblemKind::TooLarge,
        ErrorKind::NotAcceptable => ProblemKind::NotAcceptable,
        ErrorKind::Range => ProblemKind::RangeNotSatisfiable,
        ErrorKind::Timeout | ErrorKind::Unavailable => ProblemKind::Unavailable,
        ErrorKind::Internal => ProblemKind::Internal,
    };
    let mut problem = Problem::new(kind, error.code(), error.message().to_owned());
    if let Some(hint) = error.hint() {
        problem = problem.hint(hint.to_owned());
    }
    problem.caused_by(error)
}
