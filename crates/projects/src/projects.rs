//! Backend projects (specification part B, "Project").

mod change_settings;
mod create;
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

/// A backend project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The project's id.
    pub id: ProjectId,
    /// The workspace it is of.
    pub workspace: WorkspaceId,
    /// Its name, 2 to 60 characters.
    pub name: String,
    /// Its name in addresses.
    pub slug: String,
    /// What it is for, at most 280 characters.
    pub description: String,
    /// Which store its rows are in.
    pub shard: u16,
    /// What its data API allows.
    pub settings: Settings,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A project with what the control plane counts about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSummary {
    /// The project.
    pub project: Project,
    /// How many live keys it has.
    pub key_count: u64,
}

/// What a project's data API allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Requests a minute with one key, 10 to 100,000.
    pub rate_limit_per_min: u32,
    /// Requests a minute from one address, 10 to 100,000.
    pub ip_rate_per_min: u32,
    /// The most a body may have, 1 to 1,024 KiB.
    pub max_body_kb: u32,
    /// Which sites' browsers may call, at most 20.
    pub allowed_origins: Vec<String>,
    /// Whose tokens tell signed-in people.
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
