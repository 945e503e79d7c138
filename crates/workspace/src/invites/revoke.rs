//! Revoking an invite.

use kernel::{Context, authority::Admin, id::InviteId};

use super::{Invite, InviteState, InvitesTx};
use crate::{WorkspaceError, members::lock_as_admin};

/// Revokes an invite, so that its link no longer works. Revoking it again changes nothing.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or
///   the role
/// * [`WorkspaceError::InviteNotFound`] when the workspace has no such invite
/// * [`WorkspaceError::InviteAccepted`] when it was accepted
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_invite(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    admin: &Admin,
    invite: InviteId,
) -> Result<(), WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let found = tx.invite(admin.workspace(), invite).await?.ok_or(WorkspaceError::InviteNotFound)?;
    match found.state {
        InviteState::Revoked { .. } => return Ok(()),
        InviteState::Accepted { .. } => return Err(WorkspaceError::InviteAccepted),
        InviteState::Pending => {}
    }
    let revoked = Invite { state: InviteState::Revoked { at: ctx.now }, ..found };
    tx.update_invite(&revoked, None).await?;
    let detail = serde_json::json!({ "email": revoked.email });
    tx.audit(ctx.audit_entry("invite.revoke").workspace(revoked.workspace).target(invite).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{
        authority::Role,
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, admin, as_admin, globex, request_at, request_of, stranger};

    #[tokio::test]
    async fn revoking_twice_keeps_the_first_time_and_is_audited_once() {
        let mut tx = FakeTx::acme();
        let (invite, _) = tx.add_invite(10, "bek@example.com");
        for now in [at(1), at(2)] {
            let ctx = request_at(admin(), now);
            revoke_invite(&mut tx, &ctx, &as_admin(&ctx), invite.id).await.unwrap();
        }
        assert_eq!(tx.invite_state(invite.id), InviteState::Revoked { at: at(1) });
        let expected = ("invite.revoke", invite.id.to_string(), json!({ "email": "bek@example.com" }));
        assert_eq!(tx.audited(), [expected]);
    }

    #[tokio::test]
    async fn an_accepted_and_an_unknown_invite_are_not_revoked() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let (invite, _) = tx.add_invite(10, "bek@example.com");
        let accepted = InviteState::Accepted { by: stranger(), at: at(0) };
        tx.edit_invite(invite.id, |invite| invite.state = accepted);
        let refused = revoke_invite(&mut tx, &ctx, &as_admin(&ctx), invite.id).await;
        assert!(matches!(refused, Err(WorkspaceError::InviteAccepted)), "{refused:?}");
        assert_eq!(tx.invite_state(invite.id), accepted);

        let (foreign, _) = tx.add_invite(11, "aru@example.com");
        tx.edit_invite(foreign.id, |invite| invite.workspace = globex());
        for unknown in [foreign.id, id(12)] {
            let refused = revoke_invite(&mut tx, &ctx, &as_admin(&ctx), unknown).await;
            assert!(matches!(refused, Err(WorkspaceError::InviteNotFound)), "{refused:?}");
        }
        assert_eq!(tx.invite_state(foreign.id), InviteState::Pending);
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_admin_who_was_demoted_meanwhile_revokes_nothing() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let (invite, _) = tx.add_invite(10, "bek@example.com");
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = revoke_invite(&mut tx, &ctx, &as_admin(&ctx), invite.id).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        assert_eq!(tx.invite_state(invite.id), InviteState::Pending);
    }
}
