//! Approving a login.

use kernel::{Context, authority::Member, caller::Scopes};

use super::{DeviceApproval, DeviceLogin, DeviceLoginDecision, decide::apply_decision, start::check_days};
use crate::{IdentityError, ports::DeviceTx};

/// What a person allows.
#[derive(Debug, Clone)]
pub struct ApproveDeviceLogin {
    /// What the token may be used for.
    pub scopes: Scopes,
    /// How many days the token lasts.
    pub expires_in_days: u16,
}

/// Allows a token in one of the person's workspaces. It is made when the command line next asks.
///
/// # Errors
/// When the scopes are wider than what was asked for, the login is no longer pending, or what the store says.
pub async fn approve_device_login(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    member: &Member,
    login: &DeviceLogin,
    input: ApproveDeviceLogin,
) -> Result<(), IdentityError> {
    check_days(input.expires_in_days)?;
    if input.scopes.to_vec().into_iter().any(|scope| !login.request.scopes.allows(scope)) {
        return Err(IdentityError::InvalidField {
            field: "scopes",
            what: "may hold at most what was asked for",
        });
    }
    let approval = DeviceApproval {
        approved_by: member.user(),
        workspace: member.workspace(),
        scopes: input.scopes,
        expires_in_days: input.expires_in_days,
    };
    apply_decision(tx, ctx, login, DeviceLoginDecision::Approved(approval)).await?;
    tx.audit(
        ctx.audit_entry("device.approve")
            .workspace(member.workspace())
            .target(login.id)
            .detail(serde_json::json!({ "scopes": input.scopes.to_string() })),
    );
    Ok(())
}
