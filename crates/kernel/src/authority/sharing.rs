//! Visibility of an app inside its workspace.

use serde::{Deserialize, Serialize};

/// The sharing level of an app inside its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Sharing {
    /// Only its creator, admins, owners, and people with a grant have access.
    Private,
    /// Members and builders have access too.
    Team,
    /// Everyone in the workspace has access.
    Workspace,
}

crate::names! {
    Sharing {
        Private = "private",
        Team = "team",
        Workspace = "workspace",
    }
}
