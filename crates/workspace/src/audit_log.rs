//! Reading the audit log of a workspace.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::{
    Actor, StoreError, Timestamp,
    id::{AppId, AuditId, AutomationId, GrantId, ProjectId, RequestId, UserId, WorkspaceId},
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

/// The object of an audit entry, as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditedObject {
    /// Its own name; the number of a version.
    pub name: Option<String>,
    /// The app that it is or belongs to.
    pub app: Option<NamedObject<AppId>>,
    /// The automation that it is or belongs to.
    pub automation: Option<NamedObject<AutomationId>>,
    /// The backend project that it is or belongs to.
    pub project: Option<NamedObject<ProjectId>>,
}

/// An object that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedObject<I> {
    /// Its id.
    pub id: I,
    /// Its name.
    pub name: String,
    /// True if it was deleted, and waits for the purge.
    pub is_deleted: bool,
}

/// Restricts which entries are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only entries with this action, as `noun.verb`.
    pub action: Option<String>,
    /// Only changes by these actors.
    pub actor: Option<ActorFilter>,
    /// Only changes of this app and of what belongs to it.
    pub app: Option<AppId>,
    /// Only changes of the object with this id.
    pub target: Option<String>,
    /// Only changes at this time or later.
    pub from: Option<Timestamp>,
    /// Only changes before this time.
    pub to: Option<Timestamp>,
}

/// Actors whose changes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorFilter {
    /// A person, directly or through a token or an agent.
    Person(UserId),
    /// All agents.
    Agents,
    /// The agent with this grant.
    Grant(GrantId),
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

    /// Returns the actions of the workspace's entries, each once, in the order of the alphabet.
    async fn audit_actions(&self, workspace: WorkspaceId) -> Result<Vec<String>, StoreError>;

    /// Returns the objects of the workspace that have these ids, by their ids. Those that are gone are left out.
    async fn audited_objects(
        &self,
        workspace: WorkspaceId,
        targets: &[&str],
    ) -> Result<BTreeMap<String, AuditedObject>, StoreError>;
}
