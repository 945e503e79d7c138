//! Ports of the use cases on secrets of apps.

use async_trait::async_trait;
use kernel::{
    StoreError, UnitOfWork,
    id::{AppId, WorkspaceId},
};

use super::{AppSecret, AppSecretName, AppSecretView, SealedAppSecret};

/// Reads secrets of apps.
#[async_trait]
pub trait AppSecretReader: Send + Sync {
    /// Lists the secrets of an app by name. An app has at most [`MAX_APP_SECRETS`](super::MAX_APP_SECRETS).
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn list_app_secrets(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<AppSecretView>, StoreError>;

    /// Returns the secrets of an app that its code may have in clear, with their sealed values.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn clear_app_secrets(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<SealedAppSecret>, StoreError>;

    /// Returns a secret of an app with its sealed value.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn find_app_secret(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<Option<SealedAppSecret>, StoreError>;
}

/// Writes secrets of apps in a transaction.
#[async_trait]
pub trait AppSecretTx: UnitOfWork {
    /// Returns the secrets of an app; none if the app was deleted. Concurrent transactions that ask for the same app wait
    /// for each other.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn app_secrets_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<Vec<AppSecret>>, StoreError>;

    /// Stores a secret in place of the one of the same name.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn put_app_secret(&mut self, secret: &SealedAppSecret) -> Result<(), StoreError>;

    /// Deletes a secret.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn delete_app_secret(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<(), StoreError>;
}
