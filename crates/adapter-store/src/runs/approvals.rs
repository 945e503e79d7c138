//! Questions of runs to people.

use ::runs::{
    RunsTx as _,
    approvals::{Approval, ApprovalAnswer, ApprovalState, ApprovalsRead, ApprovalsTx},
    engine::ApprovalQuestion,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{ApprovalId, RunId, UserId, WorkspaceId},
};
use uuid::Uuid;

use super::{
    promote_blocked,
    queue_state::{AWAITING_APPROVAL, CONCURRENCY_BLOCKED, READY},
};
use crate::{
    Store, StoreTx,
    convert::{RowContext, millis, to_json},
    sql::{Sql, SqlRow, column, for_update},
};

/// How many questions one sweep lets expire.
const EXPIRE_CHUNK: u32 = 500;
const SELECT_APPROVALS: &str =
    "SELECT id, workspace_id, app_id, run_id, title, detail, state, expires_at FROM approvals";

fn approval(found: &SqlRow) -> Result<Approval, StoreError> {
    let row = RowContext { table: "approvals", id: column(found, 0)? };
    Ok(Approval {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(column(found, 1)?),
        app: Id::from_uuid(column(found, 2)?),
        run: Id::from_uuid(column(found, 3)?),
        question: ApprovalQuestion { title: column(found, 4)?, detail: column(found, 5)? },
        state: row.parse(&column::<String>(found, 6)?)?,
        expires_at: row.timestamp(column(found, 7)?)?,
    })
}

#[async_trait]
impl ApprovalsRead for Store {
    async fn approvals(&self, workspace: WorkspaceId, run: RunId) -> Result<Vec<Approval>, StoreError> {
        let mut sql = Sql::new(SELECT_APPROVALS);
        sql.push(" WHERE run_id = ").bind(run.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.push(" ORDER BY number");
        sql.fetch_all(self.read()).await?.iter().map(approval).collect()
    }
}

#[async_trait]
impl ApprovalsTx for StoreTx {
    async fn approval_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ApprovalId,
    ) -> Result<Option<Approval>, StoreError> {
        let lock = for_update(sea_orm::ConnectionTrait::get_database_backend(self.read()));
        let mut sql = Sql::new(SELECT_APPROVALS);
        sql.push(" WHERE id = ")
            .bind(id.uuid())
            .push(" AND workspace_id = ")
            .bind(workspace.uuid())
            .push(lock);
        sql.fetch_optional(self.read()).await?.as_ref().map(approval).transpose()
    }

    async fn resolve_approval(
        &mut self,
        approval: &Approval,
        now: Timestamp,
        by: Option<UserId>,
    ) -> Result<(), StoreError> {
        let mut sql = Sql::new("UPDATE approvals SET state = ");
        sql.bind(approval.state.as_str()).push(", decided_at = ").bind(millis(now)).push(", decided_by = ");
        sql.bind(by.map(Id::uuid)).push(" WHERE id = ").bind(approval.id.uuid());
        sql.execute(self.write()).await?;
        // Out of the waiting state first: whoever changes this row goes on alone.
        let mut sql = Sql::new("UPDATE run_queue SET state = ");
        sql.bind(CONCURRENCY_BLOCKED)
            .push(", available_at = ")
            .bind(millis(now))
            .push(" WHERE state = ")
            .bind(AWAITING_APPROVAL);
        sql.push(" AND run_id = ").bind(approval.run.uuid()).push(" RETURNING automation_id");
        let Some(found) = sql.fetch_optional(self.write()).await? else { return Ok(()) };
        let automation: Option<Uuid> = column(&found, 0)?;
        self.add_answer(approval).await?;
        let automation = match automation {
            Some(id) => self.automation_for_update(approval.workspace, Id::from_uuid(id)).await?,
            None => None,
        };
        match automation.filter(|automation| automation.max_concurrency.is_some()) {
            Some(automation) => {
                promote_blocked(self.write(), automation.id, automation.max_concurrency).await?;
            }
            None => {
                let mut sql = Sql::new("UPDATE run_queue SET state = ");
                sql.bind(READY).push(" WHERE run_id = ").bind(approval.run.uuid());
                sql.execute(self.write()).await?;
            }
        }
        self.wake_workers();
        Ok(())
    }
}

impl StoreTx {
    /// Adds an answer to what the run's code is told when it is begun again.
    async fn add_answer(&mut self, approval: &Approval) -> Result<(), StoreError> {
        let row = RowContext { table: "runs", id: approval.run.uuid() };
        let mut sql = Sql::new("SELECT answers FROM runs WHERE id = ");
        sql.bind(row.id);
        let known: Option<String> = match sql.fetch_optional(self.read()).await? {
            Some(found) => column(&found, 0)?,
            None => None,
        };
        let mut answers: Vec<ApprovalAnswer> =
            known.map_or_else(|| Ok(Vec::new()), |known| row.json(&known))?;
        answers.extend(approval.answer());
        let mut sql = Sql::new("UPDATE runs SET status = 'queued', answers = ");
        sql.bind(to_json(&answers)?).push(" WHERE id = ").bind(row.id);
        sql.execute(self.write()).await.map(drop)
    }
}

impl Store {
    /// Tells runs that nobody has answered them in time.
    pub(crate) async fn expire_approvals(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut sql =
            Sql::new("SELECT id, workspace_id FROM approvals WHERE state = 'waiting' AND expires_at <= ");
        sql.bind(millis(now)).push(" ORDER BY expires_at LIMIT ").push(&EXPIRE_CHUNK.to_string());
        for found in sql.fetch_all(self.read()).await? {
            let (id, workspace) = (Id::from_uuid(column(&found, 0)?), Id::from_uuid(column(&found, 1)?));
            let mut tx = self.begin().await?;
            let found = tx.approval_for_update(workspace, id).await?;
            let Some(mut approval) = found.filter(|found| found.state == ApprovalState::Waiting) else {
                continue;
            };
            approval.state = ApprovalState::Expired;
            tx.resolve_approval(&approval, now, None).await?;
            tx.commit_unaudited().await?;
        }
        Ok(())
    }
}
