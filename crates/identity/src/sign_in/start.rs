//! Asking for a mail that signs in.

use kernel::{
    Context, Locale,
    mail::OutboxEmail,
    token::{self, Peppers, TokenKind},
    vault::Vault,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{CODE_LIFETIME, EmailSignIn, MAX_ATTEMPTS, code_digest_input, email};
use crate::{Email, IdentityError, IdentityTx};

/// Who wants in.
#[derive(Debug, Clone)]
pub struct StartEmailSignIn {
    /// Their address.
    pub email: Email,
    /// The language of the mail.
    pub locale: Locale,
    /// Where the mailed link leads; the token follows as the parameter `token`, after others that are there.
    pub link_base: String,
}

/// Starts a sign-in by e-mail, in place of an earlier one of the same address, and writes the mail.
///
/// Whether the address is known makes no difference, neither to the answer nor to the work done.
///
/// # Errors
/// What the store says.
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
