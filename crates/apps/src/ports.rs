//! Ports to a store that the use cases need.
//!
//! A row is found by its id and its workspace together, so that a wrong id never reaches another workspace. The
//! exceptions are [`AppsRead::app_fact`], which tells authorisation the workspace, and [`AppsRead::app_by_slug`], which
//! serves public URLs.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::{AppFact, AppRights, Sharing, Visibility},
    id::{AppId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
};

use crate::{
    access::{AppGrant, PreviousAccess},
    apps::App,
    versions::{AppVersion, Rollback, VersionContent},
};

/// Reads that need no transaction.
#[async_trait]
pub trait AppsRead: Send + Sync {
    /// Returns what decides a person's rights on an app.
    async fn app_fact(&self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError>;

    /// Returns the app with this name in its URL.
    async fn app_by_slug(&self, slug: &str) -> Result<Option<App>, StoreError>;

    /// Returns an app of a workspace.
    async fn app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<App>, StoreError>;

    /// Returns those of these apps that the workspace has, in no order.
    async fn apps_by_id(&self, workspace: WorkspaceId, apps: &[AppId]) -> Result<Vec<App>, StoreError>;

    /// Returns the names of the newest apps of a workspace that a person can view.
    async fn app_names(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        limit: u32,
    ) -> Result<Vec<(AppId, String)>, StoreError>;

    /// Lists the apps of a workspace that a person can view, newest first, each with the rights granted to `user`;
    /// up to one more than the limit.
    async fn apps(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<(App, AppRights)>, StoreError>;

    /// Lists an app's versions, newest first; up to one more than the limit.
    async fn versions(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        page: PageRequest,
    ) -> Result<Vec<AppVersion>, StoreError>;

    /// Returns one version with its manifest and files.
    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError>;

    /// Lists an app's latest rollbacks, newest first.
    async fn rollbacks(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        limit: u32,
    ) -> Result<Vec<Rollback>, StoreError>;

    /// Lists the rights granted on an app.
    async fn grants(&self, workspace: WorkspaceId, app: AppId) -> Result<Vec<AppGrant>, StoreError>;
}

/// Writes, and the reads that they depend on.
#[async_trait]
pub trait AppsTx: UnitOfWork {
    /// Adds an app; [`StoreError::Duplicate`] when the slug is taken.
    async fn insert_app(&mut self, app: &App) -> Result<(), StoreError>;

    /// Returns an app that is not deleted, locked until the transaction ends.
    async fn app_for_update(&mut self, workspace: WorkspaceId, app: AppId)
    -> Result<Option<App>, StoreError>;

    /// Updates an app's mutable fields and invalidates cached decisions about it.
    async fn update_app(&mut self, app: &App) -> Result<(), StoreError>;

    /// Deletes an app with its automations; what they still had queued ends as failed. An app that is deleted already
    /// keeps its time of deletion.
    async fn delete_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the number of an app's latest version; 0 when it has none.
    async fn latest_version_number(&mut self, workspace: WorkspaceId, app: AppId) -> Result<u32, StoreError>;

    /// Returns a version of an app with its content.
    async fn version_content(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError>;

    /// Returns true if a version has its files. They stay while the app is locked.
    async fn has_version_files(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError>;

    /// Adds a version; [`StoreError::Duplicate`] when the number is taken, [`StoreError::StorageFull`] when the workspace's plan
    /// has no room for it.
    async fn insert_version(
        &mut self,
        version: &AppVersion,
        content: &VersionContent,
    ) -> Result<(), StoreError>;

    /// Adds a rollback.
    async fn insert_rollback(&mut self, rollback: &Rollback) -> Result<(), StoreError>;

    /// Replaces an app's sharing and every right granted on it, and returns what they were; `None` if there is no such
    /// app.
    async fn replace_access(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        sharing: Sharing,
        grants: &[AppGrant],
    ) -> Result<Option<PreviousAccess>, StoreError>;

    /// Lists the rights granted on an app.
    async fn grants_of_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<AppGrant>, StoreError>;

    /// Deletes the rights granted to a person on the apps of a workspace; returns those apps.
    async fn delete_grants_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<AppId>, StoreError>;

    /// Returns those of `users` who are members of the workspace.
    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError>;
}
