//! Claiming a domain.

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
