//! What all ceremonies share: a challenge is kept, and taken out of the store once.

use kernel::{Context, StoreError, id::CeremonyId};
use serde_json::Value;

use super::{CEREMONY_LIFETIME, Ceremony, CeremonyChallenge, CeremonyPurpose};
use crate::ports::PasskeyTx;

/// Keeps a challenge until it is answered.
pub(super) async fn store_challenge(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    purpose: CeremonyPurpose,
    challenge: CeremonyChallenge,
) -> Result<(CeremonyId, Value), StoreError> {
    let ceremony = Ceremony {
        id: ctx.new_id(),
        purpose,
        state: challenge.state,
        expires_at: ctx.now + CEREMONY_LIFETIME,
    };
    tx.insert_ceremony(&ceremony).await?;
    tx.audit(ctx.audit_entry("passkey.ask").target(ceremony.id));
    Ok((ceremony.id, challenge.options))
}

/// Takes a ceremony out of the store, so that it is answered once; none when there is none of this id any more.
pub(super) async fn consume_ceremony(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    id: CeremonyId,
) -> Result<Option<Ceremony>, StoreError> {
    let ceremony = tx.consume_ceremony(id, ctx.now).await?;
    if let Some(ceremony) = &ceremony {
        tx.audit(ctx.audit_entry("passkey.answer").target(ceremony.id));
    }
    Ok(ceremony)
}
