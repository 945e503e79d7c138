//! Proving oneself again with a passkey.

use kernel::{Context, caller::SessionCaller, id::CeremonyId, token::Peppers};
use secrecy::SecretString;
use serde_json::Value;

use super::{Authenticators, Passkey, Purpose, register::begin};
use crate::{IdentityError, IdentityTx, ports::PasskeyTx, sessions::step_up};

/// Begins to step up.
///
/// # Errors
/// When the person has no passkey, or what the store says.
pub async fn start_step_up<T: PasskeyTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    authenticators: &dyn Authenticators,
    caller: &SessionCaller,
    keys: &[Passkey],
) -> Result<(CeremonyId, Value), IdentityError> {
    if keys.is_empty() {
        return Err(IdentityError::NoPasskey);
    }
    let challenge = authenticators.ask_to_step_up(keys)?;
    Ok(begin(tx, ctx, Purpose::StepUp(caller.session), challenge).await?)
}

/// Marks the session as freshly proven; the secret for its cookie is new. The caller commits in both cases of the inner
/// result.
///
/// # Errors
/// What the store says.
pub async fn finish_step_up<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    (authenticators, peppers): (&dyn Authenticators, &Peppers),
    caller: &SessionCaller,
    (ceremony, answer): (CeremonyId, &Value),
    keys: &[Passkey],
) -> Result<Result<SecretString, IdentityError>, IdentityError> {
    let Some(ceremony) = tx.take_ceremony(ceremony, ctx.now).await? else {
        return Ok(Err(IdentityError::CeremonyOver));
    };
    tx.audit(ctx.audit("passkey.answer").target(ceremony.id));
    if ceremony.purpose != Purpose::StepUp(caller.session) {
        return Ok(Err(IdentityError::CeremonyOver));
    }
    let used = match authenticators.check_stepped_up(&ceremony.state, answer, keys) {
        Ok(used) => used,
        Err(refused) => return Ok(Err(refused.into())),
    };
    tx.use_passkey(caller.user, &used.credential_id, used.credential.as_deref(), ctx.now).await?;
    Ok(Ok(step_up(tx, ctx, peppers, caller.session).await?))
}
