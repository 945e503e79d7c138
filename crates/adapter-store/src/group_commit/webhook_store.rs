//! The webhook store: looks webhooks up, and hands their calls to the writers.

use std::sync::Arc;

use ::workspace::Plan;
use async_trait::async_trait;
use kernel::{Id, StoreError, id::HookId};
use runs::{
    AutomationStatus, TriggerKind,
    webhooks::{
        AcceptCall, AcceptOutcome, RefusedDelivery, RevisionVector, SecretCache, WebhookSnapshot,
        WebhookStore,
    },
};
use sea_orm::EntityTrait as _;

use super::batch::WriteOp;
use crate::{
    convert::RowContext,
    entity::webhooks,
    error::OrStoreError as _,
    runs::models::webhook,
    sql::{Sql, column},
    store::Store,
};

#[span_macros::traced]
#[async_trait]
impl WebhookStore for Store {
    async fn webhook_snapshot(
        &self,
        id: HookId,
        fresh: bool,
    ) -> Result<Option<Arc<WebhookSnapshot>>, StoreError> {
        let cache = &self.inner().after_commit.webhook_cache;
        if !fresh && let Some(state) = cache.get(&id) {
            return Ok(Some(state));
        }
        let state = self.load_webhook_snapshot(id).await?.map(Arc::new);
        match &state {
            Some(state) => cache.insert(id, Arc::clone(state)),
            None => cache.invalidate(&id),
        }
        Ok(state)
    }

    async fn accept(&self, acceptance: AcceptCall) -> Result<AcceptOutcome, StoreError> {
        let workspace = acceptance.workspace;
        self.inner().group_commit.submit(workspace, |reply| WriteOp::Accept(acceptance, reply)).await
    }

    async fn record_refusal(&self, refused: RefusedDelivery) -> Result<(), StoreError> {
        let workspace = refused.workspace;
        self.inner().group_commit.submit(workspace, |reply| WriteOp::Refuse(refused, reply)).await
    }
}

impl Store {
    async fn load_webhook_snapshot(&self, id: HookId) -> Result<Option<WebhookSnapshot>, StoreError> {
        let mut sql = Sql::new(
            "SELECT h.revision, a.revision, p.revision, w.revision, p.id, a.status, a.max_concurrency, \
             p.paused, p.deleted_at, p.current_version_id, p.declares_webhook, w.plan, p.declares_form, a.trigger_kind FROM webhooks h \
             JOIN automations a ON a.id = h.automation_id JOIN apps p ON p.id = a.app_id \
             JOIN workspaces w ON w.id = h.workspace_id WHERE w.deleted_at IS NULL AND h.id = ",
        );
        sql.bind(id.uuid());
        // The stamp is read before the settings: should they change in between, it no longer fits, and the call is
        // decided about anew.
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let settings = webhooks::Entity::find_by_id(id).one(self.read()).await.or_store_error()?;
        let Some(settings) = settings else { return Ok(None) };

        let row = RowContext { table: "webhooks", id: id.uuid() };
        let status: AutomationStatus = row.parse(&column::<String>(&found, 5)?)?;
        let max_concurrency: Option<i64> = column(&found, 6)?;
        let paused: bool = column(&found, 7)?;
        let deleted_at: Option<i64> = column(&found, 8)?;
        let current_version: Option<uuid::Uuid> = column(&found, 9)?;
        let plan: Plan = row.parse(&column::<String>(&found, 11)?)?;
        let (declares_webhook, declares_form): (bool, bool) = (column(&found, 10)?, column(&found, 12)?);
        let trigger = match row.parse(&column::<String>(&found, 13)?)? {
            TriggerKind::Form => TriggerKind::Form,
            _ => TriggerKind::Webhook,
        };
        Ok(Some(WebhookSnapshot {
            webhook: webhook(&settings)?,
            app: Id::from_uuid(column(&found, 4)?),
            automation_status: status,
            max_concurrency: max_concurrency.map(|max| row.number(max)).transpose()?,
            is_app_runnable: !paused && deleted_at.is_none() && current_version.is_some(),
            declares_trigger: declares_webhook || (trigger == TriggerKind::Form && declares_form),
            trigger,
            runs_per_month: plan.limits().runs.grace_limit(),
            secret_cache: SecretCache::default(),
            revisions: RevisionVector([
                column(&found, 0)?,
                column(&found, 1)?,
                column(&found, 2)?,
                column(&found, 3)?,
            ]),
        }))
    }
}
