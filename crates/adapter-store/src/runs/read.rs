//! Reads of automations, webhooks and runs.

use std::collections::{HashMap, HashSet};

use ::runs::{
    Automation, Run, RunStatus, RunsRead, Webhook,
    runs::{QueueHealth, RunFilter},
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
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, FromQueryResult, JoinType, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, SelectStatement, UnionType},
};

use serde_json::value::RawValue;

use super::models::{self, RunNames};
use crate::{
    apps::visible_app_ids,
    convert::RowContext,
    entity::{
        app_versions, apps, automations,
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

    async fn automations(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<Automation>, StoreError> {
        use automations::Column;
        let found = automations::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(models::automation).collect()
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
        let mut found = runs::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .apply_if(filter.app, |query, app| query.filter(Column::AppId.eq(DbId(app))))
            .apply_if(filter.automation, |query, id| query.filter(Column::AutomationId.eq(DbId(id))))
            .apply_if(filter.status, |query, status| query.filter(Column::Status.eq(DbText(status))))
            .apply_if(filter.trigger, |query, kind| query.filter(Column::TriggerKind.eq(DbText(kind))))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        for model in &mut found {
            model.steps = None;
        }
        self.resolve_names(found).await
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

/// The name of an app, and which of its versions is current.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "apps::Entity")]
struct AppNameRow {
    id: DbId<kind::App>,
    name: String,
    current_version_id: Option<DbId<kind::Version>>,
}

/// The name of an automation.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "automations::Entity")]
struct AutomationNameRow {
    id: DbId<kind::Automation>,
    name: String,
}

/// The number of a version.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct VersionNumberRow {
    id: DbId<kind::Version>,
    number: i64,
}

impl Store {
    /// Adds to runs the names of what they point at, in a few queries for all of them.
    async fn resolve_names(&self, models: Vec<runs::Model>) -> Result<Vec<Run>, StoreError> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let apps = apps::Entity::find()
            .filter(apps::Column::Id.is_in(distinct(models.iter().map(|run| run.app_id))))
            .into_partial_model::<AppNameRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let automations = automations::Entity::find()
            .filter(
                automations::Column::Id.is_in(distinct(models.iter().filter_map(|run| run.automation_id))),
            )
            .into_partial_model::<AutomationNameRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let versions = app_versions::Entity::find()
            .filter(app_versions::Column::Id.is_in(distinct(models.iter().filter_map(|run| run.version_id))))
            .into_partial_model::<VersionNumberRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let apps: HashMap<_, _> = apps.into_iter().map(|app| (app.id, app)).collect();
        let automations: HashMap<_, _> =
            automations.into_iter().map(|automation| (automation.id, automation.name)).collect();
        let versions: HashMap<_, _> =
            versions.into_iter().map(|version| (version.id, version.number)).collect();
        models
            .into_iter()
            .map(|model| {
                let app = apps.get(&model.app_id);
                let names = RunNames {
                    app: app.map(|app| app.name.clone()).unwrap_or_default(),
                    automation: model.automation_id.and_then(|id| automations.get(&id).cloned()),
                    version_number: model.version_id.and_then(|id| versions.get(&id).copied()),
                    current_version: app.and_then(|app| app.current_version_id),
                };
                models::run(model, names)
            })
            .collect()
    }
}

fn distinct<K: 'static>(ids: impl Iterator<Item = DbId<K>>) -> HashSet<DbId<K>> {
    ids.collect()
}
