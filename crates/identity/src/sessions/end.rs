//! Signing out.

use kernel::{Context, StoreError, id::SessionId};

use crate::IdentityTx;

/// Ends a session; ending one that has ended already is no error.
///
/// # Errors
/// What the store says.
pub async fn end_session(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    session: SessionId,
) -> Result<(), StoreError> {
    if tx.delete_session(session).await? {
        tx.audit(ctx.audit_entry("session.end").target(session));
    }
    Ok(())
}
