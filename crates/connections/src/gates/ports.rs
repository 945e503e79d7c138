//! Ports to a store that the use cases on gates need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{GateId, WorkspaceId},
    page::PageRequest,
};

use super::{Gate, GateStatus, GateView};

/// Reads gates.
#[async_trait]
pub trait GateReader: Send + Sync {
    /// Lists the gates of a workspace by id, up to one more than the limit. Refusals are counted from `blocked_since` on.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn list(
        &self,
        workspace: WorkspaceId,
        blocked_since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<GateView>, StoreError>;

    /// Returns a gate of a workspace as [`Self::list`] does.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn view(
        &self,
        workspace: WorkspaceId,
        gate: GateId,
        blocked_since: Timestamp,
    ) -> Result<Option<GateView>, StoreError>;

    /// Returns the workspace of a gate, for authorisation.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError>;

    /// Lists every gate of a workspace by id.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError>;

    /// Lists the open gates of a workspace. Called before every run.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError>;
}

/// Writes gates in a transaction.
#[async_trait]
pub trait GateTx: Send {
    /// Returns a gate of a workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<Option<Gate>, StoreError>;

    /// Adds a gate.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the workspace has a gate to this host; otherwise when the store fails.
    async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError>;

    /// Counts the gates of a workspace, without those of connections. Concurrent transactions that count the same workspace
    /// wait for each other.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn count_gates(&mut self, workspace: WorkspaceId) -> Result<u32, StoreError>;

    /// Deletes a gate.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn delete_gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<(), StoreError>;

    /// Opens or closes a gate.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn set_gate_status(
        &mut self,
        workspace: WorkspaceId,
        gate: GateId,
        status: GateStatus,
    ) -> Result<(), StoreError>;
}

/// Every write of this domain, in one transaction.
pub trait ConnectionsTx: UnitOfWork + GateTx {}

impl<T: UnitOfWork + GateTx + ?Sized> ConnectionsTx for T {}
