//! Drafts: code that a person tries before it is a version. Each person has at most one of an app, which nobody else sees.

mod delete;
mod save;

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, UserId, VersionId, WorkspaceId},
};

use crate::AppsTx;

pub use delete::delete_draft;
pub use save::{SaveDraft, save_draft};

/// Time for which a draft is kept after it was saved last.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);

/// A person's draft of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App.
    pub app: AppId,
    /// Person whose draft it is.
    pub owner: UserId,
    /// Version that the draft was begun from; none if the app had no version.
    pub base: Option<VersionId>,
    /// Source text by path.
    pub files: BTreeMap<String, String>,
    /// Time of the last change.
    pub saved_at: Timestamp,
    /// Time from which on it is gone; [`LIFETIME`] after it was saved.
    pub expires_at: Timestamp,
}

/// Reads of drafts.
#[async_trait]
pub trait DraftsRead: Send + Sync {
    /// Returns a person's draft of an app, unless it has expired.
    async fn draft(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<Option<Draft>, StoreError>;
}

/// Writes of drafts.
#[async_trait]
pub trait DraftsTx: AppsTx {
    /// Returns a person's draft of an app, locked until the transaction ends; also one that has expired.
    async fn draft_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
    ) -> Result<Option<Draft>, StoreError>;

    /// Adds a draft, or replaces the one of its app and owner; [`StoreError::StorageFull`] when the workspace's plan has no room
    /// for it.
    async fn save_draft(&mut self, draft: &Draft) -> Result<(), StoreError>;

    /// Deletes a person's draft of an app; returns false if there is none.
    async fn delete_draft(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
    ) -> Result<bool, StoreError>;
}
