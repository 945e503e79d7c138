//! Proving a domain.

use kernel::{Context, StoreError, authority::Admin};

use super::{DnsCheck, DomainState, JoinDomain, JoinDomainsTx, RECHECK_INTERVAL, dns_check::lock_same_claim};
use crate::{WorkspaceError, members::lock_as_admin};

/// Takes a domain as proved when its record was found; who proves it first has it. Asked for by an admin.
///
/// # Errors
/// [`WorkspaceError::DomainTaken`] when another workspace has proved it before, or what the store says.
pub async fn confirm_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    looked_up: &JoinDomain,
    check: DnsCheck,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    if looked_up.workspace != admin.workspace() {
        return Err(WorkspaceError::JoinDomainNotFound);
    }
    let known = lock_same_claim(tx, looked_up).await?.ok_or(WorkspaceError::JoinDomainNotFound)?;
    if check != DnsCheck::Found {
        return Ok(known);
    }
    let recheck_at = ctx.now + RECHECK_INTERVAL;
    let state = match known.state {
        DomainState::Verified { at, .. } => DomainState::Verified { at, recheck_at, misses: 0 },
        DomainState::Pending => {
            if tx.verified_join_domain(&known.domain).await?.is_some() {
                return Err(WorkspaceError::DomainTaken);
            }
            DomainState::Verified { at: ctx.now, recheck_at, misses: 0 }
        }
    };
    let proved = JoinDomain { state, ..known };
    // Another workspace may have verified it since the read above.
    tx.upsert_join_domain(&proved).await.map_err(|error| match error {
        StoreError::Duplicate => WorkspaceError::DomainTaken,
        error => error.into(),
    })?;
    let detail = serde_json::json!({ "domain": proved.domain.as_str() });
    let entry = ctx.audit_entry("join_domain.verify").workspace(proved.workspace).target(proved.workspace);
    tx.audit(entry.detail(detail));
    Ok(proved)
}
