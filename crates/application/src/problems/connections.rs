//! Problems of gates.

use connections::gates::GateError;

use crate::problem::Problem;

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        match error {
            GateError::NotFound => Self::not_found("gate"),
            GateError::Store(error) => error.into(),
        }
    }
}
