//! Versions of an app: code and manifest, which never change once made.

mod check_files;
mod create;

use std::{collections::BTreeMap, str::FromStr};

use kernel::{
    Problem, Timestamp,
    id::{AppId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{Manifest, trust::TrustBand};

pub use check_files::{ENTRY_FILE, check_files};
pub use create::{CreateVersion, create_version};

/// How a version came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum VersionKind {
    /// Built from an instruction.
    Build,
    /// Edited by hand.
    Edit,
    /// Came with the workspace.
    Seed,
}

impl VersionKind {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Edit => "edit",
            Self::Seed => "seed",
        }
    }
}

impl FromStr for VersionKind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Build, Self::Edit, Self::Seed]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("kind", "must be build, edit or seed"))
    }
}

/// A version, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppVersion {
    /// The version's id.
    pub id: VersionId,
    /// The app it is of.
    pub app: AppId,
    /// The app's workspace.
    pub workspace: WorkspaceId,
    /// 1 for the first.
    pub number: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: UserId,
    /// SHA-256 over manifest and files, in hexadecimal.
    pub bundle_hash: String,
    /// 0 to 100; see [`crate::trust`].
    pub trust_score: u8,
    /// How it came to be.
    pub kind: VersionKind,
    /// What it is, 1 to 300 characters.
    pub summary: String,
    /// The version it was made from.
    pub base: Option<VersionId>,
    /// Who made it, by name; only where a list shows it.
    pub created_by_name: Option<String>,
}

impl AppVersion {
    /// How far the score goes.
    #[must_use]
    pub fn trust_band(&self) -> TrustBand {
        TrustBand::from_score(self.trust_score)
    }
}

/// What a version is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionContent {
    /// What it asks for.
    pub manifest: Manifest,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
}
