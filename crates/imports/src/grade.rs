//! Grades: how much of a step is kept.

use serde::{Deserialize, Serialize};

/// Share of a step that the app keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// All that the step does.
    Exact,
    /// A part of it; its sentence says what is missing.
    Partial,
    /// Nothing: the run fails at the step until somebody writes it, or it is skipped.
    Unsupported,
    /// Nothing, as in the original, where the step does nothing either.
    Ignored,
}

kernel::names! {
    Grade {
        Exact = "exact",
        Partial = "partial",
        Unsupported = "unsupported",
        Ignored = "ignored",
    }
}
