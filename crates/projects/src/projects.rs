//! Backend projects, and the use cases that create, restore and configure them (specification part B, "Project").

mod change_settings;
mod create;
pub mod deletion;
mod restore;

use kernel::{
    Context, Timestamp,
    id::{ProjectId, UserId, WorkspaceId},
    slug::{SLUG_SUFFIX_ALPHABET, slugify},
};
use serde::{Deserialize, Serialize};

use crate::identity_provider::IdentityProvider;

pub use change_settings::{SettingsChange, change_settings};
pub use create::{CreateProject, create_project};
pub use restore::{RestoreProject, restore_project};

/// Most projects of a workspace that are not deleted.
pub(crate) const MAX_PROJECTS: u64 = 2_000;

/// A backend project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Id of the project.
    pub id: ProjectId,
    /// Workspace that the project belongs to.
    pub workspace: WorkspaceId,
    /// Display name; 2 to 60 characters.
    pub name: String,
    /// Name in URLs; unique over all workspaces.
    pub slug: String,
    /// Purpose of the project; at most 280 characters.
    pub description: String,
    /// Number of the shard that holds its rows.
    pub shard: u16,
    /// Settings of its data API.
    pub settings: Settings,
    /// Person who created the project.
    pub created_by: UserId,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// A project with the number of its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSummary {
    /// Project.
    pub project: Project,
    /// Keys that are not revoked.
    pub key_count: u64,
}

/// The settings of a project's data API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Most requests a minute with one key; 10 to 100,000.
    pub rate_limit_per_min: u32,
    /// Most requests a minute from one IP address; 10 to 100,000.
    pub ip_rate_per_min: u32,
    /// Largest request body, 1 to 1,024 KiB.
    pub max_body_kb: u32,
    /// Origins whose pages may call the API from a browser; at most 20.
    pub allowed_origins: Vec<String>,
    /// Issuer of the tokens that identify signed-in people; without one there are none.
    pub identity: Option<IdentityProvider>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate_limit_per_min: 6_000,
            ip_rate_per_min: 3_000,
            max_body_kb: 1_024,
            allowed_origins: Vec::new(),
            identity: None,
        }
    }
}

/// Returns the slug of a new project: its name in ASCII, at most 40 characters, and a random suffix of 6.
fn new_slug(ctx: &Context, name: &str) -> String {
    let slug = slugify(name, 40);
    let stem = if slug.is_empty() { "project" } else { &slug };
    format!("{stem}-{}", ctx.random().string(SLUG_SUFFIX_ALPHABET, 6))
}
