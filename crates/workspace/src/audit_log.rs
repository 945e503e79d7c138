//! Reading the audit log of a workspace.

use async_trait::async_trait;
use kernel::{
    Actor, StoreError, Timestamp,
    id::{AuditId, RequestId, UserId, WorkspaceId},
    page::PageRequest,
};

/// An entry of the audit log, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The id of the entry.
    pub id: AuditId,
    /// Time of the request that made the change.
    pub at: Timestamp,
    /// Author of the change.
    pub actor: Actor,
    /// The change, as `noun.verb`.
    pub action: String,
    /// Id of the changed object.
    pub target: Option<String>,
    /// The request that made the change.
    pub request: RequestId,
    /// IP address of the client.
    pub address: Option<String>,
    /// Details of the change; never a secret.
    pub detail: Option<serde_json::Value>,
}

/// Restricts which entries are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only entries with this action, as `noun.verb`.
    pub action: Option<String>,
    /// Only changes by this person, directly or through a token or an agent.
    pub actor: Option<UserId>,
}

/// Reads the audit log.
#[async_trait]
pub trait AuditRead: Send + Sync {
    /// Returns entries of a workspace, newest first: up to `page.limit + 1`, so that the caller sees whether more follow.
    async fn audit_records(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Vec<AuditRecord>, StoreError>;
}
