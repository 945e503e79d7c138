//! Claiming a domain, setting it up, and giving it up.

use kernel::{Context, authority::Admin, slug::SLUG_SUFFIX_ALPHABET};

use super::{Domain, DomainState, JoinDomain, JoinDomainsTx, JoinRole};
use crate::{WorkspaceError, members::lock_as_admin};

/// Claims a domain, in place of the one before. Claiming the same again changes nothing, its record included.
///
/// # Errors
/// When the name is none that one organisation owns, or what the store says.
pub async fn claim_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    domain: Domain,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before = tx.join_domain_of(workspace).await?;
    if let Some(same) = before.filter(|known| known.domain == domain) {
        return Ok(same);
    }
    let claimed = JoinDomain {
        workspace,
        domain,
        // 32 characters of 5 bits each: 160 bits.
        verification_record: format!(
            "qala-domain-verification={}",
            ctx.random().string(SLUG_SUFFIX_ALPHABET, 32)
        ),
        auto_join: false,
        role: JoinRole::Member,
        created_at: ctx.now,
        state: DomainState::Pending,
    };
    tx.upsert_join_domain(&claimed).await?;
    let detail = serde_json::json!({ "domain": claimed.domain.as_str() });
    tx.audit(ctx.audit_entry("join_domain.put").workspace(workspace).target(workspace).detail(detail));
    Ok(claimed)
}

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

/// Gives the domain up: nobody can join with it. Whoever came by it stays. Giving up none is no error.
///
/// # Errors
/// What the store says.
pub async fn drop_join_domain(
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
