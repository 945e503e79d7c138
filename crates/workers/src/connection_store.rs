//! The store as requests through connections use it.

use async_trait::async_trait;
use connections::{
    Connection, ConnectionReader, ConnectionTx,
    calls::{CallLog, CallLogEntry},
    connection::SecretPurpose,
};
use kernel::{
    StoreError, Transactions,
    id::{ConnectionId, WorkspaceId},
};

/// Connections and the record of requests. Any store that has the domain's ports has this one.
#[async_trait]
pub trait ConnectionStore: Send + Sync {
    /// See [`ConnectionReader::find_connection`].
    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError>;

    /// See [`ConnectionReader::sealed_secret`].
    async fn sealed_secret(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError>;

    /// Begins a transaction.
    async fn begin_connections(&self) -> Result<Box<dyn ConnectionTx>, StoreError>;

    /// See [`CallLog::add_calls`].
    async fn add_calls(&self, entries: &[CallLogEntry]) -> Result<(), StoreError>;
}

#[async_trait]
impl<T: ConnectionReader + CallLog + Transactions<Tx: ConnectionTx>> ConnectionStore for T {
    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        ConnectionReader::find_connection(self, workspace, connection).await
    }

    async fn sealed_secret(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        ConnectionReader::sealed_secret(self, workspace, connection, purpose).await
    }

    async fn begin_connections(&self) -> Result<Box<dyn ConnectionTx>, StoreError> {
        Ok(Box::new(self.begin().await?))
    }

    async fn add_calls(&self, entries: &[CallLogEntry]) -> Result<(), StoreError> {
        CallLog::add_calls(self, entries).await
    }
}
