//! Resending an invite.

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

/// Replaces the link of an invite by a new one with the same lifetime, and makes the caller its sender. An expired
/// invite becomes pending again.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or
///   the role
/// * [`WorkspaceError::InviteNotFound`] when the workspace has no such invite
/// * [`WorkspaceError::InviteNotPending`] when it was accepted or revoked, or the access it would give has ended
/// * [`WorkspaceError::AlreadyMembers`] when the address belongs to a member
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
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

#[cfg(test)]
mod tests {
    use kernel::{
        authority::Role,
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::{
        invites::{InviteStatus, InvitesRead as _, link::token_digests},
        testing::{
            DAY, FakeTx, acme, admin, as_admin, globex, open_email, owner, peppers, request_at, request_of,
            stranger, vault,
        },
    };

    const EMAIL: &str = "bek@example.com";
    const LINK: InviteDelivery<'_> = InviteDelivery::Link { public_url: "https://q.example" };

    async fn resend(tx: &mut FakeTx, invite: InviteId) -> Result<IssuedInvite, WorkspaceError> {
        let ctx = request_of(admin());
        resend_invite(tx, &ctx, &peppers(), &as_admin(&ctx), invite, &LINK).await
    }

    #[tokio::test]
    async fn an_expired_invite_is_pending_again_with_a_new_link_and_a_new_sender() {
        let mut tx = FakeTx::acme();
        let (invite, old_token) = tx.add_invite(10, EMAIL);
        let ctx = request_at(owner(), at(30 * DAY));
        let issued =
            resend_invite(&mut tx, &ctx, &peppers(), &as_admin(&ctx), invite.id, &LINK).await.unwrap();
        let expected = Invite { invited_by: owner(), expires_at: at(37 * DAY), ..invite };
        assert_eq!(issued.invite, expected);
        assert_eq!(expected.status(at(37 * DAY - 1)), InviteStatus::Pending);

        let new_token = issued.link.expose_secret().strip_prefix("https://q.example/invite/").unwrap();
        let found = async |token: &str| {
            tx.find_invite_by_digest(&token_digests(&peppers(), token).unwrap()).await.unwrap()
        };
        assert_eq!(found(new_token).await, Some(expected.clone()));
        assert_eq!(found(&old_token).await, None);
        let detail = json!({ "email": EMAIL, "by": "link" });
        assert_eq!(tx.audited(), [("invite.resend", expected.id.to_string(), detail)]);
        assert!(!format!("{:?}", tx.work.audit).contains(new_token));
        assert!(tx.work.emails.is_empty());
    }

    #[tokio::test]
    async fn the_new_link_goes_out_by_mail_in_the_language_asked_for() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let (invite, _) = tx.add_invite(10, EMAIL);
        let delivery = InviteDelivery::Email {
            vault: &vault(),
            public_url: "https://q.example",
            inviter: "Aru",
            locale: Some(kernel::Locale::Ru),
        };
        let issued =
            resend_invite(&mut tx, &ctx, &peppers(), &as_admin(&ctx), invite.id, &delivery).await.unwrap();
        let [email] = &tx.work.emails[..] else { panic!("{:?}", tx.work.emails) };
        assert_eq!((email.kind, email.expires_at), ("invite.create", at(7 * DAY)));
        let content = open_email(email);
        assert_eq!(content.to, EMAIL);
        assert!(content.text.contains(issued.link.expose_secret()), "{}", content.text);
        assert!(content.subject.contains("Вас"), "{}", content.subject);
        assert_eq!(tx.audited()[0].2, json!({ "email": EMAIL, "by": "email" }));
    }

    #[tokio::test]
    async fn a_settled_invite_and_one_to_access_that_is_over_are_not_sent_again() {
        let mut tx = FakeTx::acme();
        let (invite, _) = tx.add_invite(10, EMAIL);
        let over: fn(&mut Invite) = |invite| {
            invite.state = InviteState::Pending;
            invite.access_ends_at = Some(at(0));
        };
        let accepted: fn(&mut Invite) =
            |invite| invite.state = InviteState::Accepted { by: stranger(), at: at(0) };
        let revoked: fn(&mut Invite) = |invite| invite.state = InviteState::Revoked { at: at(0) };
        for edit in [accepted, revoked, over] {
            tx.edit_invite(invite.id, edit);
            let refused = resend(&mut tx, invite.id).await;
            assert!(matches!(refused, Err(WorkspaceError::InviteNotPending)), "{refused:?}");
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn somebody_who_has_joined_meanwhile_is_not_invited_again() {
        let mut tx = FakeTx::acme();
        let (invite, _) = tx.add_invite(10, "p5@acme.example");
        tx.while_waiting(|tx| tx.add_member(acme(), stranger(), Role::Viewer));
        let refused = resend(&mut tx, invite.id).await;
        assert!(
            matches!(&refused, Err(WorkspaceError::AlreadyMembers(emails)) if emails == &["p5@acme.example"]),
            "{refused:?}"
        );
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_unknown_invite_is_not_found_and_only_an_admin_sends_one() {
        let mut tx = FakeTx::acme();
        let (foreign, _) = tx.add_invite(10, EMAIL);
        tx.edit_invite(foreign.id, |invite| invite.workspace = globex());
        for unknown in [foreign.id, id(12)] {
            let refused = resend(&mut tx, unknown).await;
            assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        }
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Viewer));
        let refused = resend(&mut tx, foreign.id).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        tx.assert_nothing_recorded();
    }
}
