//! The states of planned changes. Errors have them too, so they are in a file of their own.

use serde::{Deserialize, Serialize};

/// The state of a planned change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeState {
    /// The plan waits for its owner.
    Planned,
    /// The change is being built.
    Building,
    /// The change is a version of the app.
    Live,
    /// The build failed.
    Failed,
    /// The owner did not approve the plan in time.
    Expired,
}
