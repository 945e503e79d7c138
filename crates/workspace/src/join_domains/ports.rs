//! The store and the DNS resolver that join domains need.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use super::{Domain, JoinDomain, JoinRole};
use crate::invites::InvitesTx;

/// A workspace that a person can join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinSuggestion {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The display name of the workspace.
    pub name: String,
    /// Number of members who have access.
    pub member_count: u64,
    /// The role that the person would get.
    pub role: JoinRole,
}

/// Reads that need no transaction.
#[async_trait]
pub trait JoinDomainsRead: Send + Sync {
    /// Returns the join domain of a workspace.
    async fn join_domain(&self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError>;

    /// Returns the workspace that has verified a domain, unless the person is a member, their access has ended, or they
    /// were removed. A person who left gets the suggestion.
    async fn join_suggestion(
        &self,
        domain: &Domain,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<JoinSuggestion>, StoreError>;

    /// Returns up to `limit` verified domains of all workspaces that are due for a check at `now`, longest due first.
    async fn due_join_domains(&self, now: Timestamp, limit: u32) -> Result<Vec<JoinDomain>, StoreError>;
}

/// Writes within a transaction, and the reads on which they depend. Callers lock the members of the workspace before they
/// write. Joining by a domain also revokes the person's pending invites, hence [`InvitesTx`].
#[async_trait]
pub trait JoinDomainsTx: InvitesTx {
    /// Returns the join domain of a workspace.
    async fn join_domain_of(&mut self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError>;

    /// Returns the verified claim of a domain.
    async fn verified_join_domain(&mut self, domain: &Domain) -> Result<Option<JoinDomain>, StoreError>;

    /// Inserts or replaces the join domain of a workspace; [`StoreError::Duplicate`] when it is verified and another
    /// workspace has verified it too.
    async fn upsert_join_domain(&mut self, domain: &JoinDomain) -> Result<(), StoreError>;

    /// Deletes the join domain of a workspace; false when there was none.
    async fn delete_join_domain(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError>;
}

/// A lookup that got no conclusive answer.
#[derive(Debug, thiserror::Error)]
#[error("DNS gave no conclusive answer")]
pub struct DnsLookupError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Looks up TXT records.
#[async_trait]
pub trait TxtResolver: Send + Sync {
    /// Returns the text of each TXT record of a name, its strings joined (RFC 7208, section 3.3); an empty list when DNS
    /// says that there is none.
    ///
    /// # Errors
    /// [`DnsLookupError`] when DNS gives no conclusive answer.
    async fn lookup_txt(&self, host: &str) -> Result<Vec<String>, DnsLookupError>;
}
