//! Schedules, as the one who starts them sees them, and what became of their moments.

use ::runs::{
    Automation, RunsTx as _, Trigger,
    automations::occurrences::{
        NewOccurrence, Occurrence, OccurrencePlan, OccurrenceResult, OccurrencesRead, Overlap, SkipReason,
    },
    ports::ScheduleStore,
};
use ::workspace::WorkspaceRead as _;
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AutomationId, OccurrenceId, RunId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, sea_query::Expr,
};

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    entity::{automations, occurrences},
    error::OrStoreError as _,
    sql::{Sql, statement_chunks},
};

/// What `occurrences.outcome` says.
const RAN: &str = "ran";
const CAUGHT_UP: &str = "caught_up";
const SKIPPED: &str = "skipped";

#[async_trait]
impl ScheduleStore for Store {
    async fn due_automations(&self, now: Timestamp, limit: u32) -> Result<Vec<Automation>, StoreError> {
        let found = automations::Entity::find()
            .filter(automations::Column::NextRunAt.is_not_null())
            .filter(automations::Column::NextRunAt.lte(millis(now)))
            .order_by_asc(automations::Column::NextRunAt)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(super::automation).collect()
    }

    async fn fire_schedule(
        &self,
        automation: &Automation,
        due: Timestamp,
        passed: Vec<NewOccurrence>,
        next: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let workspace = self.workspace(automation.workspace).await?;
        let runs_per_month = workspace.and_then(|workspace| workspace.plan.limits().runs_per_month);
        let mut tx = self.begin().await?;
        // Whoever moves the moment on is the one who starts the runs.
        let moved = automations::Entity::update_many()
            .col_expr(automations::Column::NextRunAt, Expr::value(next.map(millis)))
            .filter(automations::Column::Id.eq(automation.id.uuid()))
            .filter(automations::Column::NextRunAt.eq(millis(due)))
            .exec(tx.write())
            .await
            .or_store_error()?;
        if moved.rows_affected == 0 {
            return Ok(false);
        }
        let runnable = tx.is_app_runnable(automation.workspace, automation.app).await?;
        let mut may_start = match &automation.trigger {
            Trigger::Schedule(schedule) if schedule.policy().overlap == Overlap::Skip => {
                Some(!has_unfinished_run(&tx, automation).await?)
            }
            _ => None,
        };
        let mut rows = Vec::with_capacity(passed.len());
        for occurrence in passed {
            let outcome = match occurrence.plan {
                OccurrencePlan::Skip(reason) => Err(reason),
                OccurrencePlan::Start { .. } if !runnable => Err(SkipReason::NotRunnable),
                OccurrencePlan::Start { .. } if may_start == Some(false) => Err(SkipReason::Overlap),
                OccurrencePlan::Start { run, is_late } => {
                    if tx.try_consume_quota(run.workspace, now, runs_per_month).await? {
                        tx.enqueue(&run).await?;
                        may_start = may_start.map(|_| false);
                        Ok((run.id, is_late))
                    } else {
                        Err(SkipReason::QuotaReached)
                    }
                }
            };
            rows.push((occurrence.id, occurrence.due_at, outcome));
        }
        insert_occurrences(&mut tx, automation, &rows, now).await?;
        tx.commit_unaudited().await?;
        Ok(true)
    }
}

type OccurrenceRecord = (OccurrenceId, Timestamp, Result<(RunId, bool), SkipReason>);

/// Whether a run of the automation waits or is at work.
async fn has_unfinished_run(tx: &StoreTx, automation: &Automation) -> Result<bool, StoreError> {
    let mut sql = Sql::new("SELECT 1 FROM run_queue WHERE automation_id = ");
    sql.bind(automation.id.uuid()).push(" LIMIT 1");
    Ok(sql.fetch_optional(tx.read()).await?.is_some())
}

/// Writes the ledger. A clock that was set back meets moments that stand there already.
async fn insert_occurrences(
    tx: &mut StoreTx,
    automation: &Automation,
    rows: &[OccurrenceRecord],
    now: Timestamp,
) -> Result<(), StoreError> {
    for rows in statement_chunks(rows) {
        let mut sql = Sql::new(
            "INSERT INTO occurrences (id, automation_id, workspace_id, due_at, outcome, reason, run_id, recorded_at) VALUES ",
        );
        sql.push_values(rows, |sql, (id, due_at, outcome)| {
            let (outcome_name, reason, run) = match outcome {
                Ok((run, false)) => (RAN, None, Some(run.uuid())),
                Ok((run, true)) => (CAUGHT_UP, None, Some(run.uuid())),
                Err(reason) => (SKIPPED, Some(reason.to_string()), None),
            };
            sql.bind(id.uuid()).push(", ").bind(automation.id.uuid()).push(", ");
            sql.bind(automation.workspace.uuid())
                .push(", ")
                .bind(millis(*due_at))
                .push(", ")
                .bind(outcome_name);
            sql.push(", ").bind(reason).push(", ").bind(run).push(", ").bind(millis(now));
        });
        sql.push(" ON CONFLICT (automation_id, due_at) DO NOTHING");
        sql.execute(tx.write()).await?;
    }
    Ok(())
}

#[async_trait]
impl OccurrencesRead for Store {
    async fn occurrences(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        page: PageRequest,
    ) -> Result<Vec<Occurrence>, StoreError> {
        use occurrences::Column;
        let mut select = occurrences::Entity::find()
            .filter(Column::AutomationId.eq(automation.uuid()))
            .filter(Column::WorkspaceId.eq(workspace.uuid()));
        if let Some(after) = page.after {
            select = select.filter(Column::Id.lt(after));
        }
        let found = select
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(occurrence).collect()
    }
}

fn occurrence(model: occurrences::Model) -> Result<Occurrence, StoreError> {
    let row = RowContext { table: "occurrences", id: model.id };
    let outcome = match (model.outcome.as_str(), model.run_id, model.reason) {
        (RAN, Some(run), None) => OccurrenceResult::Ran(Id::from_uuid(run)),
        (CAUGHT_UP, Some(run), None) => OccurrenceResult::CaughtUp(Id::from_uuid(run)),
        (SKIPPED, None, Some(reason)) => OccurrenceResult::Skipped(reason),
        _ => return Err(row.error("it must have either a run or a reason")),
    };
    Ok(Occurrence {
        id: Id::from_uuid(model.id),
        due_at: row.timestamp(model.due_at)?,
        outcome,
        recorded_at: row.timestamp(model.recorded_at)?,
    })
}
