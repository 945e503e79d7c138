//! Deciding a login, once.

use kernel::Context;

use super::{DeviceLogin, DeviceLoginDecision, DeviceLoginState};
use crate::{IdentityError, ports::DeviceTx};

pub(super) async fn apply_decision(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    login: &DeviceLogin,
    decision: DeviceLoginDecision,
) -> Result<(), IdentityError> {
    // What was read may be old; the store changes only what is pending still.
    let pending = login.state(ctx.now) == DeviceLoginState::Pending;
    if pending && tx.decide_device_login(login.id, &decision, ctx.now).await? {
        Ok(())
    } else {
        Err(IdentityError::DeviceLoginNotPending)
    }
}
