//! Ending a person's other sessions, or all of them.

use kernel::{Context, caller::SessionCaller};

use crate::{IdentityError, ports::SessionTx};

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
