//! Faults of runs.

/// Reason why a run or an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFault {
    /// Stable code for programs.
    pub code: String,
    /// Message for people; at most 2,000 characters.
    pub message: String,
}
