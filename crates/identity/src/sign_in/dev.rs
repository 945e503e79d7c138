//! The development sign-in: an address is believed. It exists on a loopback listener only.

use kernel::{Context, token::Peppers};

use super::find_or_create_user;
use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
    user::resolve_display_name,
};

/// Signs in whoever says they own `email`.
///
/// # Errors
/// When the name is out of bounds, or what the store says.
pub async fn dev_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    email: &Email,
    name: Option<&str>,
    client: &SignInClient,
) -> Result<OpenedSession, IdentityError> {
    if name.is_some() {
        // For who is known already too: nothing is taken that the description forbids.
        resolve_display_name(name, email)?;
    }
    let user = find_or_create_user(tx, ctx, email, name).await?;
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Dev, client).await?)
}
