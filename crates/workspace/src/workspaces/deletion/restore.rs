//! Restoring a deleted workspace.

use kernel::{
    Context,
    authority::{Owner, Role},
    deletion::RESTORE_PERIOD,
};

use super::DeletionTx;
use crate::WorkspaceError;

/// Restores a workspace that was deleted less than [`RESTORE_PERIOD`] ago. `owner` may be the proof of an owner of the
/// deleted workspace.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotDeleted`] when it is not deleted
/// * [`WorkspaceError::WorkspaceNotFound`] when it is too late, or the caller is no owner any more
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn restore_workspace(
    tx: &mut dyn DeletionTx,
    ctx: &Context,
    owner: &Owner,
) -> Result<(), WorkspaceError> {
    let workspace = owner.workspace();
    let Some(deleted_at) = tx.lock_deleted_workspace(workspace).await? else {
        return Err(match tx.lock_members(workspace).await? {
            Some(_) => WorkspaceError::WorkspaceNotDeleted,
            None => WorkspaceError::WorkspaceNotFound,
        });
    };
    let actor = tx.membership_of(workspace, owner.user()).await?;
    let is_owner = actor.is_some_and(|actor| actor.role == Role::Owner && actor.is_active(ctx.now));
    if !is_owner || deleted_at + RESTORE_PERIOD <= ctx.now {
        return Err(WorkspaceError::WorkspaceNotFound);
    }
    tx.unmark_workspace_deleted(workspace).await?;
    tx.audit(ctx.audit_entry("workspace.restore").workspace(workspace).target(workspace));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;
    use serde_json::Value;

    use super::*;
    use crate::testing::{DAY, FakeTx, acme, as_owner, owner, request_at};

    fn deleted() -> FakeTx {
        let mut tx = FakeTx::acme();
        tx.deleted.insert(acme(), (at(0), owner()));
        tx
    }

    async fn restore(tx: &mut FakeTx, now: i64) -> Result<(), WorkspaceError> {
        let ctx = request_at(owner(), at(now));
        restore_workspace(tx, &ctx, &as_owner(&ctx)).await
    }

    #[tokio::test]
    async fn an_owner_restores_once_within_a_week() {
        let mut tx = deleted();
        restore(&mut tx, 7 * DAY - 1).await.unwrap();
        assert!(tx.deleted.is_empty());
        assert_eq!(tx.audited(), [("workspace.restore", acme().to_string(), Value::Null)]);
        let again = restore(&mut tx, 7 * DAY - 1).await;
        assert!(matches!(again, Err(WorkspaceError::WorkspaceNotDeleted)), "{again:?}");
    }

    #[tokio::test]
    async fn after_a_week_or_once_the_purge_began_it_is_too_late() {
        let mut tx = deleted();
        let late = restore(&mut tx, 7 * DAY).await;
        assert!(matches!(late, Err(WorkspaceError::WorkspaceNotFound)), "{late:?}");
        tx.purging.insert(acme());
        let purging = restore(&mut tx, 1).await;
        assert!(matches!(purging, Err(WorkspaceError::WorkspaceNotFound)), "{purging:?}");
        assert!(tx.deleted.contains_key(&acme()));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn somebody_who_is_no_owner_any_more_restores_nothing() {
        let mut demoted = deleted();
        demoted.edit(owner(), |membership| membership.role = Role::Admin);
        let mut ended = deleted();
        ended.edit(owner(), |membership| membership.access_ends_at = Some(at(1)));
        for mut tx in [demoted, ended] {
            let refused = restore(&mut tx, 1).await;
            assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
            assert!(tx.deleted.contains_key(&acme()));
            tx.assert_nothing_recorded();
        }
    }
}
