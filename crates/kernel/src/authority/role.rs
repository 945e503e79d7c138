//! Roles in a workspace.

use serde::{Deserialize, Serialize};

use crate::caller::ViewedRole;

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
    /// Returns the role that a person with this one has in a view: never one with more authority.
    #[must_use]
    pub fn viewed_as(self, view: ViewedRole) -> Self {
        let viewed = match view {
            ViewedRole::Builder => Self::Builder,
            ViewedRole::Member => Self::Member,
            ViewedRole::Viewer => Self::Viewer,
        };
        // Roles with more authority order first.
        self.max(viewed)
    }

    /// Returns true if this role has at least the authority of `other`.
    #[must_use]
    pub fn at_least(self, other: Self) -> bool {
        self <= other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_lowers_and_never_raises() {
        for (role, as_builder, as_member, as_viewer) in [
            (Role::Owner, Role::Builder, Role::Member, Role::Viewer),
            (Role::Admin, Role::Builder, Role::Member, Role::Viewer),
            (Role::Builder, Role::Builder, Role::Member, Role::Viewer),
            (Role::Member, Role::Member, Role::Member, Role::Viewer),
            (Role::Viewer, Role::Viewer, Role::Viewer, Role::Viewer),
        ] {
            assert_eq!(
                ViewedRole::ALL.map(|view| role.viewed_as(view)),
                [as_builder, as_member, as_viewer],
                "{role}"
            );
        }
    }
}
