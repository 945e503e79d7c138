//! Signing in with the code from the e-mail.

use kernel::{Context, token::Peppers};

use super::{AttemptOutcome, code_digest_input, find_or_create_user};
use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Tries a code and opens a session if it is right.
///
/// A wrong code uses up an attempt, so the caller commits if the outer result is `Ok`, and then returns the inner one:
/// the session or [`IdentityError::InvalidCode`].
///
/// # Errors
/// The outer [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn verify_email_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    email: &Email,
    code: &str,
    client: &SignInClient,
) -> Result<Result<OpenedSession, IdentityError>, IdentityError> {
    let Some(sign_in) = tx.find_sign_in(email).await? else {
        return Ok(Err(IdentityError::InvalidCode));
    };
    let matches = peppers.verify(&code_digest_input(email, code), &sign_in.code);
    match sign_in.try_code(matches, ctx.now) {
        AttemptOutcome::Accepted => {
            tx.delete_sign_in(email).await?;
            let user = find_or_create_user(tx, ctx, email, None).await?;
            Ok(Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Email, client).await?))
        }
        AttemptOutcome::Rejected(sign_in) => {
            tx.upsert_sign_in(&sign_in).await?;
            tx.audit(ctx.audit_entry("sign_in.wrong_code"));
            Ok(Err(IdentityError::InvalidCode))
        }
        AttemptOutcome::Invalidated => {
            tx.delete_sign_in(email).await?;
            tx.audit(ctx.audit_entry("sign_in.over"));
            Ok(Err(IdentityError::InvalidCode))
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::StoreError;
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        sign_in::{CODE_LIFETIME, MAX_ATTEMPTS},
        testing::{FakeStore, aru, bek, later, mailed_sign_in, peppers, visitor},
    };

    async fn verify(
        store: &mut FakeStore,
        ctx: &Context,
        email: &Email,
        code: &str,
    ) -> Result<Result<OpenedSession, IdentityError>, IdentityError> {
        verify_email_sign_in(store, ctx, &peppers(), email, code, &SignInClient::default()).await
    }

    /// A well-formed code that is not this one.
    fn wrong(code: &str) -> &'static str {
        if code == "000000" { "000001" } else { "000000" }
    }

    #[tokio::test]
    async fn the_code_opens_a_session_once() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        let opened = verify(&mut store, &ctx, &aru().email, &code).await.unwrap().unwrap();

        assert_eq!(opened.user.email, aru().email);
        assert_eq!(opened.session.method, SignInMethod::Email);
        assert_eq!(store.sessions[0].0, opened.session);
        assert!(store.sign_ins.is_empty());
        store.assert_audited(&[
            ("user.create", &opened.user.id, &opened.user.id),
            ("session.create", &opened.user.id, &opened.session.id),
        ]);
        store.assert_not_audited(&[&code, opened.secret.expose_secret()]);

        let again = verify(&mut store, &ctx, &aru().email, &code).await.unwrap();
        assert!(matches!(again, Err(IdentityError::InvalidCode)));
        assert_eq!((store.sessions.len(), store.work.audit.len()), (1, 2));
    }

    #[tokio::test]
    async fn a_known_person_is_recognised_by_their_address() {
        let (mut store, ctx) = (FakeStore { users: vec![aru()], ..FakeStore::default() }, visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        let opened = verify(&mut store, &ctx, &aru().email, &code).await.unwrap().unwrap();
        assert_eq!((opened.user, store.users.len()), (aru(), 1));
        assert_eq!(store.work.audited_actions(), ["session.create"]);
    }

    #[tokio::test]
    async fn five_wrong_codes_end_the_sign_in() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        for left in (0..MAX_ATTEMPTS).rev() {
            let refused = verify(&mut store, &ctx, &aru().email, wrong(&code)).await.unwrap();
            assert!(matches!(refused, Err(IdentityError::InvalidCode)));
            let attempts_left = store.sign_ins.first().map(|sign_in| sign_in.attempts_left);
            assert_eq!(attempts_left, (left > 0).then_some(left));
        }
        let late = verify(&mut store, &ctx, &aru().email, &code).await.unwrap();

        assert!(matches!(late, Err(IdentityError::InvalidCode)), "the right code is worth nothing now");
        assert!(store.sessions.is_empty() && store.users.is_empty());
        let wrong_code = ("sign_in.wrong_code", &"visitor" as _, &"" as _);
        store.assert_audited(&[
            wrong_code,
            wrong_code,
            wrong_code,
            wrong_code,
            ("sign_in.over", &"visitor", &""),
        ]);
    }

    #[tokio::test]
    async fn an_expired_code_is_refused() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        let ctx = later(&ctx, CODE_LIFETIME);
        let refused = verify(&mut store, &ctx, &aru().email, &code).await.unwrap();

        assert!(matches!(refused, Err(IdentityError::InvalidCode)));
        assert!(store.sign_ins.is_empty() && store.sessions.is_empty());
        store.assert_audited(&[("sign_in.over", &"visitor", &"")]);
    }

    #[tokio::test]
    async fn a_code_is_worth_nothing_for_another_address() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        let unknown = verify(&mut store, &ctx, &bek().email, &code).await.unwrap();
        assert!(matches!(unknown, Err(IdentityError::InvalidCode)));
        assert!(store.work.audit.is_empty(), "nothing was stored, so nothing changed");

        // The same code, moved to another address in the store.
        store.sign_ins[0].email = bek().email;
        let moved = verify(&mut store, &ctx, &bek().email, &code).await.unwrap();
        assert!(matches!(moved, Err(IdentityError::InvalidCode)));
        assert!(store.sessions.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = verify(&mut store, &visitor(), &aru().email, "123456").await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));

        let (mut store, ctx) = (FakeStore { racing_user: Some(aru()), ..FakeStore::default() }, visitor());
        let code = mailed_sign_in(&mut store, &ctx, &aru().email).await.code;
        let failed = verify(&mut store, &ctx, &aru().email, &code).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Duplicate))));
        assert!(store.sessions.is_empty());
    }
}
