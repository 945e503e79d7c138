//! Taking a passkey away.

use kernel::{Context, id::PasskeyId, id::UserId};

use crate::{IdentityError, ports::PasskeyTx, sessions::StepUpProof};

/// Takes away one of the person's passkeys. They prove themselves first: without any passkey nothing would ask for one.
///
/// # Errors
/// [`IdentityError::PasskeyNotFound`] when it is not theirs, or what the store says.
pub async fn delete_passkey(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    _proof: &StepUpProof,
    user: UserId,
    passkey: PasskeyId,
) -> Result<(), IdentityError> {
    if !tx.delete_passkey(user, passkey).await? {
        return Err(IdentityError::PasskeyNotFound);
    }
    tx.audit(ctx.audit_entry("passkey.delete").target(passkey));
    Ok(())
}
