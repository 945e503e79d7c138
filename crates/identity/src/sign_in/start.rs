//! Asking for a code.

use kernel::{Context, token::Peppers};
use secrecy::{ExposeSecret as _, SecretString};

use super::{CODE_LIFETIME, EmailSignIn, TRIES, code_input};
use crate::{Email, IdentityError, IdentityTx};

/// A six-digit code on its way into a mail.
#[derive(Debug)]
pub struct Code(pub SecretString);

/// Starts a sign-in by e-mail, in place of an earlier one of the same address.
///
/// Whether the address is known makes no difference, neither to the answer nor to the work done.
///
/// # Errors
/// What the store says.
pub async fn start_email_sign_in<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    email: Email,
) -> Result<Code, IdentityError> {
    let code = SecretString::from(format!("{:06}", ctx.random().below(1_000_000)));
    let sign_in = EmailSignIn {
        code: peppers.digest(&code_input(&email, code.expose_secret())),
        email,
        tries_left: TRIES,
        expires_at: ctx.now + CODE_LIFETIME,
    };
    tx.put_sign_in(&sign_in).await?;
    tx.audit(ctx.audit("sign_in.start"));
    Ok(Code(code))
}
