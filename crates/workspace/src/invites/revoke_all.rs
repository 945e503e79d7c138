//! Revoking all invites that one person sent.

use kernel::{
    Context, StoreError,
    id::{InviteId, UserId, WorkspaceId},
};

use super::InvitesTx;

/// Revokes the pending invites of a person who has left or can no longer invite people.
///
/// # Errors
/// A failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_invites_of(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    workspace: WorkspaceId,
    inviter: UserId,
) -> Result<(), StoreError> {
    for invite in tx.revoke_invites_of(workspace, inviter, ctx.now).await? {
        audit_inviter_revocation(tx, ctx, workspace, invite);
    }
    Ok(())
}

/// Audits the revocation of an invite whose sender can no longer invite people.
pub(super) fn audit_inviter_revocation(
    tx: &mut dyn InvitesTx,
    ctx: &Context,
    workspace: WorkspaceId,
    invite: InviteId,
) {
    let detail = serde_json::json!({ "because": "inviter" });
    tx.audit(ctx.audit_entry("invite.revoke").workspace(workspace).target(invite).detail(detail));
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::{
        invites::InviteState,
        testing::{FakeTx, acme, admin, globex, owner, request_of, stranger},
    };

    #[tokio::test]
    async fn only_pending_invites_of_that_person_in_that_workspace_are_revoked() {
        let mut tx = FakeTx::acme();
        let [pending, accepted, of_another, foreign] =
            [10, 11, 12, 13].map(|number| tx.add_invite(number, &format!("{number}@example.com")).0.id);
        let done = InviteState::Accepted { by: stranger(), at: at(-1) };
        tx.edit_invite(accepted, |invite| invite.state = done);
        tx.edit_invite(of_another, |invite| invite.invited_by = owner());
        tx.edit_invite(foreign, |invite| invite.workspace = globex());
        for _ in 0..2 {
            revoke_invites_of(&mut tx, &request_of(owner()), acme(), admin()).await.unwrap();
        }
        assert_eq!(tx.invite_state(pending), InviteState::Revoked { at: at(0) });
        assert_eq!(tx.invite_state(accepted), done);
        assert_eq!(tx.invite_state(of_another), InviteState::Pending);
        assert_eq!(tx.invite_state(foreign), InviteState::Pending);
        let expected = ("invite.revoke", pending.to_string(), json!({ "because": "inviter" }));
        assert_eq!(tx.audited(), [expected]);
        assert_eq!(tx.work.audit[0].actor, kernel::Actor::Person(owner()));
    }
}
