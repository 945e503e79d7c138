//! Runs that wait because their workspace's runs of the month were used up.

use std::collections::BTreeSet;

use ::runs::{
    Automation, TriggerKind,
    automations::occurrences::SkipReason,
    queue::NewRun,
    quota::{HeldRunsStore, QUOTA_REACHED},
};
use ::workspace::WorkspaceRead as _;
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, AutomationId, RunId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, Select,
    sea_query::{Expr, ExprTrait as _},
};

use super::write::{WaitingRunsEnd, fail_waiting_runs};
use crate::{
    entity::{
        column::{DbId, DbText, DbTime},
        occurrences::{self, OccurrenceOutcome},
        run_queue::{self, QueueState},
        runs,
    },
    error::OrStoreError as _,
    group_commit::quota,
    query::{self, ROW_LOCK, literal},
    queue_sql::{lock_automations, promote_blocked_of_locked},
    store::Store,
    tx::StoreTx,
};

/// Runs that one transaction releases or drops, at most.
const CHUNK_ROWS: u64 = 100;

#[span_macros::traced]
#[async_trait]
impl HeldRunsStore for Store {
    async fn workspaces_with_held_runs(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let workspace = Expr::col((run_queue::Entity, run_queue::Column::WorkspaceId));
        let waiting = select_held()
            .filter(query::is_live_workspace(workspace))
            .select_only()
            .column(run_queue::Column::WorkspaceId)
            .distinct();
        let found: Vec<DbId<kernel::id::kind::Workspace>> =
            waiting.into_tuple().all(self.read()).await.or_store_error()?;
        Ok(found.into_iter().map(DbId::into_inner).collect())
    }

    async fn release_held_runs(&self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let Some(limits) = self.workspace(workspace).await?.map(|workspace| workspace.plan.limits()) else {
            return Ok(0);
        };
        let mut tx = self.begin().await?;
        let oldest = held_of(workspace).order_by_asc(run_queue::Column::RunId).limit(CHUNK_ROWS);
        let oldest: Vec<HeldEntry> = oldest.into_partial_model().all(tx.read()).await.or_store_error()?;
        let automations: BTreeSet<AutomationId> =
            oldest.iter().filter_map(|entry| entry.automation_id).map(DbId::into_inner).collect();
        lock_automations(tx.read(), &automations).await?;
        // Locked, so that no other node counts the same runs.
        let oldest = held_of(workspace)
            .filter(run_queue::Column::RunId.is_in(oldest.iter().map(|entry| entry.run_id)))
            .order_by_asc(run_queue::Column::RunId)
            .lock(ROW_LOCK);
        let mut oldest: Vec<RunId> = query::ids(oldest, run_queue::Column::RunId, tx.read()).await?;
        let (wanted, limit) = (oldest.len() as u64, limits.runs.grace_limit());
        let admitted = quota::consume(tx.conditional_write(), workspace, now, wanted, limit).await?;
        if admitted == 0 {
            return Ok(0);
        }
        tx.mark_written();
        oldest.truncate(usize::try_from(admitted).unwrap_or(usize::MAX));
        let released = release(&mut tx, workspace, &oldest).await?;
        tx.commit_unaudited().await?;
        Ok(released)
    }

    async fn drop_held_runs(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let expired =
            held_of(workspace).filter(run_queue::Column::AvailableAt.lte(DbTime(before))).limit(CHUNK_ROWS);
        let expired: Vec<RunId> = query::ids(expired, run_queue::Column::RunId, tx.read()).await?;
        if expired.is_empty() {
            return Ok(0);
        }
        // First out of the queue, so that nobody releases a run that is about to end.
        let dropped = run_queue::Entity::delete_many()
            .filter(run_queue::Column::RunId.is_in(expired.into_iter().map(DbId)))
            .filter(run_queue::Column::State.eq(QueueState::Held))
            .exec_with_returning(tx.write())
            .await
            .or_store_error()?;
        let dropped: Vec<DbId<kernel::id::kind::Run>> =
            dropped.into_iter().map(|entry| entry.run_id).collect();
        let of_apps = runs::Entity::find()
            .filter(runs::Column::Id.is_in(dropped))
            .select_only()
            .columns([runs::Column::Id, runs::Column::AppId]);
        let of_apps: Vec<(DbId<kernel::id::kind::Run>, DbId<kernel::id::kind::App>)> =
            of_apps.into_tuple().all(tx.read()).await.or_store_error()?;
        let dropped: Vec<(RunId, AppId)> = of_apps.into_iter().map(|(run, app)| (run.0, app.0)).collect();
        let end = WaitingRunsEnd {
            workspace,
            code: QUOTA_REACHED,
            message: "The runs of the month were used up, and the run waited for seven days.",
            at: now,
        };
        fail_waiting_runs(&mut tx, &end, &dropped).await?;
        tx.commit_unaudited().await?;
        Ok(u64::try_from(dropped.len()).unwrap_or(u64::MAX))
    }
}

fn select_held() -> Select<run_queue::Entity> {
    let state = Expr::col((run_queue::Entity, run_queue::Column::State));
    run_queue::Entity::find()
        // As the partial index has it.
        .filter(state.eq(literal(QueueState::Held)))
}

fn held_of(workspace: WorkspaceId) -> Select<run_queue::Entity> {
    select_held().filter(run_queue::Column::WorkspaceId.eq(DbId(workspace)))
}

/// Makes held runs ready, or lets them wait for the concurrency limit of their automation, which is locked.
async fn release(tx: &mut StoreTx, workspace: WorkspaceId, held: &[RunId]) -> Result<u64, StoreError> {
    use run_queue::Column;
    let limited = super::write::select_limited_automations(workspace);
    let released_state =
        Expr::case(Expr::col(Column::AutomationId).in_subquery(limited), QueueState::ConcurrencyBlocked)
            .finally(QueueState::Ready);
    let released = run_queue::Entity::update_many()
        .col_expr(Column::State, Expr::Case(Box::new(released_state)))
        .filter(Column::RunId.is_in(held.iter().copied().map(DbId)))
        .filter(Column::State.eq(QueueState::Held))
        .exec_with_returning(tx.write())
        .await
        .or_store_error()?;
    let limited: BTreeSet<AutomationId> =
        released.iter().filter_map(|entry| entry.automation_id).map(DbId::into_inner).collect();
    for automation in limited {
        promote_blocked_of_locked(tx.write(), automation).await?;
    }
    tx.wake_workers();
    Ok(u64::try_from(released.len()).unwrap_or(u64::MAX))
}

/// A held run, and the automation that it is of.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "run_queue::Entity")]
struct HeldEntry {
    run_id: DbId<kernel::id::kind::Run>,
    automation_id: Option<DbId<kernel::id::kind::Automation>>,
}

/// The run of a schedule that is held.
pub(super) struct HeldRun {
    pub(super) run: RunId,
    due_at: Timestamp,
}

/// Returns the held run of an automation's schedule, locked until the transaction ends, so that it is not released
/// meanwhile. There is at most one, as later occurrences take it over.
pub(super) async fn held_run(tx: &StoreTx, automation: &Automation) -> Result<Option<HeldRun>, StoreError> {
    let found: Option<(DbId<kernel::id::kind::Run>, Option<DbTime>)> = run_queue::Entity::find()
        .inner_join(runs::Entity)
        .filter(run_queue::Column::AutomationId.eq(DbId(automation.id)))
        .filter(run_queue::Column::State.eq(QueueState::Held))
        .filter(runs::Column::TriggerKind.eq(DbText(TriggerKind::Schedule)))
        .filter(runs::Column::ReplayOf.is_null())
        .select_only()
        .column(run_queue::Column::RunId)
        .column(runs::Column::ScheduledFor)
        .lock(ROW_LOCK)
        .into_tuple()
        .one(tx.read())
        .await
        .or_store_error()?;
    Ok(found.and_then(|(run, due_at)| Some(HeldRun { run: run.0, due_at: due_at?.0 })))
}

/// Makes a held run the one of a later occurrence; the earlier occurrence is superseded.
pub(super) async fn take_over_held_run(
    tx: &mut StoreTx,
    automation: &Automation,
    held: &HeldRun,
    later: &NewRun,
) -> Result<(), StoreError> {
    let superseded = occurrences::ActiveModel {
        outcome: Set(OccurrenceOutcome::Skipped),
        reason: Set(Some(SkipReason::Superseded.to_string())),
        run_id: Set(None),
        ..Default::default()
    };
    occurrences::Entity::update_many()
        .set(superseded)
        .filter(occurrences::Column::AutomationId.eq(DbId(automation.id)))
        .filter(occurrences::Column::DueAt.eq(DbTime(held.due_at)))
        .filter(occurrences::Column::RunId.eq(DbId(held.run)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    let run = runs::ActiveModel {
        accepted_at: Set(DbTime(later.at)),
        scheduled_for: Set(later.scheduled_for.map(DbTime)),
        ..Default::default()
    };
    runs::Entity::update_many()
        .set(run)
        .filter(runs::Column::Id.eq(DbId(held.run)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    let due_at = later.scheduled_for.map_or(later.at, |moment| Ord::max(moment, later.at));
    run_queue::Entity::update_many()
        .set(run_queue::ActiveModel { available_at: Set(DbTime(due_at)), ..Default::default() })
        .filter(run_queue::Column::RunId.eq(DbId(held.run)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    Ok(())
}
