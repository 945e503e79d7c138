//! Following an invite's link.

use kernel::{
    Context,
    authority::Role,
    id::UserId,
    token::{self, Digest, Peppers, TokenKind},
};

use super::{Invite, InviteState, InviteStatus, InvitesRead, InvitesTx};
use crate::{
    WorkspaceError,
    members::{Admission, AdmittedMember, JoinChannel, admit},
};

use super::lifecycle::audit_inviter_revocation;

/// What a link leads to, for a person with this verified address. It changes nothing.
///
/// # Errors
/// As [`accept_invite`].
pub async fn inspect_invite(
    read: &dyn InvitesRead,
    ctx: &Context,
    peppers: &Peppers,
    email: &str,
    token: &str,
) -> Result<Invite, WorkspaceError> {
    let invite = read.find_invite_by_digest(&token_digests(peppers, token)?).await?;
    check_acceptable(invite, ctx, email)
}

/// What a link leads to while it waits, for whoever has it; none for all else. It changes nothing.
///
/// # Errors
/// What the store says.
pub async fn preview_invite(
    read: &dyn InvitesRead,
    ctx: &Context,
    peppers: &Peppers,
    token: &str,
) -> Result<Option<Invite>, WorkspaceError> {
    let Ok(digests) = token_digests(peppers, token) else { return Ok(None) };
    let found = read.find_invite_by_digest(&digests).await?;
    let is_acceptable = |invite: &Invite| {
        invite.status(ctx.now) == InviteStatus::Pending
            && invite.access_ends_at.is_none_or(|end| ctx.now < end)
    };
    Ok(found.filter(is_acceptable))
}

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

fn token_digests(peppers: &Peppers, token: &str) -> Result<Vec<Digest>, WorkspaceError> {
    if token::detect_kind(token) != Some(TokenKind::Invite) {
        return Err(WorkspaceError::InviteNotFound);
    }
    Ok(peppers.candidate_digests(token).collect())
}

fn check_acceptable(invite: Option<Invite>, ctx: &Context, email: &str) -> Result<Invite, WorkspaceError> {
    let invite = invite.ok_or(WorkspaceError::InviteNotFound)?;
    let status = invite.status(ctx.now);
    let access_over = invite.access_ends_at.is_some_and(|end| end <= ctx.now);
    match (status, invite.email == email) {
        (InviteStatus::Pending, true) if access_over => Err(WorkspaceError::InviteExpired),
        (InviteStatus::Pending, true) => Ok(invite),
        (InviteStatus::Pending, false) => Err(WorkspaceError::WrongInviteEmail),
        (InviteStatus::Accepted, true) => Err(WorkspaceError::InviteAccepted),
        (InviteStatus::Expired, true) => Err(WorkspaceError::InviteExpired),
        (InviteStatus::Revoked, _) | (_, false) => Err(WorkspaceError::InviteNotFound),
    }
}
