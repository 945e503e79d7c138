//! Questions of runs to people.

use ::runs::{
    RunStatus,
    approvals::{Approval, ApprovalAnswer, ApprovalState, ApprovalsRead, ApprovalsTx},
    engine::ApprovalQuestion,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{ApprovalId, RunId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, Select,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    convert::{RowContext, to_json},
    entity::{
        approvals,
        column::{DbId, DbText, DbTime},
        run_queue::{self, QueueState},
        runs,
    },
    error::OrStoreError as _,
    query::{ROW_LOCK, literal},
    queue_sql::promote_blocked_of_locked,
    runs::locked_automation::automation_of_run_for_update,
    store::Store,
    tx::StoreTx,
};

/// Questions that one sweep lets expire; at most.
const EXPIRE_CHUNK: u64 = 500;

impl From<approvals::Model> for Approval {
    fn from(model: approvals::Model) -> Self {
        Self {
            id: model.id.0,
            workspace: model.workspace_id.0,
            app: model.app_id.0,
            run: model.run_id.0,
            question: ApprovalQuestion { title: model.title, detail: model.detail },
            state: model.state.0,
            expires_at: model.expires_at.0,
        }
    }
}

/// Selects the approvals of a workspace.
fn approvals_of(workspace: WorkspaceId) -> Select<approvals::Entity> {
    approvals::Entity::find().filter(approvals::Column::WorkspaceId.eq(DbId(workspace)))
}

#[span_macros::traced]
#[async_trait]
impl ApprovalsRead for Store {
    async fn approvals(&self, workspace: WorkspaceId, run: RunId) -> Result<Vec<Approval>, StoreError> {
        let found = approvals_of(workspace)
            .filter(approvals::Column::RunId.eq(DbId(run)))
            .order_by_asc(approvals::Column::Number)
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Approval::from).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl ApprovalsTx for StoreTx {
    async fn approval_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ApprovalId,
    ) -> Result<Option<Approval>, StoreError> {
        let found = approvals_of(workspace)
            .filter(approvals::Column::Id.eq(DbId(id)))
            .lock(ROW_LOCK)
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(Approval::from))
    }

    async fn resolve_approval(
        &mut self,
        approval: &Approval,
        now: Timestamp,
        by: Option<UserId>,
    ) -> Result<(), StoreError> {
        let decision = approvals::ActiveModel {
            state: Set(DbText(approval.state)),
            decided_at: Set(Some(DbTime(now))),
            decided_by: Set(by.map(DbId)),
            ..Default::default()
        };
        approvals::Entity::update_many()
            .set(decision)
            .filter(approvals::Column::Id.eq(DbId(approval.id)))
            .exec(self.write())
            .await
            .or_store_error()?;
        // Before the queue's row, as everybody locks them.
        let automation = automation_of_run_for_update(self, approval.workspace, approval.run).await?;
        // Out of the waiting state first: whoever changes this row goes on alone.
        let blocked = run_queue::ActiveModel {
            state: Set(QueueState::ConcurrencyBlocked),
            available_at: Set(DbTime(now)),
            ..Default::default()
        };
        let moved = run_queue::Entity::update_many()
            .set(blocked)
            .filter(run_queue::Column::State.eq(QueueState::AwaitingApproval))
            .filter(run_queue::Column::RunId.eq(DbId(approval.run)))
            .exec(self.write())
            .await
            .or_store_error()?;
        if moved.rows_affected == 0 {
            return Ok(());
        }
        self.add_answer(approval).await?;
        match automation.filter(|automation| automation.max_concurrency.is_some()) {
            Some(automation) => {
                promote_blocked_of_locked(self.write(), automation.id).await?;
            }
            None => {
                run_queue::Entity::update_many()
                    .col_expr(run_queue::Column::State, Expr::value(QueueState::Ready))
                    .filter(run_queue::Column::RunId.eq(DbId(approval.run)))
                    .exec(self.write())
                    .await
                    .or_store_error()?;
            }
        }
        self.wake_workers();
        Ok(())
    }
}

/// The answers that a run was given, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "runs::Entity")]
struct AnswersRow {
    answers: Option<String>,
}

impl StoreTx {
    /// Adds an answer to those that the run's code is given when it begins again.
    async fn add_answer(&mut self, approval: &Approval) -> Result<(), StoreError> {
        let row = RowContext::new("runs", approval.run);
        let known = runs::Entity::find_by_id(approval.run)
            .into_partial_model::<AnswersRow>()
            .one(self.read())
            .await
            .or_store_error()?
            .and_then(|known| known.answers);
        let mut answers: Vec<ApprovalAnswer> =
            known.map_or_else(|| Ok(Vec::new()), |known| row.json(&known))?;
        answers.extend(approval.answer());
        let changes = runs::ActiveModel {
            status: Set(DbText(RunStatus::Queued)),
            answers: Set(Some(to_json(&answers)?)),
            ..Default::default()
        };
        runs::Entity::update_many()
            .set(changes)
            .filter(runs::Column::Id.eq(DbId(approval.run)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}

/// An approval that nobody gave in time.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "approvals::Entity")]
struct OverdueRow {
    id: DbId<kind::Approval>,
    workspace_id: DbId<kind::Workspace>,
}

impl Store {
    /// Answers questions that nobody answered in time as expired.
    pub(crate) async fn expire_approvals(&self, now: Timestamp) -> Result<(), StoreError> {
        let state = Expr::col((approvals::Entity, approvals::Column::State));
        let overdue = approvals::Entity::find()
            .filter(state.eq(literal(DbText(ApprovalState::Waiting))))
            .filter(approvals::Column::ExpiresAt.lte(DbTime(now)))
            .order_by_asc(approvals::Column::ExpiresAt)
            .limit(EXPIRE_CHUNK)
            .into_partial_model::<OverdueRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        for found in overdue {
            let mut tx = self.begin().await?;
            let approval = tx.approval_for_update(found.workspace_id.0, found.id.0).await?;
            let Some(mut approval) = approval.filter(|found| found.state == ApprovalState::Waiting) else {
                continue;
            };
            approval.state = ApprovalState::Expired;
            tx.resolve_approval(&approval, now, None).await?;
            tx.commit_unaudited().await?;
        }
        Ok(())
    }
}
