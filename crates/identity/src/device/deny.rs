//! Denying a device login.

use kernel::Context;

use super::{DeviceLogin, DeviceLoginDecision, decide::apply_decision};
use crate::{IdentityError, ports::DeviceTx};

/// Denies a login.
///
/// # Errors
/// [`IdentityError::DeviceLoginNotPending`] if the login has been decided or has expired; [`IdentityError::Store`] if
/// the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn deny_device_login(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    login: &DeviceLogin,
) -> Result<(), IdentityError> {
    apply_decision(tx, ctx, login, DeviceLoginDecision::Denied).await?;
    tx.audit(ctx.audit_entry("device.deny").target(login.id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};

    use super::*;
    use crate::{
        device::{DeviceLoginState, LIFETIME},
        testing::{FakeStore, aru, device_approval, device_login, later, signed_in, stored_device_login},
    };

    #[tokio::test]
    async fn a_pending_login_is_denied_once() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        // Both requests read the login while it was pending.
        let login = device_login(1, at(0));
        store.device_logins = vec![stored_device_login(login.clone(), "code")];
        deny_device_login(&mut store, &ctx, &login).await.unwrap();
        let again = deny_device_login(&mut store, &ctx, &login).await;

        assert!(matches!(again, Err(IdentityError::DeviceLoginNotPending)));
        assert_eq!(store.device_logins[0].login.state(at(0)), DeviceLoginState::Denied);
        store.assert_audited(&[("device.deny", &aru().id, &login.id)]);
    }

    #[tokio::test]
    async fn a_login_that_is_decided_or_expired_is_not_denied() {
        let approved = DeviceLoginDecision::Approved(device_approval(&aru()));
        let approved = DeviceLogin { decision: approved, ..device_login(1, at(0)) };
        let ctx = signed_in(&aru());
        for (login, ctx) in [(approved, ctx.clone()), (device_login(1, at(0)), later(&ctx, LIFETIME))] {
            let mut store = FakeStore {
                device_logins: vec![stored_device_login(login.clone(), "code")],
                ..FakeStore::default()
            };
            let refused = deny_device_login(&mut store, &ctx, &login).await;
            assert!(matches!(refused, Err(IdentityError::DeviceLoginNotPending)));
            assert_eq!(store.device_logins[0].login, login);
            assert!(store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = deny_device_login(&mut store, &signed_in(&aru()), &device_login(1, at(0))).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
