//! Signing out.

use kernel::{Context, StoreError, caller::SessionCaller, id::SessionId};

use crate::{IdentityError, IdentityTx, ports::SessionTx};

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

/// Ends the person's sessions everywhere else, or everywhere; how many there were.
///
/// # Errors
/// What the store says.
pub async fn end_other_sessions(
    tx: &mut dyn SessionTx,
    ctx: &Context,
    caller: &SessionCaller,
    include_current: bool,
) -> Result<u64, IdentityError> {
    let keep = (!include_current).then_some(caller.session);
    let ended = tx.delete_sessions_of(caller.user, keep).await?;
    tx.audit(
        ctx.audit_entry("session.end_all").target(caller.user).detail(serde_json::json!({ "ended": ended })),
    );
    Ok(ended)
}
