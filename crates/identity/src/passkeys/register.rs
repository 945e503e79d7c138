//! Making a passkey.

use kernel::{Context, StoreError, caller::SessionCaller, id::CeremonyId};
use serde_json::Value;

use super::{Authenticators, CEREMONY_LIFETIME, Ceremony, Challenge, MAX_PASSKEYS, Passkey, Purpose};
use crate::{IdentityError, User, ports::PasskeyTx, sessions::Fresh, text};

/// Begins to make a passkey. Whoever has one already proves themselves with it first: otherwise a stolen session could
/// make itself one.
///
/// # Errors
/// When the person has too many, or what the store says.
pub async fn start_registration<T: PasskeyTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    authenticators: &dyn Authenticators,
    fresh: &Fresh,
    (user, existing): (&User, &[Passkey]),
) -> Result<(CeremonyId, Value), IdentityError> {
    if existing.len() >= MAX_PASSKEYS {
        return Err(IdentityError::TooManyPasskeys);
    }
    let challenge = authenticators.ask_to_register(user, existing)?;
    begin(tx, ctx, Purpose::Register(fresh.session()), challenge).await.map_err(Into::into)
}

/// Keeps a challenge until it is answered.
pub(super) async fn begin<T: PasskeyTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    purpose: Purpose,
    challenge: Challenge,
) -> Result<(CeremonyId, Value), StoreError> {
    let ceremony =
        Ceremony { id: ctx.id(), purpose, state: challenge.state, expires_at: ctx.now + CEREMONY_LIFETIME };
    tx.insert_ceremony(&ceremony).await?;
    tx.audit(ctx.audit("passkey.ask").target(ceremony.id));
    Ok((ceremony.id, challenge.options))
}

/// Keeps the passkey that the browser made. The outer result is the store's: a refused answer uses the ceremony up, so
/// the caller commits in both cases.
///
/// # Errors
/// What the store says.
pub async fn finish_registration<T: PasskeyTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    authenticators: &dyn Authenticators,
    caller: &SessionCaller,
    (ceremony, answer): (CeremonyId, &Value),
    name: &str,
) -> Result<Result<Passkey, IdentityError>, IdentityError> {
    let name = text::label("name", "must have 1 to 60 printable characters", name, 60)?;
    let Some(ceremony) = tx.take_ceremony(ceremony, ctx.now).await? else {
        return Ok(Err(IdentityError::CeremonyOver));
    };
    tx.audit(ctx.audit("passkey.answer").target(ceremony.id));
    if ceremony.purpose != Purpose::Register(caller.session) {
        return Ok(Err(IdentityError::CeremonyOver));
    }
    let made = match authenticators.check_registered(&ceremony.state, answer) {
        Ok(made) => made,
        Err(refused) => return Ok(Err(refused.into())),
    };
    let passkey = Passkey {
        id: ctx.id(),
        user: caller.user,
        name,
        credential_id: made.credential_id,
        credential: made.credential,
        created_at: ctx.now,
        last_used_at: None,
    };
    tx.insert_passkey(&passkey).await?;
    tx.audit(ctx.audit("passkey.create").target(passkey.id));
    Ok(Ok(passkey))
}
