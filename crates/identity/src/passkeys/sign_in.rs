//! Signing in with a passkey, without saying first who one is.

use kernel::{Context, id::CeremonyId, token::Peppers};
use serde_json::Value;

use super::{
    CeremonyPurpose, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{
    IdentityError, IdentityTx, User,
    ports::PasskeyTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Begins a sign-in.
///
/// # Errors
/// What the store says.
pub async fn start_sign_in(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
) -> Result<(CeremonyId, Value), IdentityError> {
    let challenge = relying_party.sign_in_challenge()?;
    Ok(store_challenge(tx, ctx, CeremonyPurpose::SignIn, challenge).await?)
}

/// Opens a session for who the answer proves. `claimed` is who it says it is, with their passkeys; none when there is
/// no such person. The caller commits in both cases of the inner result.
///
/// # Errors
/// What the store says.
pub async fn finish_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    (relying_party, peppers): (&dyn RelyingParty, &Peppers),
    (ceremony, answer): (CeremonyId, &Value),
    claimed: Option<(User, Vec<Passkey>)>,
    client: &SignInClient,
) -> Result<Result<OpenedSession, IdentityError>, IdentityError> {
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    let Some((user, keys)) = claimed.filter(|_| ceremony.purpose == CeremonyPurpose::SignIn) else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    let used = match relying_party.verify_sign_in(&ceremony.state, answer, &keys) {
        Ok(used) => used,
        Err(refused) => return Ok(Err(refused.into())),
    };
    tx.record_passkey_use(user.id, &used.credential_id, used.credential.as_deref(), ctx.now).await?;
    Ok(Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Passkey, client).await?))
}
