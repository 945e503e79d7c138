//! Starting a sign-in by e-mail.

use kernel::{
    Context, Locale,
    mail::OutboxEmail,
    token::{self, Peppers, TokenKind},
    vault::Vault,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{CODE_LIFETIME, EmailSignIn, MAX_ATTEMPTS, code_digest_input, email};
use crate::{Email, IdentityError, IdentityTx};

/// Request to sign in by e-mail.
#[derive(Debug, Clone)]
pub struct StartEmailSignIn {
    /// Address of the person.
    pub email: Email,
    /// Language of the e-mail.
    pub locale: Locale,
    /// URL of the link, to which the query parameter `token` is added.
    pub link_base: String,
}

/// Starts a sign-in by e-mail, which replaces an earlier one of the same address, and enqueues the e-mail.
///
/// The response and the work are the same for known and unknown addresses, so that neither reveals who has an account.
///
/// # Errors
/// [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_email_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    vault: &Vault,
    input: StartEmailSignIn,
) -> Result<(), IdentityError> {
    let code = SecretString::from(format!("{:06}", ctx.random().below(1_000_000)));
    let token = token::mint(TokenKind::SignInLink, ctx.random());
    let sign_in = EmailSignIn {
        code: peppers.digest(&code_digest_input(&input.email, code.expose_secret())),
        link: Some(peppers.digest(token.expose_secret())),
        email: input.email,
        attempts_left: MAX_ATTEMPTS,
        expires_at: ctx.now + CODE_LIFETIME,
    };
    tx.upsert_sign_in(&sign_in).await?;
    let link = {
        let separator = if input.link_base.contains('?') { '&' } else { '?' };
        SecretString::from(format!("{}{separator}token={}", input.link_base, token.expose_secret()))
    };
    let content = email::compose(input.locale, code, link).render(sign_in.email.as_str());
    tx.enqueue_email(OutboxEmail::seal(ctx, vault, "sign_in.code", &content, CODE_LIFETIME));
    tx.audit(ctx.audit_entry("sign_in.start"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};

    use super::*;
    use crate::testing::{FakeStore, aru, bek, opened_email, peppers, vault, visitor};

    async fn start(store: &mut FakeStore, ctx: &Context, link_base: &str) -> Result<(), IdentityError> {
        let link_base = link_base.to_owned();
        let input = StartEmailSignIn { email: aru().email, locale: Locale::En, link_base };
        start_email_sign_in(store, ctx, &peppers(), &vault(), input).await
    }

    #[tokio::test]
    async fn a_code_and_a_link_are_mailed_and_only_their_digests_are_stored() {
        let mut store = FakeStore::default();
        start(&mut store, &visitor(), "https://qala.example/sign-in").await.unwrap();

        let [stored] = &store.sign_ins[..] else { panic!("one sign-in") };
        assert_eq!((&stored.email, stored.attempts_left), (&aru().email, MAX_ATTEMPTS));
        assert_eq!(stored.expires_at, at(600_000));
        let [email] = &store.work.emails[..] else { panic!("one e-mail") };
        assert_eq!((email.kind, email.expires_at), ("sign_in.code", at(600_000)));
        let email = opened_email(email);
        assert_eq!(email.to, aru().email.as_str());
        let code = email.text.lines().find_map(|line| line.strip_prefix("    ")).unwrap();
        assert_eq!((code.len(), code.bytes().all(|byte| byte.is_ascii_digit())), (6, true));
        assert!(peppers().verify(&code_digest_input(&aru().email, code), &stored.code));
        assert!(!peppers().verify(&code_digest_input(&bek().email, code), &stored.code));
        let token =
            email.text.lines().find_map(|line| line.strip_prefix("https://qala.example/sign-in?token="));
        assert_eq!(token::detect_kind(token.unwrap()), Some(TokenKind::SignInLink));
        assert_eq!(stored.link, Some(peppers().digest(token.unwrap())));
        store.assert_audited(&[("sign_in.start", &"visitor", &"")]);
        store.assert_not_audited(&[code, token.unwrap(), aru().email.as_str()]);
    }

    #[tokio::test]
    async fn the_token_follows_other_parameters_of_the_link() {
        let mut store = FakeStore::default();
        start(&mut store, &visitor(), "https://qala.example/sign-in?lang=kk").await.unwrap();
        let text = opened_email(&store.work.emails[0]).text;
        assert!(text.contains("https://qala.example/sign-in?lang=kk&token=qsl_"), "{text}");
    }

    #[tokio::test]
    async fn starting_again_replaces_the_earlier_sign_in() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        start(&mut store, &ctx, "https://qala.example/").await.unwrap();
        let first = store.sign_ins[0].clone();
        start(&mut store, &ctx, "https://qala.example/").await.unwrap();

        let [second] = &store.sign_ins[..] else { panic!("one sign-in") };
        assert!(second.code != first.code && second.link != first.link);
        assert_eq!(store.work.emails.len(), 2);
    }

    #[tokio::test]
    async fn a_known_address_and_an_unknown_one_leave_the_same_rows() {
        let (mut known, mut unknown) = (FakeStore::default(), FakeStore::default());
        known.users = vec![aru()];
        for store in [&mut known, &mut unknown] {
            start(store, &visitor(), "https://qala.example/").await.unwrap();
        }
        assert_eq!(known.sign_ins, unknown.sign_ins);
        assert_eq!(known.work.audit, unknown.work.audit);
        assert_eq!(known.work.emails.len(), unknown.work.emails.len());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on_and_nothing_is_mailed() {
        let mut store = FakeStore::unavailable();
        let refused = start(&mut store, &visitor(), "https://qala.example/").await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
        assert!(store.work.emails.is_empty() && store.work.audit.is_empty());
    }
}
