//! Ending one of a person's sessions from another.

use kernel::{Context, caller::SessionCaller, id::SessionId};

use crate::{IdentityError, ports::SessionTx};

/// Ends one of the person's own sessions.
///
/// # Errors
/// [`IdentityError::SessionNotFound`] when it is not theirs, or what the store says.
pub async fn end_one_session(
    tx: &mut dyn SessionTx,
    ctx: &Context,
    caller: &SessionCaller,
    session: SessionId,
) -> Result<(), IdentityError> {
    if !tx.delete_session_of(caller.user, session).await? {
        return Err(IdentityError::SessionNotFound);
    }
    tx.audit(ctx.audit_entry("session.end").target(session));
    Ok(())
}
