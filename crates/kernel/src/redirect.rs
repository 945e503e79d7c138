//! Redirect modes of requests that code sends.

use serde::{Deserialize, Serialize};

/// Redirect mode of a request (Fetch, section 2.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RedirectMode {
    /// Follows redirects.
    #[default]
    Follow,
    /// Returns the response that redirects.
    Manual,
    /// Refuses a response that redirects.
    Error,
}

crate::names! {
    RedirectMode {
        Follow = "follow",
        Manual = "manual",
        Error = "error",
    }
}
