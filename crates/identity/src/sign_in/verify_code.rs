//! Giving back the mailed code.

use kernel::{Context, token::Peppers};

use super::{AttemptOutcome, code_digest_input, find_or_create_user};
use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Tries a code. The outer result is the store's; the inner one, once committed, is the person's.
///
/// A wrong code changes state too (one try less), so the caller commits in both cases.
///
/// # Errors
/// What the store says.
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
