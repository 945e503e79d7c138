//! Reads of automations, webhooks and runs.

use std::{cmp::Reverse, collections::HashMap, time::Duration};

use ::runs::{
    Automation, Run, RunStatus, RunsRead, Webhook,
    ports::AutomationName,
    runs::{LatestRun, QueueHealth, RunBar, RunFilter, RunHistogram},
    webhooks::Delivery,
};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, AutomationId, HookId, RunId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, FromQueryResult, Iterable as _, JoinType, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Alias, Asterisk, Expr, ExprTrait as _, Func, Order, Query, SelectStatement, UnionType},
};

use serde_json::value::RawValue;

use super::models;
use crate::{
    apps::visible_app_ids,
    convert::{RowContext, min_uuid_v7_at},
    entity::{
        automations,
        column::{DbId, DbText, DbTime},
        deliveries,
        run_queue::{self, QueueState},
        run_results, runs, webhooks,
    },
    error::OrStoreError as _,
    query::{self, literal},
    store::Store,
};

#[span_macros::traced]
#[async_trait]
impl RunsRead for Store {
    async fn automation_scope(&self, id: AutomationId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        use automations::Column;
        let automation = automations::Entity::find_by_id(id);
        query::scope(automation, [Column::WorkspaceId, Column::AppId], self.read()).await
    }

    async fn run_scope(&self, id: RunId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        let run = runs::Entity::find_by_id(id);
        query::scope(run, [runs::Column::WorkspaceId, runs::Column::AppId], self.read()).await
    }

    async fn automation(
        &self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError> {
        let found = automations::Entity::find_by_id(id)
            .filter(automations::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(models::automation).transpose()
    }

    async fn automation_names(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        limit: u32,
    ) -> Result<Vec<AutomationName>, StoreError> {
        use automations::Column;
        let found: Vec<(DbId<kind::Automation>, DbId<kind::App>, String)> = automations::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .order_by_desc(Column::Id)
            .limit(u64::from(limit))
            .select_only()
            .columns([Column::Id, Column::AppId, Column::Name])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        let name = |(id, app, name): (DbId<_>, DbId<_>, _)| AutomationName { id: id.0, app: app.0, name };
        Ok(found.into_iter().map(name).collect())
    }

    async fn automations(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        app: Option<AppId>,
        page: PageRequest,
    ) -> Result<Vec<Automation>, StoreError> {
        use automations::Column;
        let found = automations::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .apply_if(app, |query, app| query.filter(Column::AppId.eq(DbId(app))))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(models::automation).collect()
    }

    async fn latest_runs(
        &self,
        automations: &[AutomationId],
        limit: u32,
    ) -> Result<HashMap<AutomationId, Vec<LatestRun>>, StoreError> {
        let mut latest = HashMap::<AutomationId, Vec<LatestRun>>::new();
        for chunk in automations.chunks(MAX_UNION) {
            let Some(query) = latest_runs_of(chunk, limit) else { continue };
            let found: Vec<LatestRunRow> = query::fetch_all(&query, self.read()).await?;
            for run in found {
                let status = run.status.0;
                let of_automation = latest.entry(run.automation_id.0).or_default();
                of_automation.push(LatestRun {
                    id: run.id.0,
                    status,
                    accepted_at: run.accepted_at.into_inner(),
                });
            }
        }
        for runs in latest.values_mut() {
            runs.sort_unstable_by_key(|run| Reverse(run.id));
        }
        Ok(latest)
    }

    async fn automations_of_app(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<Automation>, StoreError> {
        use automations::Column;
        let found = automations::Entity::find()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_asc(Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(models::automation).collect()
    }

    async fn webhook(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError> {
        let found = webhooks::Entity::find()
            .filter(webhooks::Column::AutomationId.eq(DbId(automation)))
            .filter(webhooks::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(models::webhook).transpose()
    }

    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        let found = deliveries::Entity::find()
            .filter(deliveries::Column::WebhookId.eq(DbId(hook)))
            .filter(deliveries::Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_desc(deliveries::Column::Id)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(models::delivery).collect()
    }

    async fn run(&self, workspace: WorkspaceId, id: RunId) -> Result<Option<Run>, StoreError> {
        let found = runs::Entity::find_by_id(id)
            .filter(runs::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        Ok(self.resolve_names(vec![model]).await?.pop())
    }

    async fn run_result(
        &self,
        workspace: WorkspaceId,
        id: RunId,
    ) -> Result<Option<Box<RawValue>>, StoreError> {
        let found = run_results::Entity::find_by_id(id)
            .join(JoinType::InnerJoin, run_results::Relation::Run.def())
            .filter(runs::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("run_results", id);
        found.map(|found| RawValue::from_string(found.result).map_err(|error| row.error(error))).transpose()
    }

    async fn runs(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        page: PageRequest,
    ) -> Result<Vec<Run>, StoreError> {
        use runs::Column;
        // Neither is of a list, and both may be long.
        let is_listed = |column: &Column| !matches!(column, Column::Steps | Column::Answers);
        let found = select_runs(workspace, visible, filter)
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .select_only()
            .columns(Column::iter().filter(is_listed))
            .expr_as(literal(None::<String>), "steps")
            .expr_as(literal(None::<String>), "answers")
            .into_model::<runs::Model>()
            .all(self.read())
            .await
            .or_store_error()?;
        self.resolve_names(found).await
    }

    async fn run_histogram(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        bar: Duration,
        limit: u32,
    ) -> Result<RunHistogram, StoreError> {
        use runs::Column;
        let row = RowContext::new("runs", workspace);
        let bar = Ord::max(1, i64::try_from(bar.as_millis()).unwrap_or(i64::MAX));
        let newest = select_runs(workspace, visible, filter)
            .select_only()
            .columns([Column::Status, Column::AcceptedAt])
            .order_by_desc(Column::Id)
            .limit(u64::from(limit))
            .into_query();
        let bars = Query::select()
            .expr_as(Expr::col(Column::AcceptedAt).div(bar), "bar")
            .column(Column::Status)
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .expr_as(Expr::col(Column::AcceptedAt).min(), "first")
            .from_subquery(newest, "newest")
            .add_group_by([Expr::col("bar"), Expr::col(Column::Status)])
            .order_by("bar", Order::Asc)
            .to_owned();
        let counted: Vec<BarRow> = query::fetch_all(&bars, self.read()).await?;
        let (mut bars, mut total, mut first) = (Vec::<RunBar>::new(), 0_u64, None::<DbTime>);
        for counts in counted {
            let count = row.number::<u64>(counts.count)?;
            total += count;
            first = Some(first.map_or(counts.first, |known| Ord::min(known, counts.first)));
            let is_next = bars.last().is_none_or(|last| last.index != counts.bar);
            if is_next {
                bars.push(RunBar { index: counts.bar, ..RunBar::default() });
            }
            let Some(bar) = bars.last_mut() else { continue };
            match counts.status.0 {
                RunStatus::Succeeded => bar.succeeded += count,
                RunStatus::Failed => bar.failed += count,
                RunStatus::Blocked => bar.blocked += count,
                RunStatus::Queued | RunStatus::Running | RunStatus::WaitingApproval => {
                    bar.unfinished += count;
                }
            }
        }
        let is_cut = total >= u64::from(limit);
        let complete_from = first.map(DbTime::into_inner).filter(|_| is_cut).or(filter.from);
        Ok(RunHistogram { complete_from: complete_from.unwrap_or_default(), bars })
    }

    async fn queue_health(&self, workspace: WorkspaceId, now: Timestamp) -> Result<QueueHealth, StoreError> {
        let row = RowContext::new("run_queue", workspace);
        let counts: Vec<QueueStateRow> = query::fetch_all(&queue_counts(workspace, now), self.read()).await?;
        let (mut queued, mut delayed, mut running, mut waiting_approval) = (0, 0, 0, 0);
        let mut oldest: Option<DbTime> = None;
        for state in counts {
            let count = row.number::<u64>(state.count)?;
            match state.state {
                QueueState::Leased => running += count,
                QueueState::AwaitingApproval => waiting_approval += count,
                QueueState::Ready | QueueState::ConcurrencyBlocked | QueueState::Held => {
                    let later = row.number::<u64>(state.later)?;
                    delayed += later;
                    queued += count.saturating_sub(later);
                    oldest = Some(oldest.map_or(state.first, |known| Ord::min(known, state.first)));
                }
            }
        }
        let oldest_queued_at = oldest.map(DbTime::into_inner).filter(|oldest| *oldest <= now);

        let finished = runs::Entity::find()
            .filter(runs::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(runs::Column::FinishedAt.gte(DbTime(now - TimeDelta::hours(1))))
            .group_by(runs::Column::Status)
            .select_only()
            .column(runs::Column::Status)
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .into_model::<StatusRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let count = |status| {
            let found = finished.iter().find(|found| found.status.0 == status);
            found.map_or(Ok(0), |found| row.number(found.count))
        };
        Ok(QueueHealth {
            queued,
            delayed,
            running,
            waiting_approval,
            oldest_queued_at,
            succeeded: count(RunStatus::Succeeded)?,
            failed: count(RunStatus::Failed)?,
            blocked: count(RunStatus::Blocked)?,
        })
    }
}

/// Selects the runs of a workspace whose app a person can view. Ids have the time of acceptance in them, so no other index
/// of it is needed.
fn select_runs(workspace: WorkspaceId, visible: Visibility, filter: RunFilter) -> Select<runs::Entity> {
    use runs::Column;
    // Apps are the workspace's, so the runs of one are too: without a condition on the workspace, its index cannot be
    // chosen for what those of the app and of the automation find at once.
    let is_of_one = filter.app.is_some() || filter.automation.is_some();
    runs::Entity::find()
        .apply_if((!is_of_one).then_some(workspace), |query, workspace| {
            query.filter(Column::WorkspaceId.eq(DbId(workspace)))
        })
        .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
        .apply_if(filter.app, |query, app| query.filter(Column::AppId.eq(DbId(app))))
        .apply_if(filter.automation, |query, id| query.filter(Column::AutomationId.eq(DbId(id))))
        .apply_if(filter.status, |query, status| query.filter(Column::Status.eq(DbText(status))))
        .apply_if(filter.trigger, |query, kind| query.filter(Column::TriggerKind.eq(DbText(kind))))
        .apply_if(filter.by_agent, |query, by_agent| {
            let asked = Column::AskedByAgent;
            // Null in runs that no agent asked for.
            query.filter(if by_agent { asked.eq(true) } else { asked.is_null() })
        })
        .apply_if(filter.replayed, |query, replayed| {
            let replay = || Expr::col((Alias::new("replay"), Column::ReplayOf));
            let found = Expr::exists(
                Query::select()
                    .expr(1)
                    .from_as(runs::Entity, "replay")
                    .and_where(replay().eq(Expr::col((runs::Entity, Column::Id))))
                    .to_owned(),
            );
            query.filter(if replayed { found } else { found.not() })
        })
        .apply_if(filter.from, |query, from| query.filter(Column::Id.gte(min_uuid_v7_at(from))))
        .apply_if(filter.to, |query, to| query.filter(Column::Id.lt(min_uuid_v7_at(to))))
}

/// Most selections that one statement puts together.
const MAX_UNION: usize = 50;

/// Selects the latest runs of each of these automations; none for no automation.
fn latest_runs_of(automations: &[AutomationId], limit: u32) -> Option<SelectStatement> {
    use runs::Column;
    let of = |automation: &AutomationId| {
        let latest = runs::Entity::find()
            .filter(Column::AutomationId.eq(DbId(*automation)))
            .order_by_desc(Column::Id)
            .limit(u64::from(limit))
            .select_only()
            .columns([Column::Id, Column::AutomationId, Column::Status, Column::AcceptedAt])
            .into_query();
        // A limit belongs to one selection only if that is a table of its own.
        Query::select().column(Asterisk).from_subquery(latest, "latest").to_owned()
    };
    let mut selections = automations.iter().map(of);
    let mut query = selections.next()?;
    query.unions(selections.map(|selection| (UnionType::All, selection)));
    Some(query)
}

/// A run among the latest of its automation.
#[derive(FromQueryResult)]
struct LatestRunRow {
    id: DbId<kind::Run>,
    automation_id: DbId<kind::Automation>,
    status: DbText<RunStatus>,
    accepted_at: DbTime,
}

/// Runs of one bar of a histogram with one status.
#[derive(FromQueryResult)]
struct BarRow {
    bar: i64,
    status: DbText<RunStatus>,
    count: i64,
    first: DbTime,
}

/// Queue entries of one state.
#[derive(FromQueryResult)]
struct QueueStateRow {
    state: QueueState,
    count: i64,
    /// Number of entries that are not due yet.
    later: i64,
    /// Time at which the first is due.
    first: DbTime,
}

/// Runs that ended in one status.
#[derive(FromQueryResult)]
struct StatusRow {
    status: DbText<RunStatus>,
    count: i64,
}

/// Counts a workspace's queue entries by their state.
fn queue_counts(workspace: WorkspaceId, now: Timestamp) -> SelectStatement {
    use run_queue::Column;
    let of = |states: Expr| {
        let is_later = Expr::case(Column::AvailableAt.gt(DbTime(now)), literal(1)).finally(literal(0));
        run_queue::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(states)
            .group_by(Column::State)
            .select_only()
            .column(Column::State)
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .expr_as(Func::sum(Expr::Case(Box::new(is_later))), "later")
            .expr_as(Column::AvailableAt.min(), "first")
            .into_query()
    };
    let state = || Expr::col((run_queue::Entity, Column::State));
    // Each state as its index has it. What is leased is no more than what nodes are at work at.
    let mut counts = of(state().eq(literal(QueueState::Ready)));
    counts.union(UnionType::All, of(state().eq(literal(QueueState::Leased))));
    counts.union(UnionType::All, of(state().gte(literal(QueueState::ConcurrencyBlocked))));
    counts
}
