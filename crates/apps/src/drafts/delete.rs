//! Deleting a draft.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use super::DraftsTx;
use crate::AppError;

/// Deletes the caller's draft of an app.
///
/// # Errors
/// * [`AppError::DraftNotFound`] when there is none
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_draft(
    tx: &mut dyn DraftsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
) -> Result<(), AppError> {
    let member = right.member();
    if !tx.delete_draft(member.workspace(), right.app(), member.user()).await? {
        return Err(AppError::DraftNotFound);
    }
    let entry = ctx.audit_entry("draft.delete").workspace(member.workspace()).target(right.app());
    tx.audit(entry.app(right.app()));
    Ok(())
}
