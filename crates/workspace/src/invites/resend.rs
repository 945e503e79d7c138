//! Sending an invite again.

use kernel::{
    Context,
    authority::Admin,
    id::InviteId,
    token::{self, Peppers, TokenKind},
};
use secrecy::ExposeSecret as _;

use super::{
    Invite, InviteDelivery, InviteState, InvitesTx, IssuedInvite,
    link::{invite_link, link_lifetime},
};
use crate::{WorkspaceError, members::lock_as_admin};

/// Gives an invite a fresh link, good for as many days as the first one was; the link before leads nowhere from now
/// on. One that has expired waits again.
///
/// # Errors
/// When there is no such invite, it is settled, its person is a member already, or what the store says.
pub async fn resend_invite(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    peppers: &Peppers,
    admin: &Admin,
    invite: InviteId,
    delivery: &InviteDelivery<'_>,
) -> Result<IssuedInvite, WorkspaceError> {
    let (workspace_info, actor) = lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let found = tx.invite(workspace, invite).await?.ok_or(WorkspaceError::InviteNotFound)?;
    if found.state != InviteState::Pending {
        return Err(WorkspaceError::InviteNotPending);
    }
    if found.access_ends_at.is_some_and(|end| end <= ctx.now) {
        return Err(WorkspaceError::InviteNotPending);
    }
    let members = tx.members_among(workspace, std::slice::from_ref(&found.email), ctx.now).await?;
    if !members.is_empty() {
        return Err(WorkspaceError::AlreadyMembers(members));
    }
    let token = token::mint(TokenKind::Invite, ctx.random());
    let invite =
        Invite { invited_by: actor.user, expires_at: ctx.now + link_lifetime(found.lifetime_days), ..found };
    tx.update_invite(&invite, Some(&peppers.digest(token.expose_secret()))).await?;
    let detail = serde_json::json!({ "email": invite.email, "by": delivery.as_str() });
    tx.audit(ctx.audit_entry("invite.resend").workspace(workspace).target(invite.id).detail(detail));
    let issued = IssuedInvite { link: invite_link(delivery.public_url(), &token), invite };
    delivery.enqueue(tx, ctx, &workspace_info, &issued);
    Ok(issued)
}
