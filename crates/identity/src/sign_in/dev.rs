//! The development sign-in: an address is believed. It exists on a loopback listener only.

use kernel::{Context, token::Peppers};

use super::verify::find_or_add_user;
use crate::{
    Email, IdentityError, IdentityTx,
    sessions::{Arrival, Opened, SignInMethod, open_session},
    user::name_for,
};

/// Signs in whoever says they own `email`.
///
/// # Errors
/// When the name is out of bounds, or what the store says.
pub async fn dev_sign_in<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    email: &Email,
    name: Option<&str>,
    arrival: &Arrival,
) -> Result<Opened, IdentityError> {
    if name.is_some() {
        // For who is known already too: nothing is taken that the description forbids.
        name_for(name, email)?;
    }
    let user = find_or_add_user(tx, ctx, email, name).await?;
    Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Dev, arrival).await?)
}
