//! Versions of an app: immutable states of its code and manifest.

mod baseline;
mod check_files;
mod create;
mod diff_files;
mod earlier;
mod make_current;
mod roll_back;

use std::collections::BTreeMap;

use kernel::{
    Timestamp,
    id::{AppId, RollbackId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{Manifest, trust::TrustBand};

pub use baseline::{Baseline, Publishing};
pub use check_files::{ENTRY_FILE, TYPESCRIPT_ENTRY_FILE, check_files};
pub use create::{CreateVersion, create_version};
pub use diff_files::{FileDifference, MAX_DIFF_BYTES, diff_files};
pub use earlier::{EarlierVersion, check_earlier_version};
pub use roll_back::{RollBack, roll_back};

/// The origin of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionKind {
    /// Built from an instruction.
    Build,
    /// Edited by hand.
    Edit,
    /// Created with the workspace.
    Seed,
}

kernel::names! {
    VersionKind {
        Build = "build",
        Edit = "edit",
        Seed = "seed",
    }
}

/// Handlers that the code of a version exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handlers {
    /// True for `export default { scheduled }`.
    pub scheduled: bool,
    /// True for `export default { fetch }`.
    pub fetch: bool,
}

impl Handlers {
    /// Reads the handlers from the bits that stores keep; ignores unknown bits.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Self { scheduled: bits & 1 != 0, fetch: bits & 2 != 0 }
    }

    /// Returns the handlers as bits, as stores keep them.
    #[must_use]
    pub fn bits(self) -> u8 {
        u8::from(self.scheduled) | u8::from(self.fetch) << 1
    }
}

/// A version, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppVersion {
    /// Id of the version.
    pub id: VersionId,
    /// App that the version belongs to.
    pub app: AppId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// Number within the app; the first is 1.
    pub number: u32,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Person who created the version.
    pub created_by: UserId,
    /// SHA-256 over manifest and files, in lower-case hexadecimal.
    pub bundle_hash: String,
    /// Trust score, 0 to 100; see [`crate::trust`].
    pub trust_score: u8,
    /// Handlers that its code exported when it was checked; none for versions of earlier releases.
    pub handlers: Option<Handlers>,
    /// Origin of the version.
    pub kind: VersionKind,
    /// Summary of the change; 1 to 300 characters.
    pub summary: String,
    /// Version that was current before; none for the first.
    pub base: Option<VersionId>,
    /// Name of the person who created it; only in lists.
    pub created_by_name: Option<String>,
    /// Instruction and builder, if it was built from an instruction.
    pub built_from: Option<BuiltFrom>,
    /// False once its files are deleted: see [`crate::storage`]. It cannot run any more.
    pub is_runnable: bool,
}

/// The origin of a version that was built from an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltFrom {
    /// Instruction, 4 to 2,000 characters.
    pub instruction: String,
    /// Builder.
    pub builder: ChangeBuilder,
}

/// A builder of versions from instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeBuilder {
    /// A model.
    ModelBuilder,
    /// Rules.
    Offline,
}

kernel::names! {
    ChangeBuilder {
        ModelBuilder = "model_builder",
        Offline = "offline",
    }
}

impl AppVersion {
    /// Returns the verdict of the trust score.
    #[must_use]
    pub fn trust_band(&self) -> TrustBand {
        TrustBand::from_score(self.trust_score)
    }
}

/// A move of an app back to an earlier version, or forth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollback {
    /// Id of the move.
    pub id: RollbackId,
    /// App that moved.
    pub app: AppId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// Time of the move.
    pub at: Timestamp,
    /// Person who moved it.
    pub by: UserId,
    /// Name of that person; only in lists.
    pub by_name: Option<String>,
    /// Version that was current before.
    pub from: VersionId,
    /// Version that is current since.
    pub to: VersionId,
}

/// The content of a version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VersionContent {
    /// Manifest.
    pub manifest: Manifest,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
}
