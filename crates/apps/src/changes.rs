//! Planned changes of an app: what would change, shown to a person before anything is built (specification part B,
//! "ChangePlan").

mod plan_egress;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{AppId, ChangeId, RunId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::Manifest;

pub use plan_egress::{AppBaseline, RefusedHost, plan_egress};

/// How long a plan may be approved.
pub const LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How many plans of one person are open at once.
pub const MAX_OPEN: u64 = 50;

/// What is to be changed, and from what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePlan {
    /// The version it starts from.
    pub base: VersionId,
    /// What was asked for.
    pub instruction: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// The manifest as it was.
    pub before: Manifest,
    /// The manifest as it is to be.
    pub manifest: Manifest,
    /// What happens when it is approved.
    pub steps: Vec<String>,
    /// What to know before.
    pub notes: Vec<String>,
    /// What only an admin in the console can do for it.
    pub needs_console: Vec<String>,
}

/// A planned change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The change.
    pub id: ChangeId,
    /// The workspace it is in.
    pub workspace: WorkspaceId,
    /// The app it changes.
    pub app: AppId,
    /// Who planned it; nobody else sees it.
    pub owner: UserId,
    /// The run that suggested it.
    pub run: Option<RunId>,
    /// What is to be changed.
    pub plan: ChangePlan,
    /// When it was planned.
    pub created_at: Timestamp,
    /// Until when it may be approved.
    pub expires_at: Timestamp,
}

/// How a change stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChangeState {
    /// It waits for its owner.
    Planned,
    /// It is being built.
    Building,
    /// It is a version.
    Live,
    /// It could not be built.
    Failed,
    /// Its owner did not approve it in time.
    Expired,
}

impl Change {
    /// How it stands.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ChangeState {
        if self.expires_at <= now { ChangeState::Expired } else { ChangeState::Planned }
    }
}

/// Reads planned changes.
#[async_trait]
pub trait ChangesRead: Send + Sync {
    /// In which workspace and of which app a change is; for authorisation.
    async fn change_scope(&self, id: ChangeId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// A change that this person planned.
    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError>;
}

/// Writes planned changes.
#[async_trait]
pub trait ChangesTx: UnitOfWork {
    /// How many changes a person has planned that have not expired.
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a change.
    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError>;
}
