//! Joining by one's domain on sign-in.

use kernel::{Context, id::UserId};

use super::{Domain, JoinDomain, JoinTx};
use crate::{
    WorkspaceError,
    members::{AdmittedMember, JoinChannel, admit},
};

/// Lets a person in who has just signed in with a verified address, where their domain's workspace wants that.
/// Whoever left or was removed is not brought back by it.
///
/// Whoever opens a session calls this in the same transaction.
///
/// # Errors
/// What the store says.
pub async fn auto_join(
    tx: &mut dyn JoinTx,
    ctx: &Context,
    user: UserId,
    email: &str,
) -> Result<Option<AdmittedMember>, WorkspaceError> {
    let Some(domain) = Domain::from_email(email) else { return Ok(None) };
    let allows_auto_join =
        |known: &JoinDomain| known.is_verified() && known.auto_join && known.domain == domain;
    let Some(found) = tx.verified_join_domain(&domain).await?.filter(allows_auto_join) else {
        return Ok(None);
    };
    tx.lock_members(found.workspace).await?;
    // Again, now that nobody else changes it.
    let Some(found) = tx.join_domain_of(found.workspace).await?.filter(allows_auto_join) else {
        return Ok(None);
    };
    match admit(tx, ctx, &found.admission(user, email, JoinChannel::AutoJoin)).await {
        Ok(admitted) => Ok(Some(admitted).filter(|admitted| admitted.is_new)),
        Err(WorkspaceError::WorkspaceNotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
