//! Signing in with a passkey, without saying first who one is.

use kernel::{Context, id::CeremonyId, token::Peppers};
use serde_json::Value;

use super::{Authenticators, Passkey, Purpose, register::begin};
use crate::{
    IdentityError, IdentityTx, User,
    ports::PasskeyTx,
    sessions::{Arrival, Opened, SignInMethod, open_session},
};

/// Begins a sign-in.
///
/// # Errors
/// What the store says.
pub async fn start_sign_in<T: PasskeyTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    authenticators: &dyn Authenticators,
) -> Result<(CeremonyId, Value), IdentityError> {
    let challenge = authenticators.ask_to_sign_in()?;
    Ok(begin(tx, ctx, Purpose::SignIn, challenge).await?)
}

/// Opens a session for who the answer proves. `claimed` is who it says it is, with their passkeys; none when there is
/// no such person. The caller commits in both cases of the inner result.
///
/// # Errors
/// What the store says.
pub async fn finish_sign_in<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    (authenticators, peppers): (&dyn Authenticators, &Peppers),
    (ceremony, answer): (CeremonyId, &Value),
    claimed: Option<(User, Vec<Passkey>)>,
    arrival: &Arrival,
) -> Result<Result<Opened, IdentityError>, IdentityError> {
    let Some(ceremony) = tx.take_ceremony(ceremony, ctx.now).await? else {
        return Ok(Err(IdentityError::CeremonyOver));
    };
    tx.audit(ctx.audit("passkey.answer").target(ceremony.id));
    let Some((user, keys)) = claimed.filter(|_| ceremony.purpose == Purpose::SignIn) else {
        return Ok(Err(IdentityError::CeremonyOver));
    };
    let used = match authenticators.check_signed_in(&ceremony.state, answer, &keys) {
        Ok(used) => used,
        Err(refused) => return Ok(Err(refused.into())),
    };
    tx.use_passkey(user.id, &used.credential_id, used.credential.as_deref(), ctx.now).await?;
    Ok(Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Passkey, arrival).await?))
}
