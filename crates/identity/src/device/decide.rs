//! The decision about a device login, which is made once.

use kernel::Context;

use super::{DeviceLogin, DeviceLoginDecision, DeviceLoginState};
use crate::{IdentityError, ports::DeviceTx};

/// Stores a decision about a login that is still pending.
///
/// # Errors
/// [`IdentityError::DeviceLoginNotPending`] if it is not; [`IdentityError::Store`] if the store fails.
pub(super) async fn apply_decision(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    login: &DeviceLogin,
    decision: DeviceLoginDecision,
) -> Result<(), IdentityError> {
    // The login may have been read before this transaction; the store changes it only if it is still pending.
    let is_pending = login.state(ctx.now) == DeviceLoginState::Pending;
    if is_pending && tx.decide_device_login(login.id, &decision, ctx.now).await? {
        Ok(())
    } else {
        Err(IdentityError::DeviceLoginNotPending)
    }
}
