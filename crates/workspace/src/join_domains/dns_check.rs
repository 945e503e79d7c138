//! The result of a DNS lookup, and the claim it is about. The lookup itself happens before, outside any transaction.

use super::{JoinDomain, JoinDomainsTx};
use crate::WorkspaceError;

/// The result of a DNS lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DnsCheck {
    /// The record exists.
    Found,
    /// DNS says that the record does not exist.
    Missing,
    /// DNS gave no conclusive answer.
    Unreachable,
}

/// Locks the workspace and returns the current state of the claim that was looked up; `None` when the claim was deleted
/// or replaced since.
pub(super) async fn lock_same_claim(
    tx: &mut dyn JoinDomainsTx,
    looked_up: &JoinDomain,
) -> Result<Option<JoinDomain>, WorkspaceError> {
    tx.lock_members(looked_up.workspace).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let known = tx.join_domain_of(looked_up.workspace).await?;
    Ok(known.filter(|known| known.verification_record == looked_up.verification_record))
}
