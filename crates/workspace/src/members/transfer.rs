//! Transferring the ownership of a workspace.

use kernel::{
    Context,
    authority::{Owner, Role},
    id::UserId,
};

use super::{MembersTx, Membership, find_active_membership, lock_as_member};
use crate::{InvalidInput, WorkspaceError};

/// Makes a member an owner and the calling owner an admin. `confirm_name` is the name of the workspace, which the caller
/// types to confirm; surrounding white space is ignored.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::OwnerOnly`] when the caller has lost the membership or
///   the role
/// * [`WorkspaceError::MemberNotFound`] when the person has no access
/// * [`WorkspaceError::InvalidInput`] when the name is not that of the workspace
/// * [`WorkspaceError::AlreadyOwner`] when the person is the caller
/// * [`WorkspaceError::OwnerAccessCannotExpire`] when the person's access has an end
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn transfer_ownership(
    tx: &mut dyn MembersTx,
    ctx: &Context,
    owner: &Owner,
    user: UserId,
    confirm_name: &str,
) -> Result<(), WorkspaceError> {
    let (workspace_info, actor) = lock_as_member(tx, ctx, owner).await?;
    let workspace = owner.workspace();
    if actor.role != Role::Owner {
        return Err(WorkspaceError::OwnerOnly);
    }
    let new_owner =
        find_active_membership(tx, ctx, workspace, user).await?.ok_or(WorkspaceError::MemberNotFound)?;
    if confirm_name.trim() != workspace_info.name {
        return Err(InvalidInput::ConfirmationName.into());
    }
    if new_owner.user == actor.user {
        return Err(WorkspaceError::AlreadyOwner);
    }
    if new_owner.access_ends_at.is_some() {
        return Err(WorkspaceError::OwnerAccessCannotExpire);
    }
    tx.upsert_membership(workspace, &Membership { role: Role::Owner, ..new_owner.clone() }).await?;
    tx.upsert_membership(workspace, &Membership { role: Role::Admin, ..actor }).await?;
    let detail = serde_json::json!({ "from": new_owner.role });
    tx.audit(ctx.audit_entry("workspace.transfer").workspace(workspace).target(user).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, as_owner, builder, owner, request_of, stranger, viewer};

    async fn transfer(tx: &mut FakeTx, user: UserId, confirm_name: &str) -> Result<(), WorkspaceError> {
        let ctx = request_of(owner());
        transfer_ownership(tx, &ctx, &as_owner(&ctx), user, confirm_name).await
    }

    #[tokio::test]
    async fn the_member_becomes_an_owner_and_the_caller_an_admin() {
        let mut tx = FakeTx::acme();
        transfer(&mut tx, builder(), " Acme ").await.unwrap();
        assert_eq!((tx.role(builder()), tx.role(owner())), (Some(Role::Owner), Some(Role::Admin)));
        assert_eq!(tx.membership(builder()).unwrap().joined_at, at(-1_000));
        let detail = json!({ "from": "builder" });
        assert_eq!(tx.audited(), [("workspace.transfer", builder().to_string(), detail)]);

        let refused = transfer(&mut tx, viewer(), "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerOnly)), "{refused:?}");
        assert_eq!(tx.role(viewer()), Some(Role::Viewer));
    }

    #[tokio::test]
    async fn an_owner_who_was_demoted_meanwhile_transfers_nothing() {
        let mut tx = FakeTx::acme();
        tx.while_waiting(|tx| tx.edit(owner(), |membership| membership.role = Role::Admin));
        let refused = transfer(&mut tx, builder(), "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerOnly)), "{refused:?}");
        assert_eq!(tx.role(builder()), Some(Role::Builder));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn the_name_must_match_and_the_new_owner_be_another_lasting_member() {
        let mut tx = FakeTx::acme();
        tx.edit(viewer(), |membership| membership.access_ends_at = Some(at(9)));
        let refused = transfer(&mut tx, stranger(), "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::MemberNotFound)), "{refused:?}");
        for name in ["acme", "", "Acme Inc"] {
            let refused = transfer(&mut tx, builder(), name).await;
            assert!(
                matches!(refused, Err(WorkspaceError::InvalidInput(InvalidInput::ConfirmationName))),
                "{refused:?}"
            );
        }
        let refused = transfer(&mut tx, owner(), "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::AlreadyOwner)), "{refused:?}");
        let refused = transfer(&mut tx, viewer(), "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerAccessCannotExpire)), "{refused:?}");
        assert_eq!((tx.role(owner()), tx.role(builder())), (Some(Role::Owner), Some(Role::Builder)));
        tx.assert_nothing_recorded();
    }
}
