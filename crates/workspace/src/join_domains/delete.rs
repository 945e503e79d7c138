//! Deleting the join domain.

use kernel::{Context, authority::Admin};

use super::JoinDomainsTx;
use crate::{WorkspaceError, members::lock_as_admin};

/// Deletes the join domain, verified or not. People who joined by it stay members. Deleting none is not an error.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or the
/// role; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
) -> Result<(), WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    if tx.delete_join_domain(workspace).await? {
        tx.audit(ctx.audit_entry("join_domain.delete").workspace(workspace).target(workspace));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::authority::Role;
    use serde_json::Value;

    use super::*;
    use crate::{
        join_domains::DomainState,
        testing::{FakeTx, acme, admin, as_admin, request_of},
    };

    #[tokio::test]
    async fn deleting_twice_is_audited_once_and_members_stay() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        tx.add_join_domain(DomainState::Pending);
        for _ in 0..2 {
            delete_join_domain(&mut tx, &ctx, &as_admin(&ctx)).await.unwrap();
            assert!(tx.join_domains.is_empty());
        }
        assert_eq!(tx.memberships.len(), 4);
        assert_eq!(tx.audited(), [("join_domain.delete", acme().to_string(), Value::Null)]);
    }

    #[tokio::test]
    async fn an_admin_who_was_demoted_meanwhile_deletes_nothing() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        tx.add_join_domain(DomainState::Pending);
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = delete_join_domain(&mut tx, &ctx, &as_admin(&ctx)).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        assert_eq!(tx.join_domains.len(), 1);
        tx.assert_nothing_recorded();
    }
}
