//! The development sign-in, which trusts the given address. It exists on a loopback listener only.

use kernel::{Context, token::Peppers};

use super::find_or_create_user;
use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    user::resolve_display_name,
};

/// Signs a person in by their address alone, and creates them with this name at their first sign-in.
///
/// # Errors
/// [`IdentityError::InvalidInput`] if the name is out of bounds; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn dev_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    email: &Email,
    name: Option<&str>,
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    if name.is_some() {
        // A known person's name is not used, but an invalid request is refused all the same.
        resolve_display_name(name, email)?;
    }
    let user = find_or_create_user(tx, ctx, email, name).await?;
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Dev, client).await?)
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::id};

    use super::*;
    use crate::{
        InvalidInput,
        testing::{FakeStore, aru, peppers, visitor},
    };

    async fn sign_in(store: &mut FakeStore, name: Option<&str>) -> Result<OpenedSession, IdentityError> {
        dev_sign_in(store, &visitor(), &peppers(), &aru().email, name, &SignInClient::default()).await
    }

    #[tokio::test]
    async fn a_newcomer_is_created_with_the_given_name() {
        let mut store = FakeStore::default();
        let opened = sign_in(&mut store, Some(" Aru B. ")).await.unwrap();

        assert_eq!((opened.user.name.as_str(), &opened.user.email), ("Aru B.", &aru().email));
        assert_eq!(store.users, std::slice::from_ref(&opened.user));
        assert!(opened.session.is_dev_login);
        assert_eq!(opened.session.method, SignInMethod::Dev);
        store.assert_audited(&[
            ("user.create", &opened.user.id, &opened.user.id),
            ("session.create", &opened.user.id, &opened.session.id),
        ]);
    }

    #[tokio::test]
    async fn a_known_person_keeps_their_name() {
        let mut store = FakeStore { users: vec![aru()], ..FakeStore::default() };
        let opened = sign_in(&mut store, Some("Somebody")).await.unwrap();

        assert_eq!((opened.user, &store.users[..]), (aru(), &[aru()][..]));
        assert_eq!(store.work.audited_actions(), ["session.create"]);
    }

    #[tokio::test]
    async fn a_name_out_of_bounds_is_refused_for_everybody() {
        for users in [vec![], vec![aru()]] {
            for name in ["", " ", "a\nb", &"a".repeat(121)] {
                let mut store = FakeStore { users: users.clone(), ..FakeStore::default() };
                let refused = sign_in(&mut store, Some(name)).await;
                assert!(
                    matches!(refused, Err(IdentityError::InvalidInput(InvalidInput::PersonName))),
                    "{name:?}"
                );
                assert!(store.sessions.is_empty() && store.work.audit.is_empty());
            }
        }
    }

    #[tokio::test]
    async fn the_session_that_the_browser_had_is_replaced() {
        let mut store = FakeStore { users: vec![aru()], ..FakeStore::default() };
        let old = crate::testing::session(7, &aru(), kernel::testing::at(0));
        store.sessions = vec![(old, peppers().digest("old"))];
        let client = SignInClient { device: None, replaced_session: Some(id(7)) };
        dev_sign_in(&mut store, &visitor(), &peppers(), &aru().email, None, &client).await.unwrap();
        assert_eq!(store.work.audited_actions(), ["session.end", "session.create"]);
        assert_eq!(store.sessions.len(), 1);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let refused = sign_in(&mut FakeStore::unavailable(), None).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
