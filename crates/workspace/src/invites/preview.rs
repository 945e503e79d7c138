//! Looking at an invite as whoever holds its link.

use kernel::{Context, token::Peppers};

use super::{Invite, InviteStatus, InvitesRead, link::token_digests};
use crate::WorkspaceError;

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
