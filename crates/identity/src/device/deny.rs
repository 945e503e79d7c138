//! Denying a login.

use kernel::Context;

use super::{DeviceLogin, DeviceLoginDecision, decide::apply_decision};
use crate::{IdentityError, ports::DeviceTx};

/// Refuses a login.
///
/// # Errors
/// When it is no longer pending, or what the store says.
pub async fn deny_device_login(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    login: &DeviceLogin,
) -> Result<(), IdentityError> {
    apply_decision(tx, ctx, login, DeviceLoginDecision::Denied).await?;
    tx.audit(ctx.audit_entry("device.deny").target(login.id));
    Ok(())
}
