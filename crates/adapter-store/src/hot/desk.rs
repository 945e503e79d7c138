//! Looking webhooks up, and handing their calls to the lanes.

use std::sync::Arc;

use ::workspace::Plan;
use async_trait::async_trait;
use kernel::{Id, StoreError, id::HookId};
use runs::{
    AutomationStatus, TriggerKind,
    webhooks::{Acceptance, HookDesk, HookState, Opened, RefusedDelivery, Stamp, Verdict},
};
use sea_orm::EntityTrait as _;

use super::Op;
use crate::{
    Store,
    convert::Row,
    entity::webhooks,
    error::OrStoreError as _,
    runs::webhook,
    sql::{Sql, column},
};

#[async_trait]
impl HookDesk for Store {
    async fn hook(&self, id: HookId, fresh: bool) -> Result<Option<Arc<HookState>>, StoreError> {
        let remembered = &self.inner().hooks;
        if !fresh && let Some(state) = remembered.get(&id) {
            return Ok(Some(state));
        }
        let state = self.load_hook(id).await?.map(Arc::new);
        match &state {
            Some(state) => remembered.insert(id, Arc::clone(state)),
            None => remembered.invalidate(&id),
        }
        Ok(state)
    }

    async fn accept(&self, acceptance: Acceptance) -> Result<Verdict, StoreError> {
        let workspace = acceptance.workspace;
        self.inner().hot.submit(workspace, |reply| Op::Accept(acceptance, reply)).await
    }

    async fn note_refusal(&self, refused: RefusedDelivery) -> Result<(), StoreError> {
        let workspace = refused.workspace;
        self.inner().hot.submit(workspace, |reply| Op::Refuse(refused, reply)).await
    }
}

impl Store {
    async fn load_hook(&self, id: HookId) -> Result<Option<HookState>, StoreError> {
        let mut sql = Sql::new(
            "SELECT h.revision, a.revision, p.revision, w.revision, p.id, a.status, a.max_concurrency, \
             p.paused, p.deleted_at, p.current_version_id, p.declares_webhook, w.plan, p.declares_form, a.trigger_kind FROM webhooks h \
             JOIN automations a ON a.id = h.automation_id JOIN apps p ON p.id = a.app_id \
             JOIN workspaces w ON w.id = h.workspace_id WHERE h.id = ",
        );
        sql.bind(id.uuid());
        // The stamp is read before the settings: should they change in between, it no longer fits, and the call is
        // decided about anew.
        let Some(found) = sql.one(self.read()).await? else { return Ok(None) };
        let settings = webhooks::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        let Some(settings) = settings else { return Ok(None) };

        let row = Row { table: "webhooks", id: id.uuid() };
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
        Ok(Some(HookState {
            webhook: webhook(&settings)?,
            app: Id::from_uuid(column(&found, 4)?),
            automation_status: status,
            max_concurrency: max_concurrency.map(|max| row.number(max)).transpose()?,
            app_is_runnable: !paused && deleted_at.is_none() && current_version.is_some(),
            declares_trigger: declares_webhook || (trigger == TriggerKind::Form && declares_form),
            trigger,
            runs_per_month: plan.limits().runs_per_month,
            opened: Opened::default(),
            stamp: Stamp([column(&found, 0)?, column(&found, 1)?, column(&found, 2)?, column(&found, 3)?]),
        }))
    }
}
