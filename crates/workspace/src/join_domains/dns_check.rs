//! What is made of a look at DNS. The look itself happens before, outside any transaction.

use super::{JoinDomain, JoinDomainsTx};
use crate::WorkspaceError;

/// What a look at DNS found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DnsCheck {
    /// The record is there.
    Found,
    /// DNS says that it is not.
    Missing,
    /// DNS did not say.
    Unreachable,
}

/// The claim that was looked up, as it stands now; none when it was given up or is another.
pub(super) async fn lock_same_claim(
    tx: &mut dyn JoinDomainsTx,
    looked_up: &JoinDomain,
) -> Result<Option<JoinDomain>, WorkspaceError> {
    tx.lock_members(looked_up.workspace).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let known = tx.join_domain_of(looked_up.workspace).await?;
    Ok(known.filter(|known| known.verification_record == looked_up.verification_record))
}
