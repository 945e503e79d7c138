//! What the use cases on gates need from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{GateId, WorkspaceId},
};

use super::{Gate, GateStatus, GateView};

/// Reads gates.
#[async_trait]
pub trait GateReader: Send + Sync {
    /// The gates of a workspace, by id; refusals are counted since `blocked_since`.
    ///
    /// # Errors
    /// What the store says.
    async fn list(
        &self,
        workspace: WorkspaceId,
        blocked_since: Timestamp,
    ) -> Result<Vec<GateView>, StoreError>;

    /// In which workspace a gate is; for authorisation.
    ///
    /// # Errors
    /// What the store says.
    async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError>;

    /// The open gates of a workspace; asked before every run.
    ///
    /// # Errors
    /// What the store says.
    async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError>;
}

/// Writes gates, inside a transaction.
#[async_trait]
pub trait GateTx: Send {
    /// One gate of a workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// What the store says.
    async fn gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<Option<Gate>, StoreError>;

    /// Adds a gate.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the workspace has a gate to this host; else what the store says.
    async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError>;

    /// Opens or closes a gate.
    ///
    /// # Errors
    /// What the store says.
    async fn set_gate_status(
        &mut self,
        workspace: WorkspaceId,
        gate: GateId,
        status: GateStatus,
    ) -> Result<(), StoreError>;
}

/// Everything this domain writes, in one transaction.
pub trait ConnectionsTx: UnitOfWork + GateTx {}

impl<T: UnitOfWork + GateTx + ?Sized> ConnectionsTx for T {}
