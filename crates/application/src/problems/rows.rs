//! Problems of the row engine.

use std::time::Duration;

use backend_data::{Error, ErrorKind};

use crate::problem::{Problem, ProblemKind};

/// Time after which a client may repeat a request that the store could not serve.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Maps an error of the row engine. Nothing else does.
pub fn rows_problem(error: Error) -> Problem {
    let kind = match error.kind() {
        ErrorKind::Invalid => ProblemKind::Invalid,
        ErrorKind::Unauthorized => ProblemKind::Unauthorized,
        ErrorKind::Forbidden => ProblemKind::Forbidden,
        ErrorKind::NotFound => ProblemKind::NotFound,
        ErrorKind::Conflict => ProblemKind::Conflict,
        ErrorKind::PreconditionFailed => ProblemKind::PreconditionFailed,
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
    fn a_retryable_error_has_a_time_to_retry_after() {
        let contended = rows_problem(StoreError::WriteConflict("deadlock".into()).into());
        assert_eq!((contended.kind, contended.code.as_ref()), (ProblemKind::Unavailable, "write_conflict"));
        for error in [StoreError::Timeout, StoreError::Unavailable("away".into())] {
            assert_eq!(rows_problem(error.into()).retry_after, Some(RETRY_AFTER));
        }
        assert_eq!(contended.retry_after, Some(RETRY_AFTER));
        assert_eq!(rows_problem(StoreError::RowExists.into()).retry_after, None);
    }
}
