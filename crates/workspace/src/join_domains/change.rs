//! Changing how people join by a domain.

use kernel::{Context, authority::Admin};

use super::{JoinDomain, JoinDomainsTx, JoinRole};
use crate::{WorkspaceError, members::lock_as_admin};

/// How people come in; what is none stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinDomainChange {
    /// Whether by signing in.
    pub auto_join: Option<bool>,
    /// As what.
    pub role: Option<JoinRole>,
}

/// Changes how people come in.
///
/// # Errors
/// When the domain is not verified, or what the store says.
pub async fn change_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    change: JoinDomainChange,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before = tx.join_domain_of(workspace).await?.filter(JoinDomain::is_verified);
    let before = before.ok_or(WorkspaceError::DomainNotVerified)?;
    let after = JoinDomain {
        auto_join: change.auto_join.unwrap_or(before.auto_join),
        role: change.role.unwrap_or(before.role),
        ..before.clone()
    };
    if after != before {
        tx.upsert_join_domain(&after).await?;
        let detail = serde_json::json!({ "autoJoin": after.auto_join, "role": after.role });
        tx.audit(ctx.audit_entry("join_domain.change").workspace(workspace).target(workspace).detail(detail));
    }
    Ok(after)
}
