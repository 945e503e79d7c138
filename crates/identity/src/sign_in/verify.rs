//! Giving back the mailed code.

use kernel::{Context, token::Peppers};

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
