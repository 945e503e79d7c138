//! Answering a question of a run.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{ApprovalId, RunId},
};

use super::{Approval, ApprovalState};
use crate::{RunsError, ports::ApprovalsTx};

/// Answers a question, and lets its run go on.
///
/// # Errors
/// When there is no such question of this run of the app, it was answered already or is too old, or what the store says.
pub async fn decide_approval(
    tx: &mut dyn ApprovalsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    run: RunId,
    id: ApprovalId,
    approved: bool,
) -> Result<Approval, RunsError> {
    let workspace = right.member().workspace();
    let found = tx.approval_for_update(workspace, id).await?;
    let mut approval = found
        .filter(|found| found.app == right.app() && found.run == run)
        .ok_or(RunsError::ApprovalNotFound)?;
    if approval.state != ApprovalState::Waiting || approval.expires_at <= ctx.now {
        return Err(RunsError::ApprovalResolved);
    }
    approval.state = if approved { ApprovalState::Approved } else { ApprovalState::Refused };
    tx.resolve_approval(&approval, ctx.now, Some(right.member().user())).await?;
    let action = if approved { "approval.approve" } else { "approval.refuse" };
    let detail = serde_json::json!({ "run": approval.run });
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(id).detail(detail));
    Ok(approval)
}
