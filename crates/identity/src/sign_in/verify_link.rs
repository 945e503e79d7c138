//! Following the mailed link.

use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};

use super::{AttemptOutcome, find_or_create_user};
use crate::{
    IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Follows a mailed link, given by its token. Looking at the link changes nothing: mail scanners do that.
///
/// # Errors
/// [`IdentityError::InvalidCode`] for a link that is unknown, used or too old, or what the store says.
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
