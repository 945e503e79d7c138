//! Signing in with the claims of an ID token.

use kernel::{Actor, Context, token::Peppers};

use super::{IdTokenClaims, Provider, trusted_email};
use crate::{
    IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    sign_in::find_or_create_user,
    user::MAX_NAME_CHARS,
};

/// Opens a session for the person whom the claims identify.
///
/// A person who has signed in through the issuer before is found by its subject, even if the address has changed since.
/// At the first sign-in they are found or created by their address, and linked to the subject.
///
/// # Errors
/// [`IdentityError::EmailNotTrusted`] if [`trusted_email`](super::trusted_email) refuses the address of a first
/// sign-in; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn oidc_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    (provider, claims): (&Provider, &IdTokenClaims),
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    let known = tx.find_user_by_identity(&claims.issuer, &claims.subject).await?;
    let user = match known {
        Some(user) => user,
        None => {
            let email = trusted_email(provider, claims)?;
            // The person could not correct a name that is refused, so it is cleaned.
            let name = claims.name.as_deref().map(kernel::text::to_visible_line);
            let name = name.filter(|name| (1..=MAX_NAME_CHARS).contains(&name.chars().count()));
            let user = find_or_create_user(tx, ctx, &email, name.as_deref()).await?;
            tx.insert_identity(&claims.issuer, &claims.subject, user.id, ctx.now).await?;
            let entry = ctx.audit_entry("identity.link").actor(Actor::Person(user.id)).target(user.id);
            tx.audit(entry.detail(serde_json::json!({ "provider": provider.name })));
            user
        }
    };
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Oidc, client).await?)
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::id};
    use secrecy::ExposeSecret as _;
    use serde_json::json;

    use super::*;
    use crate::{
        oidc::EmailVerified,
        testing::{FakeStore, aru, bek, peppers, visitor},
    };

    fn claims() -> IdTokenClaims {
        IdTokenClaims {
            issuer: "https://id.example.com".to_owned(),
            subject: "1".to_owned(),
            email: Some(aru().email.to_string()),
            email_verified: EmailVerified::Yes,
            name: Some("Aru B.".to_owned()),
        }
    }

    async fn sign_in(store: &mut FakeStore, claims: &IdTokenClaims) -> Result<OpenedSession, IdentityError> {
        let provider =
            Provider { name: "company".to_owned(), title: "Company".to_owned(), trusted_domains: vec![] };
        let client = SignInClient::default();
        oidc_sign_in(store, &visitor(), &peppers(), (&provider, claims), &client).await
    }

    fn aru_is_known() -> FakeStore {
        let identities = vec![("https://id.example.com".to_owned(), "1".to_owned(), aru().id)];
        FakeStore { users: vec![aru()], identities, ..FakeStore::default() }
    }

    #[tokio::test]
    async fn a_newcomer_is_created_and_linked_to_the_identity() {
        let mut store = FakeStore::default();
        let opened = sign_in(&mut store, &claims()).await.unwrap();

        assert_eq!((opened.user.name.as_str(), &opened.user.email), ("Aru B.", &aru().email));
        assert_eq!(opened.session.method, SignInMethod::Oidc);
        assert_eq!(store.users, std::slice::from_ref(&opened.user));
        let identity = ("https://id.example.com".to_owned(), "1".to_owned(), opened.user.id);
        assert_eq!(store.identities, [identity]);
        let user = opened.user.id;
        store.assert_audited(&[
            ("user.create", &user, &user),
            ("identity.link", &user, &user),
            ("session.create", &user, &opened.session.id),
        ]);
        assert_eq!(store.work.audit[1].detail, Some(json!({ "provider": "company" })));
        store.assert_not_audited(&[opened.secret.expose_secret(), aru().email.as_str()]);
    }

    #[tokio::test]
    async fn a_person_who_signed_in_by_mail_before_is_found_by_their_address() {
        let mut store = FakeStore { users: vec![aru()], ..FakeStore::default() };
        let opened = sign_in(&mut store, &claims()).await.unwrap();
        assert_eq!((opened.user, store.users.len()), (aru(), 1));
        assert_eq!(store.work.audited_actions(), ["identity.link", "session.create"]);
    }

    #[tokio::test]
    async fn a_linked_person_is_found_whatever_became_of_their_address() {
        for (email, email_verified) in [
            (None, EmailVerified::Absent),
            (Some(bek().email.to_string()), EmailVerified::Yes),
            (Some(aru().email.to_string()), EmailVerified::No),
        ] {
            let mut store = aru_is_known();
            let claims = IdTokenClaims { email, email_verified, ..claims() };
            let opened = sign_in(&mut store, &claims).await.unwrap();
            assert_eq!((opened.user, store.users.len(), store.identities.len()), (aru(), 1, 1));
            assert_eq!(store.work.audited_actions(), ["session.create"]);
        }
    }

    #[tokio::test]
    async fn the_same_subject_of_another_issuer_is_somebody_else() {
        let mut store = aru_is_known();
        let claims = IdTokenClaims {
            issuer: "https://other.example".to_owned(),
            email: Some(bek().email.to_string()),
            ..claims()
        };
        let opened = sign_in(&mut store, &claims).await.unwrap();
        assert_ne!(opened.user.id, aru().id);
        assert_eq!(store.identities.len(), 2);
    }

    #[tokio::test]
    async fn a_newcomer_whose_address_is_not_verified_is_refused() {
        for claims in [
            IdTokenClaims { email: None, ..claims() },
            IdTokenClaims { email_verified: EmailVerified::No, ..claims() },
            IdTokenClaims { email_verified: EmailVerified::Absent, ..claims() },
        ] {
            let mut store = FakeStore { users: vec![aru()], ..FakeStore::default() };
            let refused = sign_in(&mut store, &claims).await;
            assert!(matches!(refused, Err(IdentityError::EmailNotTrusted)));
            assert!(store.sessions.is_empty() && store.identities.is_empty());
            assert!(store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn a_name_out_of_bounds_is_replaced_by_the_address() {
        let name_of = async |name| {
            let claims = IdTokenClaims { name, ..claims() };
            sign_in(&mut FakeStore::default(), &claims).await.unwrap().user.name
        };
        for name in [None, Some(String::new()), Some("\u{200b}".to_owned()), Some("n".repeat(121))] {
            assert_eq!(name_of(name).await, "aru");
        }
        assert_eq!(name_of(Some("a\nb".to_owned())).await, "a b");
    }

    #[tokio::test]
    async fn a_person_or_an_identity_added_at_the_same_time_is_a_duplicate() {
        let mut store = FakeStore { racing_user: Some(aru()), ..FakeStore::default() };
        let refused = sign_in(&mut store, &claims()).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Duplicate))));

        // The identity exists, but this transaction does not see its person yet.
        let mut store = FakeStore { users: vec![], ..aru_is_known() };
        store.identities[0].2 = id(99);
        let refused = sign_in(&mut store, &claims()).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Duplicate))));
        assert!(store.sessions.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = sign_in(&mut FakeStore::unavailable(), &claims()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
