//! Answering a question of a run.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{ApprovalId, RunId},
};

use super::{Approval, ApprovalState};
use crate::{RunsError, ports::ApprovalsTx};

/// Answers a question, and lets its run continue.
///
/// # Errors
/// * [`RunsError::ApprovalNotFound`] when this run of the app has no such question
/// * [`RunsError::ApprovalResolved`] when it was decided before, or has expired
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(id).app(right.app()).detail(detail));
    Ok(approval)
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};
    use serde_json::json;

    use super::*;
    use crate::{
        engine::ApprovalQuestion,
        testing::{
            FakeTx, app, assert_audited, assert_store_failed, assert_untouched, can_edit, editor_context,
            editor_id, workspace,
        },
    };

    fn waiting() -> Approval {
        Approval {
            id: id(20),
            workspace: workspace(),
            app: app(),
            run: id(30),
            question: ApprovalQuestion { title: "Pay 500?".to_owned(), detail: Some("Invoice 7".to_owned()) },
            state: ApprovalState::Waiting,
            expires_at: at(60_001),
        }
    }

    fn holding(approval: Approval) -> FakeTx {
        FakeTx { approvals: vec![approval], ..FakeTx::default() }
    }

    async fn decide(tx: &mut FakeTx, approved: bool) -> Result<Approval, RunsError> {
        let ctx = editor_context();
        decide_approval(tx, &ctx, &can_edit(&ctx), id(30), id(20), approved).await
    }

    #[tokio::test]
    async fn an_answer_is_kept_and_lets_the_run_continue() {
        for (approved, state, action) in [
            (true, ApprovalState::Approved, "approval.approve"),
            (false, ApprovalState::Refused, "approval.refuse"),
        ] {
            let mut tx = holding(waiting());
            let decided = decide(&mut tx, approved).await.unwrap();
            assert_eq!(decided, Approval { state, ..waiting() });
            assert_eq!(tx.approvals, [decided]);
            assert_eq!(tx.resumed, [(id(30), at(60_000), Some(editor_id()))]);
            assert_audited(
                &tx.work,
                action,
                tx.approvals[0].id,
                Some(&json!({ "run": tx.approvals[0].run })),
            );
        }
    }

    #[tokio::test]
    async fn only_the_first_of_two_answers_counts() {
        let mut tx = holding(waiting());
        decide(&mut tx, false).await.unwrap();
        let second = decide(&mut tx, true).await;
        assert!(matches!(second, Err(RunsError::ApprovalResolved)), "{second:?}");
        assert_eq!(tx.approvals[0].state, ApprovalState::Refused);
        assert_eq!((tx.resumed.len(), tx.work.audited_actions()), (1, vec!["approval.refuse"]));
    }

    #[tokio::test]
    async fn an_expired_question_is_not_answered() {
        for late in [
            Approval { expires_at: at(60_000), ..waiting() },
            Approval { state: ApprovalState::Expired, ..waiting() },
        ] {
            let mut tx = holding(late.clone());
            let refused = decide(&mut tx, true).await;
            assert!(matches!(refused, Err(RunsError::ApprovalResolved)), "{refused:?}");
            assert_eq!(tx.approvals, [late]);
            assert!(tx.resumed.is_empty());
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_question_of_another_run_app_or_workspace_is_not_found() {
        for foreign in [
            Approval { run: id(31), ..waiting() },
            Approval { app: id(9), ..waiting() },
            Approval { workspace: id(9), ..waiting() },
            Approval { id: id(21), ..waiting() },
        ] {
            let mut tx = holding(foreign.clone());
            let refused = decide(&mut tx, true).await;
            assert!(matches!(refused, Err(RunsError::ApprovalNotFound)), "{refused:?}");
            assert_eq!(tx.approvals, [foreign]);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&decide(&mut FakeTx::unavailable(), true).await);
    }
}
