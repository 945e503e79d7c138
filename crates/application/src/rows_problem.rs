//! From the row engine's errors to ours.

use std::time::Duration;

use backend_data::{Error, ErrorKind};
use kernel::{Problem, ProblemKind};

/// How long to wait before a request that the store could not answer is sent again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The one place that maps the row engine's errors.
pub fn rows_problem(error: Error) -> Problem {
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
    if problem.kind == ProblemKind::Unavailable {
        problem = problem.retry_after(RETRY_AFTER);
    }
    problem.caused_by(error)
}

#[cfg(test)]
mod tests {
    use backend_data::StoreError;

    use super::*;

    #[test]
    fn what_may_be_sent_again_says_when() {
        let contended = rows_problem(StoreError::WriteConflict("deadlock".into()).into());
        assert_eq!((contended.kind, contended.code.as_ref()), (ProblemKind::Unavailable, "write_conflict"));
        for error in [StoreError::Timeout, StoreError::Unavailable("away".into())] {
            assert_eq!(rows_problem(error.into()).retry_after, Some(RETRY_AFTER));
        }
        assert_eq!(contended.retry_after, Some(RETRY_AFTER));
        assert_eq!(rows_problem(StoreError::RowExists.into()).retry_after, None);
    }
}
