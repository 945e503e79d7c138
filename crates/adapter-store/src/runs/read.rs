//! Reads of automations, webhooks and runs.

use std::collections::HashMap;

use ::runs::{
    Automation, Run, RunsRead, Webhook,
    runs::{QueueHealth, RunFilter},
    webhooks::Delivery,
};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Id, StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, AutomationId, HookId, RunId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use super::{RunNames, queue_state};
use crate::{
    Store,
    apps::visible_app_ids,
    convert::{RowContext, millis},
    entity::{app_versions, apps, automations, deliveries, runs, webhooks},
    error::OrStoreError as _,
    sql::{Sql, column},
};

#[async_trait]
impl RunsRead for Store {
    async fn automation_scope(&self, id: AutomationId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        let found: Option<(Uuid, Uuid)> = automations::Entity::find_by_id(id.uuid())
            .select_only()
            .columns([automations::Column::WorkspaceId, automations::Column::AppId])
            .into_tuple()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|(workspace, app)| (Id::from_uuid(workspace), Id::from_uuid(app))))
    }

    async fn run_scope(&self, id: RunId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        let found: Option<(Uuid, Uuid)> = runs::Entity::find_by_id(id.uuid())
            .select_only()
            .columns([runs::Column::WorkspaceId, runs::Column::AppId])
            .into_tuple()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|(workspace, app)| (Id::from_uuid(workspace), Id::from_uuid(app))))
    }

    async fn automation(
        &self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError> {
        let found = automations::Entity::find_by_id(id.uuid())
            .filter(automations::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::automation).transpose()
    }

    async fn automations(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<Automation>, StoreError> {
        use automations::Column;
        let mut select = automations::Entity::find().filter(Column::WorkspaceId.eq(workspace.uuid()));
        select = select.filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)));
        if let Some(after) = page.after {
            select = select.filter(Column::Id.lt(after));
        }
        let found = select
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(super::automation).collect()
    }

    async fn webhook(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError> {
        let found = webhooks::Entity::find()
            .filter(webhooks::Column::AutomationId.eq(automation.uuid()))
            .filter(webhooks::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(super::webhook).transpose()
    }

    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        let found = deliveries::Entity::find()
            .filter(deliveries::Column::WebhookId.eq(hook.uuid()))
            .filter(deliveries::Column::WorkspaceId.eq(workspace.uuid()))
            .order_by_desc(deliveries::Column::Id)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(super::delivery).collect()
    }

    async fn run(&self, workspace: WorkspaceId, id: RunId) -> Result<Option<Run>, StoreError> {
        let found = runs::Entity::find_by_id(id.uuid())
            .filter(runs::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        Ok(self.resolve_names(vec![model]).await?.pop())
    }

    async fn runs(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        page: PageRequest,
    ) -> Result<Vec<Run>, StoreError> {
        use runs::Column;
        let mut select = runs::Entity::find().filter(Column::WorkspaceId.eq(workspace.uuid()));
        select = select.filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)));
        if let Some(app) = filter.app {
            select = select.filter(Column::AppId.eq(app.uuid()));
        }
        if let Some(automation) = filter.automation {
            select = select.filter(Column::AutomationId.eq(automation.uuid()));
        }
        if let Some(status) = filter.status {
            select = select.filter(Column::Status.eq(status.as_str()));
        }
        if let Some(trigger) = filter.trigger {
            select = select.filter(Column::TriggerKind.eq(trigger.as_str()));
        }
        if let Some(after) = page.after {
            select = select.filter(Column::Id.lt(after));
        }
        let mut found = select
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
        let row = RowContext { table: "run_queue", id: workspace.uuid() };
        let mut sql = Sql::new("");
        // Of each state as its index has it. What is leased is no more than what nodes are at work at.
        for (index, state) in ["state = 0", "state = 1", "state >= 2"].into_iter().enumerate() {
            sql.push(if index > 0 {
                " UNION ALL SELECT state, count(*), "
            } else {
                "SELECT state, count(*), "
            });
            sql.push("coalesce(sum(CASE WHEN available_at > ").bind(millis(now));
            sql.push(" THEN 1 ELSE 0 END), 0), min(available_at) FROM run_queue WHERE workspace_id = ")
                .bind(workspace.uuid());
            sql.push(" AND ").push(state).push(" GROUP BY state");
        }
        let (mut queued, mut delayed, mut running, mut asking, mut oldest) = (0, 0, 0, 0, None::<i64>);
        for found in sql.fetch_all(self.read()).await? {
            let count: u64 = row.number(column(&found, 1)?)?;
            match column::<i16>(&found, 0)? {
                queue_state::LEASED => running += count,
                queue_state::AWAITING_APPROVAL => asking += count,
                _ => {
                    let later: u64 = row.number(column(&found, 2)?)?;
                    delayed += later;
                    queued += count.saturating_sub(later);
                    let first: i64 = column(&found, 3)?;
                    oldest = Some(oldest.map_or(first, |known| known.min(first)));
                }
            }
        }
        let oldest_queued_at = row.optional_timestamp(oldest.filter(|oldest| *oldest <= millis(now)))?;

        let mut sql = Sql::new("SELECT status, count(*) FROM runs WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(" AND finished_at >= ").bind(millis(now - TimeDelta::hours(1)));
        sql.push(" GROUP BY status");
        let mut finished = HashMap::new();
        for found in sql.fetch_all(self.read()).await? {
            finished.insert(column::<String>(&found, 0)?, row.number::<u64>(column(&found, 1)?)?);
        }
        let count = |status: &str| finished.get(status).copied().unwrap_or_default();
        Ok(QueueHealth {
            queued,
            delayed,
            running,
            waiting_approval: asking,
            oldest_queued_at,
            succeeded: count("succeeded"),
            failed: count("failed"),
            blocked: count("blocked"),
        })
    }
}

impl Store {
    /// Adds to runs the names of what they point at, in a few queries for all of them.
    async fn resolve_names(&self, models: Vec<runs::Model>) -> Result<Vec<Run>, StoreError> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let apps: Vec<(Uuid, String, Option<Uuid>)> = apps::Entity::find()
            .filter(apps::Column::Id.is_in(distinct(models.iter().map(|run| run.app_id))))
            .select_only()
            .columns([apps::Column::Id, apps::Column::Name, apps::Column::CurrentVersionId])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        let automations: Vec<(Uuid, String)> = automations::Entity::find()
            .filter(
                automations::Column::Id.is_in(distinct(models.iter().filter_map(|run| run.automation_id))),
            )
            .select_only()
            .columns([automations::Column::Id, automations::Column::Name])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        let versions: Vec<(Uuid, i64)> = app_versions::Entity::find()
            .filter(app_versions::Column::Id.is_in(distinct(models.iter().filter_map(|run| run.version_id))))
            .select_only()
            .columns([app_versions::Column::Id, app_versions::Column::Number])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        let apps: HashMap<_, _> = apps.into_iter().map(|(id, name, current)| (id, (name, current))).collect();
        let automations: HashMap<_, _> = automations.into_iter().collect();
        let versions: HashMap<_, _> = versions.into_iter().collect();
        models
            .into_iter()
            .map(|model| {
                let (app, current_version) = apps.get(&model.app_id).cloned().unwrap_or_default();
                let names = RunNames {
                    app,
                    automation: model.automation_id.and_then(|id| automations.get(&id).cloned()),
                    version_number: model.version_id.and_then(|id| versions.get(&id).copied()),
                    current_version,
                };
                super::run(model, names)
            })
            .collect()
    }
}

fn distinct(ids: impl Iterator<Item = Uuid>) -> std::collections::BTreeSet<Uuid> {
    ids.collect()
}
