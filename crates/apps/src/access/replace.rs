//! Replacing how an app is shared.

use std::collections::BTreeSet;

use kernel::{
    Context,
    authority::{AppRight, AppRights, CanShare, Sharing},
    id::UserId,
};

use super::AppGrant;
use crate::{AppError, AppsTx};

/// How many people an app can be shared with by name.
const MAX_GRANTS: usize = 500;

/// Replaces sharing and grants.
///
/// # Errors
/// When a person is named twice or is no member, or what the store says.
pub async fn replace_access(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanShare>,
    sharing: Sharing,
    grants: Vec<AppGrant>,
) -> Result<(), AppError> {
    let workspace = right.member().workspace();
    let users: BTreeSet<UserId> = grants.iter().map(|grant| grant.user).collect();
    if users.len() != grants.len() {
        return Err(AppError::invalid("people", "names a person twice"));
    }
    if grants.len() > MAX_GRANTS {
        return Err(AppError::invalid("people", format!("may hold at most {MAX_GRANTS}")));
    }
    if grants.iter().any(|grant| grant.rights == AppRights::NONE) {
        return Err(AppError::invalid("people", "names a person with no right; leave them out instead"));
    }
    let users: Vec<UserId> = users.into_iter().collect();
    if tx.members_among(workspace, &users).await?.len() != users.len() {
        return Err(AppError::MemberNotFound);
    }
    tx.replace_access(workspace, right.app(), sharing, &grants).await?;
    tx.audit(ctx.audit_entry("app.share").workspace(workspace).target(right.app()).detail(
        serde_json::json!({
            "sharing": sharing,
            "people": grants.iter().map(|grant| grant.user.to_string()).collect::<Vec<_>>(),
        }),
    ));
    Ok(())
}
