//! Revoking all grants of a person in a workspace.

use kernel::{
    Context, StoreError,
    id::{UserId, WorkspaceId},
};

use crate::oauth::OAuthTx;

/// Revokes every grant of a person in a workspace, such as when they leave it, and returns their number.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_grants_of(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<usize, StoreError> {
    let ended = tx.revoke_grants(workspace, user, ctx.now).await?;
    for grant in &ended {
        tx.audit(ctx.audit_entry("oauth_grant.revoke").workspace(workspace).target(grant).owner(user));
    }
    Ok(ended.len())
}

#[cfg(test)]
mod tests {
    use kernel::{
        authority::MembershipFact,
        testing::{at, id},
    };

    use super::*;
    use crate::{
        oauth::AuthorizationStage,
        testing::{
            FakeStore,
            agents::{granted_tokens, issued_code, membership},
            aru, bek, request_of, signed_in, workspace,
        },
    };

    #[tokio::test]
    async fn grants_and_unused_codes_of_the_person_in_the_workspace_end() {
        let ctx = signed_in(&aru());
        let bek_ctx = request_of(&ctx, signed_in(&bek()).caller);
        let members: Vec<MembershipFact> = [aru(), bek()].map(|user| membership(&user, None)).into();
        let mut store = FakeStore { members, ..FakeStore::default() };
        let first = granted_tokens(&mut store, &ctx).await.grant;
        let second = granted_tokens(&mut store, &ctx).await.grant;
        let elsewhere = granted_tokens(&mut store, &ctx).await.grant;
        store.grants[2].workspace = id(101);
        let of_bek = granted_tokens(&mut store, &bek_ctx).await.grant;
        issued_code(&mut store, &ctx).await;
        issued_code(&mut store, &bek_ctx).await;
        store.work.audit.clear();
        let ended = revoke_grants_of(&mut store, &ctx, workspace(), aru().id).await.unwrap();
        let again = revoke_grants_of(&mut store, &ctx, workspace(), aru().id).await.unwrap();

        assert_eq!((ended, again), (2, 0));
        let revoked: Vec<_> = store.grants.iter().map(|grant| (grant.id, grant.revoked_at)).collect();
        let expected = [(first, Some(at(0))), (second, Some(at(0))), (elsewhere, None), (of_bek, None)];
        assert_eq!(revoked, expected);
        let [.., (own, _), (of_bek, _)] = &store.authorizations[..] else { panic!("two codes") };
        assert_eq!(own.stage, AuthorizationStage::Denied { by: aru().id });
        assert!(matches!(of_bek.stage, AuthorizationStage::Allowed { .. }));
        store.assert_audited(&[
            ("oauth_grant.revoke", &aru().id, &first),
            ("oauth_grant.revoke", &aru().id, &second),
        ]);
        assert!(store.work.audit.iter().all(|entry| entry.workspace == Some(workspace())));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = revoke_grants_of(&mut store, &signed_in(&aru()), workspace(), aru().id).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
    }
}
