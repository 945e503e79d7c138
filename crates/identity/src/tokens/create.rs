//! Creating a personal access token.

use kernel::{
    Caller, Context,
    authority::{Member, Role},
    caller::Scope,
    token::Peppers,
};

use super::{CreateToken, CreatedToken, issue_token};
use crate::{IdentityError, IdentityTx};

/// Creates a token for the member in their workspace.
///
/// # Errors
/// [`IdentityError::TokenCannotCreateToken`] unless the caller is a session; [`IdentityError::AdminScopeForbidden`] if
/// a member below the role `admin` requests the scope `admin`; [`IdentityError::InvalidInput`] if a field is out of
/// bounds; [`IdentityError::TooManyTokens`] at the limit; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    member: &Member,
    input: CreateToken,
) -> Result<CreatedToken, IdentityError> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Err(IdentityError::TokenCannotCreateToken);
    }
    // The scope would be useless now, but would take effect if the person became an admin later.
    if input.scopes.allows(Scope::Admin) && !member.role().at_least(Role::Admin) {
        return Err(IdentityError::AdminScopeForbidden);
    }
    issue_token(tx, ctx, peppers, (member.workspace(), member.user()), input).await
}

#[cfg(test)]
mod tests {
    use kernel::testing::{member, session_of, token_of};

    use kernel::caller::Scopes;

    use super::*;
    use crate::testing::{FakeStore, aru, peppers, request_of, visitor, workspace};

    async fn create(
        store: &mut FakeStore,
        caller: Caller,
        role: Role,
        scopes: &str,
    ) -> Result<CreatedToken, IdentityError> {
        let ctx = request_of(&visitor(), caller);
        let input =
            CreateToken { name: "ci".to_owned(), scopes: scopes.parse().unwrap(), expires_in_days: None };
        create_token(store, &ctx, &peppers(), &member(&ctx, workspace(), role), input).await
    }

    #[tokio::test]
    async fn a_member_creates_a_token_for_themselves() {
        let mut store = FakeStore::default();
        let created = create(&mut store, session_of(aru().id), Role::Viewer, "read write").await.unwrap();

        assert_eq!((created.token.user, created.token.workspace), (aru().id, workspace()));
        assert_eq!(store.tokens.len(), 1);
        assert_eq!(store.tokens[0].0, created.token);
        store.assert_audited(&[("token.create", &aru().id, &created.token.id)]);
    }

    #[tokio::test]
    async fn a_token_cannot_create_a_token() {
        let mut store = FakeStore::default();
        let caller = token_of(aru().id, workspace(), Scopes::of(Scope::Admin));
        let refused = create(&mut store, caller, Role::Owner, "read").await;
        assert!(matches!(refused, Err(IdentityError::TokenCannotCreateToken)));
        assert!(store.tokens.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn the_scope_admin_needs_an_admin() {
        for (role, allowed) in [
            (Role::Owner, true),
            (Role::Admin, true),
            (Role::Builder, false),
            (Role::Member, false),
            (Role::Viewer, false),
        ] {
            let mut store = FakeStore::default();
            match create(&mut store, session_of(aru().id), role, "read admin").await {
                Ok(created) => assert!(allowed && created.token.scopes.allows(Scope::Admin), "{role}"),
                Err(error) => {
                    assert!(!allowed && matches!(error, IdentityError::AdminScopeForbidden), "{role}");
                }
            }
            assert_eq!(store.tokens.len(), usize::from(allowed));
        }
    }
}
