//! Giving back the mailed code or link.

use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};

use super::{AttemptOutcome, code_digest_input};
use crate::{
    Email, IdentityError, IdentityTx, User,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    user::resolve_display_name,
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

/// The person with this address, made when they come for the first time.
pub(crate) async fn find_or_create_user(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    email: &Email,
    name: Option<&str>,
) -> Result<User, IdentityError> {
    if let Some(user) = tx.find_user_by_email(email).await? {
        return Ok(user);
    }
    let user = User {
        id: ctx.new_id(),
        name: resolve_display_name(name, email)?,
        email: email.clone(),
        created_at: ctx.now,
    };
    tx.insert_user(&user).await?;
    let mut entry = ctx.audit_entry("user.create").target(user.id);
    entry.actor = user.id.to_string();
    tx.audit(entry);
    Ok(user)
}
