//! Reading the audit log of a workspace.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AuditId, RequestId, TokenId, UserId, WorkspaceId},
    page::PageRequest,
};

/// An entry of the audit log, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The id of the entry.
    pub id: AuditId,
    /// Time of the request that made the change.
    pub at: Timestamp,
    /// The caller, as [`kernel::Caller`] displays itself.
    pub actor: String,
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

impl AuditRecord {
    /// Returns the person who made the change, and the token they used; `None` for other callers.
    #[must_use]
    pub fn actor_ids(&self) -> Option<(UserId, Option<TokenId>)> {
        match self.actor.split_once(" by ") {
            Some((user, token)) => Some((user.parse().ok()?, token.parse().ok())),
            None => Some((self.actor.parse().ok()?, None)),
        }
    }
}

/// Restricts which entries are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only entries with this action, as `noun.verb`.
    pub action: Option<String>,
    /// Only changes by this person, directly or through a token.
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

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn only_a_person_is_an_actor_with_an_id() {
        let (user, token): (UserId, TokenId) =
            (Id::from_uuid(Uuid::from_u128(1)), Id::from_uuid(Uuid::from_u128(2)));
        let person = |actor: String| {
            AuditRecord {
                id: Id::from_uuid(Uuid::nil()),
                at: Timestamp::UNIX_EPOCH,
                actor,
                action: "a.b".to_owned(),
                target: None,
                request: Id::from_uuid(Uuid::nil()),
                address: None,
                detail: None,
            }
            .actor_ids()
        };
        assert_eq!(person(user.to_string()), Some((user, None)));
        assert_eq!(person(format!("{user} by {token}")), Some((user, Some(token))));
        for other in ["visitor", "system:domain-check", "pkey_x"] {
            assert_eq!(person(other.to_owned()), None);
        }
    }
}
