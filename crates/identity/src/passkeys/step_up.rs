//! Proving oneself again with a passkey.

use kernel::{Context, caller::SessionCaller, id::CeremonyId, token::Peppers};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    CeremonyPurpose, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{IdentityError, ports::PasskeyTx, sessions::step_up};

/// Begins to step up.
///
/// # Errors
/// When the person has no passkey, or what the store says.
pub async fn start_step_up(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    caller: &SessionCaller,
    keys: &[Passkey],
) -> Result<(CeremonyId, Value), IdentityError> {
    if keys.is_empty() {
        return Err(IdentityError::NoPasskey);
    }
    let challenge = relying_party.step_up_challenge(keys)?;
    Ok(store_challenge(tx, ctx, CeremonyPurpose::StepUp(caller.session), challenge).await?)
}

/// Marks the session as freshly proven; the secret for its cookie is new. The caller commits in both cases of the inner
/// result.
///
/// # Errors
/// What the store says.
pub async fn finish_step_up(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    (relying_party, peppers): (&dyn RelyingParty, &Peppers),
    caller: &SessionCaller,
    (ceremony, answer): (CeremonyId, &Value),
    keys: &[Passkey],
) -> Result<Result<SecretString, IdentityError>, IdentityError> {
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    if ceremony.purpose != CeremonyPurpose::StepUp(caller.session) {
        return Ok(Err(IdentityError::InvalidCeremony));
    }
    let used = match relying_party.verify_step_up(&ceremony.state, answer, keys) {
        Ok(used) => used,
        Err(refused) => return Ok(Err(refused.into())),
    };
    tx.record_passkey_use(caller.user, &used.credential_id, used.credential.as_deref(), ctx.now).await?;
    Ok(Ok(step_up(tx, ctx, peppers, caller.session).await?))
}
