//! What the use cases on connections need of a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{ConnectionId, WorkspaceId},
    page::PageRequest,
};

use crate::{
    connection::{Connection, ConnectionStatus, ConnectionUser, ConnectionView, SecretPurpose},
    gates::GateStatus,
    last_check::LastCheck,
};

/// Reads connections.
#[async_trait]
pub trait ConnectionReader: Send + Sync {
    /// Lists the connections of a workspace by id, disconnected ones included, up to one more than the limit. Calls are
    /// counted from `since` on.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn list_connections(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<ConnectionView>, StoreError>;

    /// Returns a connection of a workspace as [`Self::list_connections`] does.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn view_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        since: Timestamp,
    ) -> Result<Option<ConnectionView>, StoreError>;

    /// Returns a connection of a workspace, for a request through it.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError>;

    /// Returns the workspace of a connection, for authorization.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn connection_scope(&self, connection: ConnectionId) -> Result<Option<WorkspaceId>, StoreError>;

    /// Returns the sealed text of a connection; none if it has none for this purpose.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn sealed_secret(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError>;
}

/// Writes connections in a transaction.
#[async_trait]
pub trait ConnectionTx: UnitOfWork {
    /// Returns a connection of a workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn connection_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError>;

    /// Counts the connections of a workspace, disconnected ones included. Concurrent transactions that count the same
    /// workspace wait for each other.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn count_connections(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Adds a connection, with its gate.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn insert_connection(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Replaces everything about a connection except its id, workspace, connector and time of creation.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn update_connection(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Stores a sealed text in place of the one before. Tokens need no audit entry: nobody asked for their renewal.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn put_sealed_secret(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
        sealed: &str,
    ) -> Result<(), StoreError>;

    /// Returns the sealed text of a connection that is locked; none if it has none for this purpose.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn sealed_secret_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError>;

    /// Deletes the sealed texts of a connection for these purposes.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn delete_sealed_secrets(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purposes: &[SecretPurpose],
    ) -> Result<(), StoreError>;

    /// Sets the status only; revision and time of change stay. A write of this kind needs no audit entry: rejections are
    /// counted with it.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn set_connection_status(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: ConnectionStatus,
    ) -> Result<(), StoreError>;

    /// Reserves the renewal of a connection's token until `until`. Returns false if it is reserved: another node renews
    /// the token. The end of the reservation is a time, so that the end of a node delays a renewal and prevents none.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn reserve_renewal(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Keeps the last test of a connection. A test is no change of it: revision and time of change stay, and no audit
    /// entry is needed.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn set_last_check(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        check: &LastCheck,
    ) -> Result<(), StoreError>;

    /// Ends the reservation of a renewal.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn release_renewal(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<(), StoreError>;

    /// Opens or closes the gate of a connection.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn set_connection_gate(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: GateStatus,
    ) -> Result<(), StoreError>;

    /// Lists the apps whose current version names the connection, by id.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn connection_users(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Vec<ConnectionUser>, StoreError>;
}
