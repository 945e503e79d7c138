//! Giving back the mailed code or link.

use kernel::{
    Context,
    token::{self, Digest, Peppers, TokenKind},
};

use super::{Attempt, code_input};
use crate::{
    Email, IdentityError, IdentityTx, User,
    sessions::{Arrival, Opened, SignInMethod, open_session},
    user::name_for,
};

/// Tries a code. The outer result is the store's; the inner one, once committed, is the person's.
///
/// A wrong code changes state too (one try less), so the caller commits in both cases.
///
/// # Errors
/// What the store says.
pub async fn verify_email_sign_in<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    email: &Email,
    code: &str,
    arrival: &Arrival,
) -> Result<Result<Opened, IdentityError>, IdentityError> {
    let Some(sign_in) = tx.sign_in(email).await? else {
        return Ok(Err(IdentityError::WrongCode));
    };
    let matches = peppers.matches(&code_input(email, code), &sign_in.code);
    match sign_in.attempt(matches, ctx.now) {
        Attempt::Accepted => {
            tx.delete_sign_in(email).await?;
            let user = find_or_add_user(tx, ctx, email, None).await?;
            Ok(Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Email, arrival).await?))
        }
        Attempt::Wrong(sign_in) => {
            tx.put_sign_in(&sign_in).await?;
            tx.audit(ctx.audit("sign_in.wrong_code"));
            Ok(Err(IdentityError::WrongCode))
        }
        Attempt::Over => {
            tx.delete_sign_in(email).await?;
            tx.audit(ctx.audit("sign_in.over"));
            Ok(Err(IdentityError::WrongCode))
        }
    }
}

/// Follows a mailed link, given by its token. Looking at the link changes nothing: mail scanners do that.
///
/// # Errors
/// [`IdentityError::WrongCode`] for a link that is unknown, used or too old, or what the store says.
pub async fn verify_email_link<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    token: &str,
    arrival: &Arrival,
) -> Result<Opened, IdentityError> {
    if token::recognize(token) != Some(TokenKind::SignInLink) {
        return Err(IdentityError::WrongCode);
    }
    let digests: Vec<Digest> = peppers.candidates(token).collect();
    let sign_in = tx.sign_in_by_link(&digests).await?.ok_or(IdentityError::WrongCode)?;
    if sign_in.clone().attempt(true, ctx.now) != Attempt::Accepted {
        return Err(IdentityError::WrongCode);
    }
    tx.delete_sign_in(&sign_in.email).await?;
    let user = find_or_add_user(tx, ctx, &sign_in.email, None).await?;
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Email, arrival).await?)
}

/// The person with this address, made when they come for the first time.
pub(crate) async fn find_or_add_user<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    email: &Email,
    name: Option<&str>,
) -> Result<User, IdentityError> {
    if let Some(user) = tx.user_by_email(email).await? {
        return Ok(user);
    }
    let user = User { id: ctx.id(), name: name_for(name, email)?, email: email.clone(), created_at: ctx.now };
    tx.insert_user(&user).await?;
    let mut entry = ctx.audit("user.create").target(user.id);
    entry.actor = user.id.to_string();
    tx.audit(entry);
    Ok(user)
}
