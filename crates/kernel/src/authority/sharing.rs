//! How far an app is shared inside its workspace.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Problem;

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

impl Sharing {
    /// Returns the name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Team => "team",
            Self::Workspace => "workspace",
        }
    }
}

impl FromStr for Sharing {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Private, Self::Team, Self::Workspace]
            .into_iter()
            .find(|sharing| sharing.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("sharing", "must be private, team or workspace"))
    }
}
