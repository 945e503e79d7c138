//! Revoking a personal access token.

use kernel::{
    Context,
    id::{TokenId, UserId, WorkspaceId},
};

use super::Token;
use crate::{IdentityError, IdentityTx};

/// Revokes one of a person's tokens; a token that was revoked before keeps its time.
///
/// # Errors
/// [`IdentityError::TokenNotFound`] if the person has no such token in the workspace; [`IdentityError::Store`] if the
/// store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
    token: TokenId,
) -> Result<Token, IdentityError> {
    let token =
        tx.revoke_token(workspace, user, token, ctx.now).await?.ok_or(IdentityError::TokenNotFound)?;
    tx.audit(
        ctx.audit_entry("token.revoke")
            .workspace(workspace)
            .target(token.id)
            .detail(serde_json::json!({ "hint": token.hint.to_string() })),
    );
    Ok(token)
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
    use crate::testing::{FakeStore, aru, bek, later, peppers, signed_in, token, workspace};

    #[tokio::test]
    async fn a_token_is_revoked_and_revoking_it_again_keeps_the_first_time() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        store.tokens = [1, 2].map(|number| (token(number, &aru()), peppers().digest("secret"))).into();
        for ctx in [ctx.clone(), later(&ctx, TimeDelta::seconds(5))] {
            let revoked = revoke_token(&mut store, &ctx, workspace(), aru().id, id(1)).await.unwrap();
            assert_eq!(revoked, Token { revoked_at: Some(at(0)), ..token(1, &aru()) });
        }

        assert_eq!(store.tokens[0].0.revoked_at, Some(at(0)));
        assert_eq!(store.tokens[1].0, token(2, &aru()));
        let revoked: TokenId = id(1);
        let entry = ("token.revoke", &aru().id as _, &revoked as _);
        store.assert_audited(&[entry, entry]);
        let entry = &store.work.audit[0];
        assert_eq!(entry.workspace, Some(workspace()));
        assert_eq!(entry.detail, Some(json!({ "hint": "qat_abcd…wxyz" })));
    }

    #[tokio::test]
    async fn a_token_of_somebody_else_or_of_another_workspace_is_not_found() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        store.tokens = vec![(token(1, &bek()), peppers().digest("secret"))];
        for (workspace, user, number) in
            [(workspace(), aru().id, 1), (id(101), bek().id, 1), (workspace(), bek().id, 2)]
        {
            let refused = revoke_token(&mut store, &ctx, workspace, user, id(number)).await;
            assert!(matches!(refused, Err(IdentityError::TokenNotFound)));
        }
        assert_eq!(store.tokens[0].0, token(1, &bek()));
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = revoke_token(&mut store, &signed_in(&aru()), workspace(), aru().id, id(1)).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
