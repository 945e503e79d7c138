//! Creating invites.

use std::collections::BTreeSet;

use kernel::{
    Context, Timestamp,
    authority::Admin,
    token::{self, Peppers, TokenKind},
};
use secrecy::ExposeSecret as _;

use super::{
    DEFAULT_LIFETIME_DAYS, Invite, InviteDelivery, InviteRole, InviteState, InvitesTx, IssuedInvite,
    MAX_EMAILS, MAX_PENDING,
    link::{invite_link, link_lifetime},
};
use crate::{InvalidInput, WorkspaceError, members::lock_as_admin};

/// The addresses to invite, and their role.
#[derive(Debug, Clone)]
pub struct CreateInvites {
    /// The normalized addresses, 1 to [`MAX_EMAILS`]. Duplicates are ignored.
    pub emails: Vec<String>,
    /// The role that the people get.
    pub role: InviteRole,
    /// Lifetime of the links, in days, 1 to 30; [`DEFAULT_LIFETIME_DAYS`] by default.
    pub expires_in_days: Option<u16>,
    /// Time at which the access that they get ends; `None` for no end.
    pub access_ends_at: Option<Timestamp>,
}

/// Invites all addresses or none. A pending invite for one of them is revoked and replaced.
///
/// # Errors
/// * [`WorkspaceError::InvalidInput`] when a field is out of bounds
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or
///   the role
/// * [`WorkspaceError::AlreadyMembers`] when one of the addresses belongs to a member
/// * [`WorkspaceError::TooManyInvites`] when more than [`MAX_PENDING`] would be pending
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_invites(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    peppers: &Peppers,
    admin: &Admin,
    input: CreateInvites,
    delivery: &InviteDelivery<'_>,
) -> Result<Vec<IssuedInvite>, WorkspaceError> {
    if !(1..=MAX_EMAILS).contains(&input.emails.len()) {
        return Err(InvalidInput::EmailCount.into());
    }
    let days = input.expires_in_days.unwrap_or(DEFAULT_LIFETIME_DAYS);
    if !(1..=30).contains(&days) {
        return Err(InvalidInput::LinkLifetime.into());
    }
    if input.access_ends_at.is_some_and(|end| end <= ctx.now) {
        return Err(InvalidInput::AccessEnd.into());
    }
    let mut seen = BTreeSet::new();
    let emails: Vec<String> = input.emails.into_iter().filter(|email| seen.insert(email.clone())).collect();

    let (workspace_info, actor) = lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let members = tx.members_among(workspace, &emails, ctx.now).await?;
    if !members.is_empty() {
        return Err(WorkspaceError::AlreadyMembers(members));
    }
    let mut replaced = Vec::with_capacity(emails.len());
    for email in &emails {
        replaced.push(tx.revoke_pending(workspace, email, ctx.now).await? > 0);
    }
    if tx.count_pending(workspace, ctx.now).await? + emails.len() as u64 > MAX_PENDING {
        return Err(WorkspaceError::TooManyInvites);
    }
    let mut issued = Vec::with_capacity(emails.len());
    for (email, replaces) in emails.into_iter().zip(replaced) {
        let invite = Invite {
            id: ctx.new_id(),
            workspace,
            email,
            role: input.role,
            invited_by: actor.user,
            created_at: ctx.now,
            lifetime_days: days,
            expires_at: ctx.now + link_lifetime(days),
            access_ends_at: input.access_ends_at,
            state: InviteState::Pending,
        };
        let token = token::mint(TokenKind::Invite, ctx.random());
        tx.insert_invite(&invite, &peppers.digest(token.expose_secret())).await?;
        let detail = serde_json::json!({
            "email": invite.email, "role": invite.role, "replaces": replaces, "by": delivery.as_str(),
        });
        tx.audit(ctx.audit_entry("invite.create").workspace(workspace).target(invite.id).detail(detail));
        let issue = IssuedInvite { link: invite_link(delivery.public_url(), &token), invite };
        delivery.enqueue(tx, ctx, &workspace_info, &issue);
        issued.push(issue);
    }
    Ok(issued)
}

#[cfg(test)]
mod tests;
