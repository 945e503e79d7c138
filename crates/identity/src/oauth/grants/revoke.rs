//! Revoking one grant.

use kernel::{
    Context,
    id::{GrantId, UserId, WorkspaceId},
};

use crate::oauth::{ConsentError, OAuthTx};

/// Revokes one of a person's grants; a grant that was revoked before keeps its time.
///
/// # Errors
/// [`ConsentError::GrantNotFound`] if the person has no such grant in the workspace; [`ConsentError::Store`] if the
/// store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_grant(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
    grant: GrantId,
) -> Result<(), ConsentError> {
    let found = tx.grant(workspace, grant).await?.filter(|grant| grant.user == user);
    let grant = found.ok_or(ConsentError::GrantNotFound)?;
    if tx.revoke_grant(workspace, grant.id, ctx.now).await? {
        let detail = serde_json::json!({ "client": grant.client.id });
        tx.audit(ctx.audit_entry("oauth_grant.revoke").workspace(workspace).target(grant.id).detail(detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::{
        StoreError,
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{
        FakeStore,
        agents::{CLIENT_ID, granted_tokens, membership},
        aru, bek, later, signed_in, workspace,
    };

    /// A store with one grant.
    async fn store() -> (FakeStore, GrantId) {
        let mut store = FakeStore { members: vec![membership(&aru(), None)], ..FakeStore::default() };
        let grant = granted_tokens(&mut store, &signed_in(&aru())).await.grant;
        (store, grant)
    }

    #[tokio::test]
    async fn a_grant_is_revoked_and_revoking_it_again_keeps_the_first_time() {
        let ((mut store, grant), ctx) = (store().await, signed_in(&aru()));
        for ctx in [ctx.clone(), later(&ctx, TimeDelta::seconds(5))] {
            revoke_grant(&mut store, &ctx, workspace(), aru().id, grant).await.unwrap();
        }
        assert_eq!(store.grants[0].revoked_at, Some(at(0)));
        store.assert_audited(&[("oauth_grant.revoke", &aru().id, &grant)]);
        let entry = &store.work.audit[0];
        assert_eq!(entry.workspace, Some(workspace()));
        assert_eq!(entry.detail, Some(json!({ "client": CLIENT_ID })));
    }

    #[tokio::test]
    async fn a_grant_of_somebody_else_or_of_another_workspace_is_not_found() {
        let (mut store, grant) = store().await;
        for (workspace, user, grant) in
            [(workspace(), bek(), grant), (id(101), aru(), grant), (workspace(), aru(), id(404))]
        {
            let refused = revoke_grant(&mut store, &signed_in(&user), workspace, user.id, grant).await;
            assert!(matches!(refused, Err(ConsentError::GrantNotFound)));
        }
        assert_eq!((store.grants[0].revoked_at, store.work.audit.len()), (None, 0));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = revoke_grant(&mut store, &signed_in(&aru()), workspace(), aru().id, id(1)).await;
        assert!(matches!(failed, Err(ConsentError::Store(StoreError::Unavailable(_)))));
    }
}
