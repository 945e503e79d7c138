//! Giving a domain up.

use kernel::{Context, authority::Admin};

use super::JoinDomainsTx;
use crate::{WorkspaceError, members::lock_as_admin};

/// Gives the domain up: nobody can join with it. Whoever came by it stays. Giving up none is no error.
///
/// # Errors
/// What the store says.
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
