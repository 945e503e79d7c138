//! Taking all passkeys off a person who lost theirs.

use kernel::{Context, StoreError, id::UserId};

use crate::ports::PasskeyTx;

/// What was taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyReset {
    /// How many passkeys.
    pub passkeys: u64,
    /// How many sessions ended.
    pub sessions: u64,
}

/// Takes away all passkeys of a person and ends their sessions, as whoever runs the machine does for somebody whose
/// device is gone. They can sign in by mail as before, and then nothing asks them for a passkey. Nobody but the
/// operator can do this: it takes the second proof away.
///
/// # Errors
/// What the store says.
pub async fn reset_passkeys(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    user: UserId,
) -> Result<PasskeyReset, StoreError> {
    let passkeys = tx.delete_passkeys_of(user).await?;
    // Whoever has the device may also have a session that it opened.
    let sessions = tx.delete_sessions_of(user, None).await?;
    let detail = serde_json::json!({ "passkeys": passkeys, "sessions": sessions });
    tx.audit(ctx.audit_entry("passkey.take_off").target(user).detail(detail));
    Ok(PasskeyReset { passkeys, sessions })
}
