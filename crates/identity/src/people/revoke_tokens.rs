//! Revoking a person's tokens in a workspace.

use kernel::{
    Context, StoreError,
    id::{UserId, WorkspaceId},
};

use crate::ports::PeopleTx;

/// Revokes every token that a person has in a workspace and denies the device logins they approved for it, so that a
/// later membership does not revive them.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_tokens_of(
    tx: &mut dyn PeopleTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    let revoked = tx.revoke_tokens_of(workspace, user, ctx.now).await?;
    for token in &revoked {
        let detail = serde_json::json!({ "of": user });
        let entry = ctx.audit_entry("token.revoke").workspace(workspace).target(token);
        tx.audit(entry.owner(user).detail(detail));
    }
    for login in &tx.deny_device_logins_of(workspace, user).await? {
        tx.audit(ctx.audit_entry("device.lapse").workspace(workspace).target(login));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{
        id::{DeviceLoginId, TokenId},
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::{
        User,
        device::{DeviceLogin, DeviceLoginDecision},
        testing::{
            FakeStore, aru, bek, device_approval, device_login, peppers, signed_in, stored_device_login,
            token, workspace,
        },
        tokens::Token,
    };

    #[tokio::test]
    async fn tokens_and_approved_logins_of_the_workspace_end() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&bek()));
        let digest = peppers().digest("secret");
        let elsewhere = Token { workspace: id(101), ..token(3, &aru()) };
        let revoked = Token { revoked_at: Some(at(-1)), ..token(4, &aru()) };
        for token in [token(1, &aru()), token(2, &bek()), elsewhere.clone(), revoked.clone()] {
            store.tokens.push((token, digest));
        }
        let approved = |number, user: &User| DeviceLogin {
            decision: DeviceLoginDecision::Approved(device_approval(user)),
            ..device_login(number, at(0))
        };
        for login in [approved(5, &aru()), approved(6, &bek()), device_login(7, at(0))] {
            store.device_logins.push(stored_device_login(login, "code"));
        }
        for _ in 0..2 {
            revoke_tokens_of(&mut store, &ctx, workspace(), aru().id).await.unwrap();
        }

        let tokens: Vec<_> = store.tokens.iter().map(|(token, _)| token.clone()).collect();
        let ended = Token { revoked_at: Some(at(0)), ..token(1, &aru()) };
        assert_eq!(tokens, [ended, token(2, &bek()), elsewhere, revoked]);
        let logins: Vec<_> = store.device_logins.iter().map(|stored| stored.login.clone()).collect();
        let denied = DeviceLogin { decision: DeviceLoginDecision::Denied, ..approved(5, &aru()) };
        assert_eq!(logins, [denied, approved(6, &bek()), device_login(7, at(0))]);
        let (token, login): (TokenId, DeviceLoginId) = (id(1), id(5));
        store.assert_audited(&[("token.revoke", &bek().id, &token), ("device.lapse", &bek().id, &login)]);
        assert_eq!(store.work.audit[0].detail, Some(json!({ "of": aru().id })));
        assert!(store.work.audit.iter().all(|entry| entry.workspace == Some(workspace())));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = revoke_tokens_of(&mut store, &signed_in(&aru()), workspace(), aru().id).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
    }
}
