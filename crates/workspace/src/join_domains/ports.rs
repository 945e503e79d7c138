//! What join domains need from a store, and from DNS.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{UserId, WorkspaceId},
};

use super::{Domain, JoinDomain, JoinRole};
use crate::{invites::InvitesTx, members::MembersTx};

/// A workspace that a person can join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinSuggestion {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Its name.
    pub name: String,
    /// How many members have access.
    pub member_count: u64,
    /// As what the person would come in.
    pub role: JoinRole,
}

/// Reads that need no transaction.
#[async_trait]
pub trait JoinDomainsRead: Send + Sync {
    /// A workspace's domain.
    async fn join_domain(&self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError>;

    /// The workspace that has proved a domain, unless the person is or was in it: whoever left asks for it by name,
    /// whoever was removed waits for an invite.
    async fn join_suggestion(
        &self,
        domain: &Domain,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<JoinSuggestion>, StoreError>;

    /// Verified domains of any workspace that are due for another look, the longest due first.
    async fn due_join_domains(&self, now: Timestamp, limit: u32) -> Result<Vec<JoinDomain>, StoreError>;
}

/// Writes, and the reads they decide by. Whoever writes has locked the workspace's members.
#[async_trait]
pub trait JoinDomainsTx: MembersTx {
    /// A workspace's domain.
    async fn join_domain_of(&mut self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError>;

    /// The workspace that has proved a domain.
    async fn verified_join_domain(&mut self, domain: &Domain) -> Result<Option<JoinDomain>, StoreError>;

    /// Writes a workspace's domain in place of the one before; [`StoreError::Duplicate`] when it is verified and
    /// another workspace's is too.
    async fn upsert_join_domain(&mut self, domain: &JoinDomain) -> Result<(), StoreError>;

    /// Takes a workspace's domain away; whether there was one.
    async fn delete_join_domain(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError>;
}

/// Joining by a domain: it also revokes the invites that are pending for the person's address.
pub trait JoinTx: InvitesTx + JoinDomainsTx {}

impl<T: InvitesTx + JoinDomainsTx + ?Sized> JoinTx for T {}

/// DNS could not be asked, or gave no answer that counts.
#[derive(Debug, thiserror::Error)]
#[error("DNS cannot be asked now")]
pub struct DnsLookupError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Looks up TXT records.
#[async_trait]
pub trait TxtResolver: Send + Sync {
    /// The texts of a name's TXT records, each with its pieces joined (RFC 7208 §3.3); none when DNS says for certain
    /// that there are none.
    ///
    /// # Errors
    /// When DNS does not say.
    async fn lookup_txt(&self, host: &str) -> Result<Vec<String>, DnsLookupError>;
}
