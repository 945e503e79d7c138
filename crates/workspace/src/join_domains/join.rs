//! Coming in by one's domain.

use kernel::{
    Context,
    id::{UserId, WorkspaceId},
};

use super::{Domain, JoinDomain, JoinTx};
use crate::{
    WorkspaceError,
    members::{Admission, AdmittedMember, JoinChannel, admit},
};

/// Lets a person in whose verified address is of the workspace's verified domain: of that very domain, not of one
/// below it.
///
/// # Errors
/// 404 when it is not, when an admin removed the person before, or their access ended; or what the store says.
pub async fn join_by_domain(
    tx: &mut dyn JoinTx,
    ctx: &Context,
    workspace: WorkspaceId,
    (user, email): (UserId, &str),
) -> Result<AdmittedMember, WorkspaceError> {
    tx.lock_members(workspace).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let domain = tx.join_domain_of(workspace).await?.filter(JoinDomain::is_verified);
    let domain = domain.filter(|known| Domain::from_email(email).as_ref() == Some(&known.domain));
    let domain = domain.ok_or(WorkspaceError::WorkspaceNotFound)?;
    admit(tx, ctx, &admission(&domain, user, email, JoinChannel::Domain)).await
}

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
    match admit(tx, ctx, &admission(&found, user, email, JoinChannel::AutoJoin)).await {
        Ok(admitted) => Ok(Some(admitted).filter(|admitted| admitted.is_new)),
        Err(WorkspaceError::WorkspaceNotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn admission<'a>(domain: &JoinDomain, user: UserId, email: &'a str, channel: JoinChannel) -> Admission<'a> {
    Admission {
        workspace: domain.workspace,
        user,
        email,
        role: domain.role.role(),
        access_ends_at: None,
        channel,
    }
}
