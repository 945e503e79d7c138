//! Inviting people.

use std::collections::BTreeSet;

use kernel::{
    Context, Timestamp,
    authority::Admin,
    token::{self, Peppers, TokenKind},
};
use secrecy::ExposeSecret as _;

use super::{
    DEFAULT_DAYS, Invite, InviteRole, InviteState, InvitesTx, Issued, MAX_EMAILS, MAX_PENDING, Post,
    lifetime, link,
};
use crate::{
    WorkspaceError,
    members::{MembersTx, acting_admin},
};

/// Whom to invite, as what.
#[derive(Debug, Clone)]
pub struct CreateInvites {
    /// Their addresses in lower case. One that stands there twice is invited once.
    pub emails: Vec<String>,
    /// As what.
    pub role: InviteRole,
    /// For how many days a link is good, 1 to 30; 7 when not said.
    pub expires_in_days: Option<u16>,
    /// When the access that they get ends.
    pub access_ends_at: Option<Timestamp>,
}

/// Invites people, all or nobody. An address that is invited already gets a new invite in place of the old one, whose
/// link then leads nowhere.
///
/// # Errors
/// When a field is out of bounds, somebody is a member already, too many invites wait, or what the store says.
pub async fn create_invites<T: MembersTx + InvitesTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    admin: &Admin,
    input: CreateInvites,
    post: &Post<'_>,
) -> Result<Vec<Issued>, WorkspaceError> {
    let invalid = |field, what| Err(WorkspaceError::InvalidField { field, what });
    if !(1..=MAX_EMAILS).contains(&input.emails.len()) {
        return invalid("emails", "must hold 1 to 20 addresses");
    }
    let days = input.expires_in_days.unwrap_or(DEFAULT_DAYS);
    if !(1..=30).contains(&days) {
        return invalid("expiresInDays", "must be from 1 to 30");
    }
    if input.access_ends_at.is_some_and(|end| end <= ctx.now) {
        return invalid("accessEndsAt", "must be in the future");
    }
    let mut seen = BTreeSet::new();
    let emails: Vec<String> = input.emails.into_iter().filter(|email| seen.insert(email.clone())).collect();

    let (home, actor) = acting_admin(tx, ctx, admin).await?;
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
            id: ctx.id(),
            workspace,
            email,
            role: input.role,
            invited_by: actor.user,
            created_at: ctx.now,
            days,
            expires_at: ctx.now + lifetime(days),
            access_ends_at: input.access_ends_at,
            state: InviteState::Pending,
        };
        let token = token::mint(TokenKind::Invite, ctx.random());
        tx.insert_invite(&invite, &peppers.digest(token.expose_secret())).await?;
        let detail = serde_json::json!({
            "email": invite.email, "role": invite.role, "replaces": replaces, "by": post.as_str(),
        });
        tx.audit(ctx.audit("invite.create").workspace(workspace).target(invite.id).detail(detail));
        let issue = Issued { link: link(post.public_url(), &token), invite };
        post.send(tx, ctx, &home, &issue);
        issued.push(issue);
    }
    Ok(issued)
}
