//! What this domain needs from a store. A workspace's thing is never found by its id alone, save by
//! [`AppsRead::app_fact`], which answers "which workspace is this in" for authorisation.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::{AppFact, AppRights, Sharing, Visibility},
    id::{AppId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
};

use crate::{
    access::AppGrant,
    apps::App,
    versions::{AppVersion, VersionContent},
};

/// Reads that need no transaction.
#[async_trait]
pub trait AppsRead: Send + Sync {
    /// What decides a person's rights on an app.
    async fn app_fact(&self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError>;

    /// The app a name in an address stands for.
    async fn app_by_slug(&self, slug: &str) -> Result<Option<App>, StoreError>;

    /// An app.
    async fn app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<App>, StoreError>;

    /// The apps of a workspace that a person can view, newest first, each with what was granted to `user`; up
    /// to one more than the limit.
    async fn apps(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<(App, AppRights)>, StoreError>;

    /// An app's versions, newest first; up to one more than the limit.
    async fn versions(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        page: PageRequest,
    ) -> Result<Vec<AppVersion>, StoreError>;

    /// One version with its manifest and files.
    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError>;

    /// Who was granted what on an app.
    async fn grants(&self, workspace: WorkspaceId, app: AppId) -> Result<Vec<AppGrant>, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait AppsTx: UnitOfWork {
    /// Adds an app; [`StoreError::Duplicate`] when the slug is taken.
    async fn insert_app(&mut self, app: &App) -> Result<(), StoreError>;

    /// An app, locked until the transaction ends.
    async fn app_for_update(&mut self, workspace: WorkspaceId, app: AppId)
    -> Result<Option<App>, StoreError>;

    /// Writes an app's changeable fields, and makes cached decisions about it stale.
    async fn update_app(&mut self, app: &App) -> Result<(), StoreError>;

    /// Takes an app away, with its automations; what they still had queued ends as failed.
    async fn delete_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The number of an app's latest version; 0 when it has none.
    async fn latest_version_number(&mut self, workspace: WorkspaceId, app: AppId) -> Result<u32, StoreError>;

    /// Adds a version; [`StoreError::Duplicate`] when the number is taken.
    async fn insert_version(
        &mut self,
        version: &AppVersion,
        content: &VersionContent,
    ) -> Result<(), StoreError>;

    /// Replaces how far an app is shared and who was granted what.
    async fn replace_access(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        sharing: Sharing,
        grants: &[AppGrant],
    ) -> Result<(), StoreError>;

    /// Takes back what was granted to a person on the apps of a workspace; which apps these were.
    async fn delete_grants_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<AppId>, StoreError>;

    /// Which of these people are members of the workspace.
    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError>;
}
