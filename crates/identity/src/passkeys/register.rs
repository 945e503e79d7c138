//! Making a passkey.

use kernel::{Context, caller::SessionCaller, id::CeremonyId};
use serde_json::Value;

use super::{
    CeremonyPurpose, MAX_PASSKEYS, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{IdentityError, User, ports::PasskeyTx, sessions::StepUpProof, text};

/// Begins to make a passkey. Whoever has one already proves themselves with it first: otherwise a stolen session could
/// make itself one.
///
/// # Errors
/// When the person has too many, or what the store says.
pub async fn start_registration(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    proof: &StepUpProof,
    (user, existing): (&User, &[Passkey]),
) -> Result<(CeremonyId, Value), IdentityError> {
    if existing.len() >= MAX_PASSKEYS {
        return Err(IdentityError::TooManyPasskeys);
    }
    let challenge = relying_party.registration_challenge(user, existing)?;
    store_challenge(tx, ctx, CeremonyPurpose::Register(proof.session()), challenge).await.map_err(Into::into)
}

/// Keeps the passkey that the browser made. The outer result is the store's: a refused answer uses the ceremony up, so
/// the caller commits in both cases.
///
/// # Errors
/// What the store says.
pub async fn finish_registration(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    caller: &SessionCaller,
    (ceremony, answer): (CeremonyId, &Value),
    name: &str,
) -> Result<Result<Passkey, IdentityError>, IdentityError> {
    let name = text::validate_label("name", "must have 1 to 60 printable characters", name, 60)?;
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    if ceremony.purpose != CeremonyPurpose::Register(caller.session) {
        return Ok(Err(IdentityError::InvalidCeremony));
    }
    let made = match relying_party.verify_registration(&ceremony.state, answer) {
        Ok(made) => made,
        Err(refused) => return Ok(Err(refused.into())),
    };
    let passkey = Passkey {
        id: ctx.new_id(),
        user: caller.user,
        name,
        credential_id: made.credential_id,
        credential: made.credential,
        created_at: ctx.now,
        last_used_at: None,
    };
    tx.insert_passkey(&passkey).await?;
    tx.audit(ctx.audit_entry("passkey.create").target(passkey.id));
    Ok(Ok(passkey))
}
