//! Deleting a workspace.

use kernel::{
    Context,
    authority::{Owner, Role},
};

use super::DeletionTx;
use crate::{InvalidInput, WorkspaceError, members::lock_as_member};

/// Deletes a workspace. `confirm_name` is its name, which the caller types to confirm; surrounding white space is ignored.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::OwnerOnly`] when the workspace was deleted, or the caller
///   has lost the membership or the role
/// * [`WorkspaceError::InvalidInput`] when the name is not that of the workspace
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_workspace(
    tx: &mut dyn DeletionTx,
    ctx: &Context,
    owner: &Owner,
    confirm_name: &str,
) -> Result<(), WorkspaceError> {
    let (info, actor) = lock_as_member(tx, ctx, owner).await?;
    if actor.role != Role::Owner {
        return Err(WorkspaceError::OwnerOnly);
    }
    if confirm_name.trim() != info.name {
        return Err(InvalidInput::ConfirmationName.into());
    }
    let workspace = owner.workspace();
    tx.mark_workspace_deleted(workspace, ctx.now, actor.user).await?;
    tx.audit(ctx.audit_entry("workspace.delete").workspace(workspace).target(workspace));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::Value;

    use super::*;
    use crate::testing::{FakeTx, acme, as_owner, owner, request_of};

    async fn delete(tx: &mut FakeTx, confirm_name: &str) -> Result<(), WorkspaceError> {
        let ctx = request_of(owner());
        delete_workspace(tx, &ctx, &as_owner(&ctx), confirm_name).await
    }

    #[tokio::test]
    async fn an_owner_who_confirms_deletes_once() {
        let mut tx = FakeTx::acme();
        delete(&mut tx, " Acme ").await.unwrap();
        assert_eq!(tx.deleted.get(&acme()), Some(&(at(0), owner())));
        assert_eq!(tx.audited(), [("workspace.delete", acme().to_string(), Value::Null)]);
        let again = delete(&mut tx, "Acme").await;
        assert!(matches!(again, Err(WorkspaceError::WorkspaceNotFound)), "{again:?}");
        assert_eq!(tx.audited().len(), 1);
    }

    #[tokio::test]
    async fn another_name_deletes_nothing() {
        for name in ["acme", "", "Acme Inc"] {
            let mut tx = FakeTx::acme();
            let refused = delete(&mut tx, name).await;
            assert!(
                matches!(refused, Err(WorkspaceError::InvalidInput(InvalidInput::ConfirmationName))),
                "{refused:?}"
            );
            assert!(tx.deleted.is_empty());
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn an_owner_who_was_demoted_or_removed_meanwhile_deletes_nothing() {
        let mut tx = FakeTx::acme();
        tx.while_waiting(|tx| tx.edit(owner(), |membership| membership.role = Role::Admin));
        let refused = delete(&mut tx, "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::OwnerOnly)), "{refused:?}");
        let mut tx = FakeTx::acme();
        tx.while_waiting(|tx| tx.delete_member(owner()));
        let refused = delete(&mut tx, "Acme").await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        assert!(tx.deleted.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        let mut tx = FakeTx::acme();
        tx.is_unavailable = true;
        let failed = delete(&mut tx, "Acme").await;
        assert!(matches!(failed, Err(WorkspaceError::Store(_))), "{failed:?}");
    }
}
