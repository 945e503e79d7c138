//! Taking an app away.

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
};

use crate::AppsTx;

/// Takes an app away, with its automations and what they still had queued; its runs and logs stay as a record.
///
/// # Errors
/// What the store says.
pub async fn delete_app(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
) -> Result<(), StoreError> {
    let workspace = right.member().workspace();
    tx.delete_app(workspace, right.app(), ctx.now).await?;
    tx.audit(ctx.audit_entry("app.delete").workspace(workspace).target(right.app()));
    Ok(())
}
