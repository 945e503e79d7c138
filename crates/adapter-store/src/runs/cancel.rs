//! The end of a run that a person cancels.

use ::runs::{
    RunStatus,
    approvals::ApprovalState,
    runs::{CANCELLED, Cancellation},
};
use kernel::StoreError;
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _, Select,
    sea_query::{Expr, Func},
};

use crate::{
    entity::{
        approvals,
        column::{DbId, DbText, DbTime},
        run_queue, runs,
    },
    error::OrStoreError as _,
    query::ROW_LOCK,
    queue_sql::promote_blocked_of_locked,
    runs::locked_automation::automation_of_run_for_update,
    tx::StoreTx,
};

/// Takes a run out of the queue and ends it. Returns false if the queue no longer has it.
pub(super) async fn cancel_run(tx: &mut StoreTx, cancellation: &Cancellation) -> Result<bool, StoreError> {
    let Cancellation { workspace, run, at, by } = *cancellation;
    // Questions, the automation and then the queue's row, as everybody locks them.
    waiting_approvals(cancellation).lock(ROW_LOCK).all(tx.read()).await.or_store_error()?;
    let automation = automation_of_run_for_update(tx, workspace, run).await?;
    // Whoever takes the row ends the run: another cancellation, or the node that executes it.
    let taken = run_queue::Entity::delete_many()
        .filter(run_queue::Column::RunId.eq(DbId(run)))
        .filter(run_queue::Column::WorkspaceId.eq(DbId(workspace)))
        .exec(tx.conditional_write())
        .await
        .or_store_error()?;
    if taken.rows_affected == 0 {
        return Ok(false);
    }
    let started_at = Func::coalesce([Expr::col(runs::Column::StartedAt), Expr::val(DbTime(at))]);
    let end = runs::ActiveModel {
        status: Set(DbText(RunStatus::Failed)),
        finished_at: Set(Some(DbTime(at))),
        error_code: Set(Some(CANCELLED.to_owned())),
        error_message: Set(Some("The run was cancelled.".to_owned())),
        cancelled_by: Set(Some(DbId(by))),
        ..Default::default()
    };
    runs::Entity::update_many()
        .set(end)
        .col_expr(runs::Column::StartedAt, started_at.into())
        .filter(runs::Column::Id.eq(DbId(run)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    let expired = approvals::ActiveModel {
        state: Set(DbText(ApprovalState::Expired)),
        decided_at: Set(Some(DbTime(at))),
        ..Default::default()
    };
    approvals::Entity::update_many()
        .set(expired)
        .filter(approvals::Column::RunId.eq(DbId(run)))
        .filter(approvals::Column::State.eq(DbText(ApprovalState::Waiting)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    if let Some(automation) = automation {
        promote_blocked_of_locked(tx.write(), automation.id).await?;
    }
    tx.stop_lost_runs();
    tx.wake_workers();
    Ok(true)
}

/// Selects the unanswered questions of a run.
fn waiting_approvals(cancellation: &Cancellation) -> Select<approvals::Entity> {
    approvals::Entity::find()
        .filter(approvals::Column::WorkspaceId.eq(DbId(cancellation.workspace)))
        .filter(approvals::Column::RunId.eq(DbId(cancellation.run)))
        .filter(approvals::Column::State.eq(DbText(ApprovalState::Waiting)))
}
