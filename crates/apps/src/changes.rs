//! Planned changes of an app: a person reviews a plan before anything is built (specification part B, "ChangePlan").

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

/// Time from planning until a plan expires.
pub const LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Most unexpired plans of one person in one workspace.
pub const MAX_OPEN: u64 = 50;

/// The content of a planned change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePlan {
    /// Version that the plan starts from.
    pub base: VersionId,
    /// Request that led to the plan, in one sentence.
    pub instruction: String,
    /// Effect of the change, in one sentence.
    pub summary: String,
    /// Manifest of the base version.
    pub before: Manifest,
    /// Manifest after the change.
    pub manifest: Manifest,
    /// Steps that follow approval, in order.
    pub steps: Vec<String>,
    /// Facts to know before approving.
    pub notes: Vec<String>,
    /// Steps that only an admin can take, in the console.
    pub needs_console: Vec<String>,
}

/// A planned change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Id of the change.
    pub id: ChangeId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App to change.
    pub app: AppId,
    /// Person who planned it; nobody else sees it.
    pub owner: UserId,
    /// Run whose failure suggested it.
    pub run: Option<RunId>,
    /// Content of the change.
    pub plan: ChangePlan,
    /// Time of planning.
    pub created_at: Timestamp,
    /// Time from which on it is expired; [`LIFETIME`] after planning.
    pub expires_at: Timestamp,
}

/// The state of a planned change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeState {
    /// The plan waits for its owner.
    Planned,
    /// The change is being built.
    Building,
    /// The change is a version of the app.
    Live,
    /// The build failed.
    Failed,
    /// The owner did not approve the plan in time.
    Expired,
}

impl Change {
    /// Returns the state at `now`: planned, or expired.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ChangeState {
        if self.expires_at <= now { ChangeState::Expired } else { ChangeState::Planned }
    }
}

/// Reads planned changes.
#[async_trait]
pub trait ChangesRead: Send + Sync {
    /// Returns the workspace and the app of a change, for authorisation.
    async fn change_scope(&self, id: ChangeId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// Returns a change that this person planned in this workspace.
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
    /// Counts the changes that a person planned in a workspace and that have not expired at `now`.
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a change.
    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError>;
}
