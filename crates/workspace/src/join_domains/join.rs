//! Joining by one's domain.

use kernel::{
    Context,
    id::{UserId, WorkspaceId},
};

use super::{Domain, JoinDomain, JoinTx};
use crate::{
    WorkspaceError,
    members::{AdmittedMember, JoinChannel, admit},
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
    admit(tx, ctx, &domain.admission(user, email, JoinChannel::Domain)).await
}
