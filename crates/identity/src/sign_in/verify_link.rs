//! Signing in with the link from the e-mail.

use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};

use super::{AttemptOutcome, find_or_create_user};
use crate::{
    IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Opens a session for the token of a link. Mail scanners open links, so callers use the token only after the person
/// confirms.
///
/// # Errors
/// [`IdentityError::InvalidCode`] if the link is unknown, used or expired; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn verify_email_link(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    token: &str,
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    if token::detect_kind(token) != Some(TokenKind::SignInLink) {
        return Err(IdentityError::InvalidCode);
    }
    let digests: Vec<Digest> = peppers.candidate_digests(token).collect();
    let sign_in = tx.find_sign_in_by_link(&digests).await?.ok_or(IdentityError::InvalidCode)?;
    if sign_in.clone().try_code(true, ctx.now) != AttemptOutcome::Accepted {
        return Err(IdentityError::InvalidCode);
    }
    tx.delete_sign_in(&sign_in.email).await?;
    let user = find_or_create_user(tx, ctx, &sign_in.email, None).await?;
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Email, client).await?)
}

#[cfg(test)]
mod tests {
    use kernel::StoreError;
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        sign_in::CODE_LIFETIME,
        testing::{FakeStore, aru, later, mailed_sign_in, peppers, visitor},
    };

    async fn follow(
        store: &mut FakeStore,
        ctx: &Context,
        token: &str,
    ) -> Result<OpenedSession, IdentityError> {
        verify_email_link(store, ctx, &peppers(), token, &SignInClient::default()).await
    }

    #[tokio::test]
    async fn the_link_opens_a_session_once() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let token = mailed_sign_in(&mut store, &ctx, &aru().email).await.token;
        let opened = follow(&mut store, &ctx, &token).await.unwrap();

        assert_eq!(opened.user.email, aru().email);
        assert_eq!(opened.session.method, SignInMethod::Email);
        assert!(store.sign_ins.is_empty(), "the code is used up as well");
        store.assert_audited(&[
            ("user.create", &opened.user.id, &opened.user.id),
            ("session.create", &opened.user.id, &opened.session.id),
        ]);
        store.assert_not_audited(&[&token, opened.secret.expose_secret()]);

        let again = follow(&mut store, &ctx, &token).await;
        assert!(matches!(again, Err(IdentityError::InvalidCode)));
        assert_eq!((store.sessions.len(), store.work.audit.len()), (1, 2));
    }

    #[tokio::test]
    async fn an_expired_link_is_refused() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let token = mailed_sign_in(&mut store, &ctx, &aru().email).await.token;
        let refused = follow(&mut store, &later(&ctx, CODE_LIFETIME), &token).await;
        assert!(matches!(refused, Err(IdentityError::InvalidCode)));
        assert!(store.sessions.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_link_that_was_never_mailed_is_refused() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        mailed_sign_in(&mut store, &ctx, &aru().email).await;
        let unknown = token::mint(TokenKind::SignInLink, ctx.random());
        let other_kind = token::mint(TokenKind::Session, ctx.random());
        // A stored digest alone does not make a token of another kind a link.
        store.sign_ins[0].link = Some(peppers().digest(other_kind.expose_secret()));
        for token in ["", "qsl_", unknown.expose_secret(), other_kind.expose_secret()] {
            let refused = follow(&mut store, &ctx, token).await;
            assert!(matches!(refused, Err(IdentityError::InvalidCode)), "{token}");
        }
        assert!(store.sessions.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let token = token::mint(TokenKind::SignInLink, visitor().random());
        let failed = follow(&mut FakeStore::unavailable(), &visitor(), token.expose_secret()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));

        let (mut store, ctx) = (FakeStore { racing_user: Some(aru()), ..FakeStore::default() }, visitor());
        let token = mailed_sign_in(&mut store, &ctx, &aru().email).await.token;
        let failed = follow(&mut store, &ctx, &token).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Duplicate))));
    }
}
