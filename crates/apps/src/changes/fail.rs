//! Recording that a change cannot be made any more.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::ChangeId,
};

use super::{Change, ChangeOutcome, ChangeState, ChangesTx};
use crate::AppError;

/// Records why a change of the caller's cannot be made, such as that a project of its manifest is gone.
///
/// # Errors
/// * [`AppError::ChangeNotFound`] when the caller planned no such change of this app
/// * [`AppError::ChangeNotOpen`] when it was approved before or has expired
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn fail_change(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: ChangeId,
    message: String,
) -> Result<Change, AppError> {
    let (workspace, owner) = (right.member().workspace(), right.member().user());
    let found = tx.change_for_update(workspace, owner, id).await?;
    let mut change = found.filter(|change| change.app == right.app()).ok_or(AppError::ChangeNotFound)?;
    match change.state(ctx.now) {
        ChangeState::Planned => {}
        state => return Err(AppError::ChangeNotOpen(state)),
    }
    let outcome = ChangeOutcome::Failed(message);
    tx.settle_change(id, &outcome).await?;
    let detail = serde_json::json!({ "app": right.app() });
    let entry = ctx.audit_entry("change.fail").workspace(workspace).target(id);
    tx.audit(entry.app(right.app()).detail(detail));
    change.outcome = Some(outcome);
    Ok(change)
}
