//! Roles in a workspace.

use serde::{Deserialize, Serialize};

/// A role in a workspace. Roles with more authority order first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// May do everything, including changes of ownership.
    Owner,
    /// May do everything except changes of ownership.
    Admin,
    /// Creates and changes apps and automations.
    Builder,
    /// Views and runs shared apps.
    Member,
    /// Views apps that are shared with the whole workspace.
    Viewer,
}

crate::names! {
    Role {
        Owner = "owner",
        Admin = "admin",
        Builder = "builder",
        Member = "member",
        Viewer = "viewer",
    }
}

impl Role {
    /// Returns true if this role has at least the authority of `other`.
    #[must_use]
    pub fn at_least(self, other: Self) -> bool {
        self <= other
    }
}
