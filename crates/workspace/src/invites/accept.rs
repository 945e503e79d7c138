//! Accepting an invite.

use kernel::{Context, authority::Role, id::UserId, token::Peppers};

use super::{
    Invite, InviteState, InvitesTx,
    link::{check_acceptable, token_digests},
    revoke_all::audit_inviter_revocation,
};
use crate::{
    WorkspaceError,
    members::{Admission, AdmittedMember, JoinChannel, admit},
};

/// What came of following a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptInviteOutcome {
    /// The person is in.
    Joined(AdmittedMember),
    /// Whoever sent the invite may invite nobody any more, so that it is revoked now, which is to be committed.
    Withdrawn,
}

/// Lets the invited person in, once, if whoever sent the invite may still invite.
///
/// # Errors
/// [`WorkspaceError::InviteNotFound`] when the link leads nowhere: unknown, revoked, or another was sent since.
/// [`WorkspaceError::WrongInviteEmail`] when it waits for somebody else, who is not named. The invited person is told when
/// it has expired or was accepted before.
pub async fn accept_invite(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    peppers: &Peppers,
    (user, email): (UserId, &str),
    token: &str,
) -> Result<AcceptInviteOutcome, WorkspaceError> {
    let digests = token_digests(peppers, token)?;
    let found = tx.invite_by_digest(&digests).await?.ok_or(WorkspaceError::InviteNotFound)?;
    tx.lock_members(found.workspace).await?.ok_or(WorkspaceError::InviteNotFound)?;
    // Again, now that nobody else changes it.
    let invite = check_acceptable(tx.invite_by_digest(&digests).await?, ctx, email)?;
    // What ended their right otherwise has revoked the invite; a mere end of access leaves no trace.
    let inviter = tx.membership_of(invite.workspace, invite.invited_by).await?;
    if !inviter
        .is_some_and(|membership| membership.is_active(ctx.now) && membership.role.at_least(Role::Admin))
    {
        let revoked = Invite { state: InviteState::Revoked { at: ctx.now }, ..invite };
        tx.update_invite(&revoked, None).await?;
        audit_inviter_revocation(tx, ctx, revoked.workspace, revoked.id);
        return Ok(AcceptInviteOutcome::Withdrawn);
    }
    let accepted = Invite { state: InviteState::Accepted { by: user, at: ctx.now }, ..invite };
    tx.update_invite(&accepted, None).await?;
    tx.audit(ctx.audit_entry("invite.accept").workspace(accepted.workspace).target(accepted.id));
    let admission = Admission {
        workspace: accepted.workspace,
        user,
        email,
        role: accepted.role.role(),
        access_ends_at: accepted.access_ends_at,
        channel: JoinChannel::Invite,
    };
    admit(tx, ctx, &admission).await.map(AcceptInviteOutcome::Joined)
}
