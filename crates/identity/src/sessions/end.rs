//! Signing out.

use kernel::{Context, StoreError, id::SessionId};

use crate::IdentityTx;

/// Ends a session; ending one that has ended already is no error.
///
/// # Errors
/// What the store says.
pub async fn end_session<T: IdentityTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    session: SessionId,
) -> Result<(), StoreError> {
    if tx.delete_session(session).await? {
        tx.audit(ctx.audit("session.end").target(session));
    }
    Ok(())
}
