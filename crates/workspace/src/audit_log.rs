//! Reading the audit log of a workspace.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AuditId, RequestId, TokenId, UserId, WorkspaceId},
    page::PageRequest,
};

/// A row of the audit log, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The row.
    pub id: AuditId,
    /// When it happened.
    pub at: Timestamp,
    /// Who did it: what [`kernel::Caller`] calls itself.
    pub actor: String,
    /// What was done, as `noun.verb`.
    pub action: String,
    /// What it was done to.
    pub target: Option<String>,
    /// The request that did it.
    pub request: RequestId,
    /// Where the request came from.
    pub address: Option<String>,
    /// What else there is to know.
    pub detail: Option<serde_json::Value>,
}

impl AuditRecord {
    /// The person who did it, and the token they did it with.
    #[must_use]
    pub fn actor_ids(&self) -> Option<(UserId, Option<TokenId>)> {
        match self.actor.split_once(" by ") {
            Some((user, token)) => Some((user.parse().ok()?, token.parse().ok())),
            None => Some((self.actor.parse().ok()?, None)),
        }
    }
}

/// Which rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only this action, as `noun.verb`.
    pub action: Option<String>,
    /// Only what this person did, with tokens too.
    pub actor: Option<UserId>,
}

/// Reads the audit log.
#[async_trait]
pub trait AuditRead: Send + Sync {
    /// A workspace's rows, newest first, one more than the page holds.
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
    fn a_person_is_told_from_what_else_acts() {
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
