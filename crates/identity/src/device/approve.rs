//! Approving a device login.

use kernel::{Context, authority::Member, caller::Scopes};

use super::{DeviceApproval, DeviceLogin, DeviceLoginDecision, decide::apply_decision, start::check_days};
use crate::{IdentityError, InvalidInput, ports::DeviceTx};

/// Token that the person allows.
#[derive(Debug, Clone)]
pub struct ApproveDeviceLogin {
    /// Scopes of the token, at most the requested ones.
    pub scopes: Scopes,
    /// Lifetime of the token in days, 1 to 365.
    pub expires_in_days: u16,
}

/// Approves a login for one of the person's workspaces. The token is created at the command line's next poll.
///
/// # Errors
/// [`IdentityError::InvalidInput`] if the scopes exceed the requested ones or the lifetime is out of bounds;
/// [`IdentityError::DeviceLoginNotPending`] if the login has been decided or has expired; [`IdentityError::Store`] if
/// the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn approve_device_login(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    member: &Member,
    login: &DeviceLogin,
    input: ApproveDeviceLogin,
) -> Result<(), IdentityError> {
    check_days(input.expires_in_days)?;
    if input.scopes.to_vec().into_iter().any(|scope| !login.request.scopes.allows(scope)) {
        return Err(InvalidInput::ScopesNotRequested.into());
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

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        authority::Role,
        testing::{at, id, member},
    };
    use serde_json::json;

    use super::*;
    use crate::{
        device::{DeviceLoginState, LIFETIME},
        testing::{FakeStore, aru, device_login, later, signed_in, stored_device_login, workspace},
    };

    async fn approve(
        store: &mut FakeStore,
        ctx: &Context,
        scopes: &str,
        expires_in_days: u16,
    ) -> Result<(), IdentityError> {
        let input = ApproveDeviceLogin { scopes: scopes.parse().unwrap(), expires_in_days };
        let member = member(ctx, workspace(), Role::Builder);
        // Read before the transaction, so it may be older than the store's row.
        approve_device_login(store, ctx, &member, &device_login(1, at(0)), input).await
    }

    fn store() -> FakeStore {
        let device_logins = vec![stored_device_login(device_login(1, at(0)), "code")];
        FakeStore { device_logins, ..FakeStore::default() }
    }

    #[tokio::test]
    async fn a_pending_login_is_approved_once() {
        let (mut store, ctx) = (store(), signed_in(&aru()));
        approve(&mut store, &ctx, "read", 365).await.unwrap();
        let again = approve(&mut store, &ctx, "read write", 1).await;

        assert!(matches!(again, Err(IdentityError::DeviceLoginNotPending)));
        let approval = DeviceApproval {
            approved_by: aru().id,
            workspace: workspace(),
            scopes: "read".parse().unwrap(),
            expires_in_days: 365,
        };
        let login = &store.device_logins[0].login;
        assert_eq!(login.state(at(0)), DeviceLoginState::Approved(approval));
        store.assert_audited(&[("device.approve", &aru().id, &login.id)]);
        let entry = &store.work.audit[0];
        assert_eq!((entry.workspace, &entry.detail), (Some(workspace()), &Some(json!({ "scopes": "read" }))));
    }

    #[tokio::test]
    async fn no_more_is_approved_than_was_requested() {
        for (scopes, days, expected) in [
            ("read admin", 30, Some(InvalidInput::ScopesNotRequested)),
            ("admin", 30, Some(InvalidInput::ScopesNotRequested)),
            ("read", 0, Some(InvalidInput::DeviceTokenLifetime)),
            ("read", 366, Some(InvalidInput::DeviceTokenLifetime)),
            ("write", 1, None),
        ] {
            let mut store = store();
            let refused = match approve(&mut store, &signed_in(&aru()), scopes, days).await {
                Ok(()) => None,
                Err(IdentityError::InvalidInput(invalid)) => Some(invalid),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(refused, expected, "{scopes} {days}");
            assert_eq!(store.work.audit.is_empty(), expected.is_some());
        }
    }

    #[tokio::test]
    async fn an_expired_login_is_not_approved() {
        let (mut store, ctx) = (store(), later(&signed_in(&aru()), LIFETIME));
        let refused = approve(&mut store, &ctx, "read", 30).await;
        assert!(matches!(refused, Err(IdentityError::DeviceLoginNotPending)));
        assert_eq!(store.device_logins[0].login, device_login(1, at(0)));
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_login_that_was_deleted_is_not_approved() {
        let mut store = FakeStore {
            device_logins: vec![stored_device_login(device_login(2, at(0)), "code")],
            ..FakeStore::default()
        };
        let refused = approve(&mut store, &signed_in(&aru()), "read", 30).await;
        assert!(matches!(refused, Err(IdentityError::DeviceLoginNotPending)));
        assert_eq!(store.device_logins[0].login.id, id(2));
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = approve(&mut FakeStore::unavailable(), &signed_in(&aru()), "read", 30).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
