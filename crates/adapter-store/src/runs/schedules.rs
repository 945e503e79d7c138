//! Schedules, as the worker that fires them sees them, and their occurrences.

use ::runs::{
    Automation, RunsTx as _, Trigger,
    automations::occurrences::{
        NewOccurrence, Occurrence, OccurrencePlan, OccurrenceResult, OccurrencesRead, Overlap, SkipReason,
    },
    ports::ScheduleStore,
    queue::NewRun,
    quota::Admission,
};
use ::workspace::WorkspaceRead as _;
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AutomationId, OccurrenceId, RunId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, OnConflict},
};

use super::{
    held::{held_run, take_over_held_run},
    models,
};
use crate::{
    convert::RowContext,
    entity::{
        automations,
        column::{DbId, DbTime},
        occurrences::{self, OccurrenceOutcome},
        run_queue::{self, QueueState},
    },
    error::OrStoreError as _,
    query,
    sql::statement_chunks,
    store::Store,
    tx::StoreTx,
};

#[span_macros::traced]
#[async_trait]
impl ScheduleStore for Store {
    async fn due_automations(&self, now: Timestamp, limit: u32) -> Result<Vec<Automation>, StoreError> {
        let found = automations::Entity::find()
            .filter(automations::Column::NextRunAt.is_not_null())
            .filter(automations::Column::NextRunAt.lte(DbTime(now)))
            .filter(query::is_live_workspace(Expr::col((
                automations::Entity,
                automations::Column::WorkspaceId,
            ))))
            .order_by_asc(automations::Column::NextRunAt)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(models::automation).collect()
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
        let runs_per_month = workspace.and_then(|workspace| workspace.plan.limits().runs.grace_limit());
        let mut tx = self.begin().await?;
        // Of several nodes, the one that moves the time on starts the runs.
        let moved = automations::Entity::update_many()
            .col_expr(automations::Column::NextRunAt, Expr::value(next.map(DbTime)))
            .filter(automations::Column::Id.eq(DbId(automation.id)))
            .filter(automations::Column::NextRunAt.eq(DbTime(due)))
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
        let held = held_run(&tx, automation).await?;
        let mut newest_held: Option<(usize, Box<NewRun>)> = None;
        let mut rows: Vec<OccurrenceRecord> = Vec::with_capacity(passed.len());
        for occurrence in passed {
            let outcome = match occurrence.plan {
                OccurrencePlan::Skip(reason) => Err(reason),
                OccurrencePlan::Start { .. } if !runnable => Err(SkipReason::NotRunnable),
                OccurrencePlan::Start { .. } if may_start == Some(false) => Err(SkipReason::Overlap),
                OccurrencePlan::Start { run, is_late } => {
                    // An occurrence after a held one takes its place, and does not overtake it.
                    let admission = match (&held, &newest_held) {
                        (None, None) => tx.admit_run(run.workspace, now, runs_per_month).await?,
                        _ => Admission::Hold,
                    };
                    match admission {
                        Admission::Start => {
                            tx.enqueue(&run).await?;
                            may_start = may_start.map(|_| false);
                            Ok((run.id, is_late))
                        }
                        Admission::Hold => {
                            let id = run.id;
                            if let Some((earlier, _)) = newest_held.replace((rows.len(), run)) {
                                rows[earlier].2 = Err(SkipReason::Superseded);
                            }
                            Ok((id, is_late))
                        }
                        Admission::Refuse => Err(SkipReason::QuotaReached),
                    }
                }
            };
            rows.push((occurrence.id, occurrence.due_at, outcome));
        }
        if let Some((index, mut run)) = newest_held {
            if let Some(held) = held {
                take_over_held_run(&mut tx, automation, &held, &run).await?;
                rows[index].2 = rows[index].2.map(|(_, is_late)| (held.run, is_late));
            } else {
                run.is_on_hold = true;
                tx.enqueue(&run).await?;
            }
        }
        insert_occurrences(&mut tx, automation, &rows, now).await?;
        tx.commit_unaudited().await?;
        Ok(true)
    }
}

type OccurrenceRecord = (OccurrenceId, Timestamp, Result<(RunId, bool), SkipReason>);

/// Returns `true` if a run of the automation waits or is at work. One that is held has no say in whether it is taken over.
async fn has_unfinished_run(tx: &StoreTx, automation: &Automation) -> Result<bool, StoreError> {
    let unfinished = run_queue::Entity::find()
        .filter(run_queue::Column::AutomationId.eq(DbId(automation.id)))
        .filter(run_queue::Column::State.ne(QueueState::Held));
    query::exists(unfinished, tx.read()).await
}

/// Inserts occurrences. A clock that was set back comes to times that have one already.
async fn insert_occurrences(
    tx: &mut StoreTx,
    automation: &Automation,
    rows: &[OccurrenceRecord],
    now: Timestamp,
) -> Result<(), StoreError> {
    use occurrences::Column;
    for rows in statement_chunks(rows) {
        let rows = rows.iter().map(|(id, due_at, outcome)| {
            let (outcome, reason, run) = match outcome {
                Ok((run, false)) => (OccurrenceOutcome::Ran, None, Some(*run)),
                Ok((run, true)) => (OccurrenceOutcome::CaughtUp, None, Some(*run)),
                Err(reason) => (OccurrenceOutcome::Skipped, Some(reason.to_string()), None),
            };
            occurrences::ActiveModel {
                id: Set(DbId(*id)),
                automation_id: Set(DbId(automation.id)),
                workspace_id: Set(DbId(automation.workspace)),
                due_at: Set(DbTime(*due_at)),
                outcome: Set(outcome),
                reason: Set(reason),
                run_id: Set(run.map(DbId)),
                recorded_at: Set(DbTime(now)),
            }
        });
        let keep_first = OnConflict::columns([Column::AutomationId, Column::DueAt]).do_nothing().to_owned();
        occurrences::Entity::insert_many(rows)
            .on_conflict(keep_first)
            .exec_without_returning(tx.write())
            .await
            .or_store_error()?;
    }
    Ok(())
}

#[span_macros::traced]
#[async_trait]
impl OccurrencesRead for Store {
    async fn occurrences(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        page: PageRequest,
    ) -> Result<Vec<Occurrence>, StoreError> {
        use occurrences::Column;
        let found = occurrences::Entity::find()
            .filter(Column::AutomationId.eq(DbId(automation)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(occurrence).collect()
    }
}

fn occurrence(model: occurrences::Model) -> Result<Occurrence, StoreError> {
    let row = RowContext::new("occurrences", model.id);
    let outcome = match (model.outcome, model.run_id, model.reason) {
        (OccurrenceOutcome::Ran, Some(run), None) => OccurrenceResult::Ran(run.0),
        (OccurrenceOutcome::CaughtUp, Some(run), None) => OccurrenceResult::CaughtUp(run.0),
        (OccurrenceOutcome::Skipped, None, Some(reason)) => OccurrenceResult::Skipped(reason),
        _ => return Err(row.error("it must have either a run or a reason")),
    };
    Ok(Occurrence { id: model.id.0, due_at: model.due_at.0, outcome, recorded_at: model.recorded_at.0 })
}
