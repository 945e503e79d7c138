//! The link of an invite, and who may follow it.

use chrono::TimeDelta;
use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Invite, InviteStatus};
use crate::WorkspaceError;

/// The page that a token leads to.
pub(super) fn invite_link(public_url: &str, token: &SecretString) -> SecretString {
    format!("{public_url}/invite/{}", token.expose_secret()).into()
}

pub(super) fn link_lifetime(days: u16) -> TimeDelta {
    TimeDelta::days(days.into())
}

pub(super) fn token_digests(peppers: &Peppers, token: &str) -> Result<Vec<Digest>, WorkspaceError> {
    if token::detect_kind(token) != Some(TokenKind::Invite) {
        return Err(WorkspaceError::InviteNotFound);
    }
    Ok(peppers.candidate_digests(token).collect())
}

pub(super) fn check_acceptable(
    invite: Option<Invite>,
    ctx: &Context,
    email: &str,
) -> Result<Invite, WorkspaceError> {
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
