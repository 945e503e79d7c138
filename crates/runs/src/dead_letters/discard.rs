//! Discarding a dead letter.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::DeadLetterId,
};

use super::get_open::get_open_dead_letter;
use crate::{RunsError, ports::DeadLettersTx};

/// Gives an open letter up.
///
/// # Errors
/// When it is gone or settled, or what the store says.
pub async fn discard_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(), RunsError> {
    get_open_dead_letter(tx, right, id).await?;
    let workspace = right.member().workspace();
    tx.resolve_dead_letter(workspace, id, ctx.now, ctx.caller.user(), None).await?;
    tx.audit(ctx.audit_entry("dead_letter.discard").workspace(workspace).target(id));
    Ok(())
}
