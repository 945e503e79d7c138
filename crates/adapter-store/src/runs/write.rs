//! Writes of automations, webhooks and runs.

use ::runs::{
    Automation, RunsTx, Trigger, Webhook, automations::occurrences::SchedulePolicy, queue::NewRun,
    webhooks::Proof,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp, UnitOfWork as _,
    events::{Event, EventKind, RunStage},
    id::{AppId, AutomationId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};
use uuid::Uuid;

use super::queue_state::{CAPPED, CONCURRENCY_BLOCKED, LEASED, READY};
use crate::{
    StoreTx,
    convert::{millis, to_json},
    entity::{apps, automations, run_inputs, run_queue, runs, webhooks},
    error::OrStoreError as _,
    group_commit::quota,
    sql::{Sql, SqlExecutor, column, for_update, statement_chunks},
};

#[async_trait]
impl RunsTx for StoreTx {
    async fn insert_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        let columns = TriggerColumns::of(&automation.trigger);
        let row = automations::ActiveModel {
            id: Set(automation.id.uuid()),
            workspace_id: Set(automation.workspace.uuid()),
            app_id: Set(automation.app.uuid()),
            name: Set(automation.name.clone()),
            trigger_kind: Set(automation.trigger.kind().as_str().to_owned()),
            cron: Set(columns.cron),
            timezone: Set(columns.timezone),
            event: Set(columns.event),
            catch_up: Set(columns.policy.map(|policy| policy.catch_up.as_str().to_owned())),
            catch_up_minutes: Set(columns.policy.map(|policy| policy.window_minutes.into())),
            overlap: Set(columns.policy.map(|policy| policy.overlap.as_str().to_owned())),
            status: Set(automation.status.as_str().to_owned()),
            max_concurrency: Set(automation.max_concurrency.map(i64::from)),
            retries: Set(automation.retries.into()),
            next_run_at: Set(automation.next_run_at.map(millis)),
            created_by: Set(automation.created_by.uuid()),
            created_at: Set(millis(automation.created_at)),
            revision: Set(1),
        };
        automations::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn automation_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError> {
        let found = automations::Entity::find_by_id(id.uuid())
            .filter(automations::Column::WorkspaceId.eq(workspace.uuid()))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::automation).transpose()
    }

    async fn update_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        use automations::Column;
        let columns = TriggerColumns::of(&automation.trigger);
        automations::Entity::update_many()
            .col_expr(Column::Name, Expr::value(automation.name.as_str()))
            .col_expr(Column::TriggerKind, Expr::value(automation.trigger.kind().as_str()))
            .col_expr(Column::Cron, Expr::value(columns.cron))
            .col_expr(Column::Timezone, Expr::value(columns.timezone))
            .col_expr(Column::Event, Expr::value(columns.event))
            .col_expr(Column::CatchUp, Expr::value(columns.policy.map(|policy| policy.catch_up.as_str())))
            .col_expr(
                Column::CatchUpMinutes,
                Expr::value(columns.policy.map(|policy| i64::from(policy.window_minutes))),
            )
            .col_expr(Column::Overlap, Expr::value(columns.policy.map(|policy| policy.overlap.as_str())))
            .col_expr(Column::Status, Expr::value(automation.status.as_str()))
            .col_expr(Column::MaxConcurrency, Expr::value(automation.max_concurrency.map(i64::from)))
            .col_expr(Column::Retries, Expr::value(i16::from(automation.retries)))
            .col_expr(Column::NextRunAt, Expr::value(automation.next_run_at.map(millis)))
            .col_expr(Column::Revision, Expr::col(Column::Revision).add(1))
            .filter(Column::Id.eq(automation.id.uuid()))
            .filter(Column::WorkspaceId.eq(automation.workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        promote_blocked(self.write(), automation.id, automation.max_concurrency).await?;
        self.wake_workers();
        Ok(())
    }

    async fn delete_automation(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        delete_automation_cascade(self, workspace, id, now).await
    }

    async fn webhook_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError> {
        let found = webhooks::Entity::find()
            .filter(webhooks::Column::AutomationId.eq(automation.uuid()))
            .filter(webhooks::Column::WorkspaceId.eq(workspace.uuid()))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(super::webhook).transpose()
    }

    async fn upsert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        use webhooks::Column;
        let (secret_sealed, token_digest) = match &webhook.proof {
            Proof::Signed(secret) | Proof::CodeHost(secret) => (Some(secret.sealed.clone()), None),
            Proof::Token(token) | Proof::Messenger(token) => (None, Some(token.digest.as_bytes().to_vec())),
            Proof::Form(_) | Proof::None => (None, None),
        };
        let form = webhook.proof.form().map(to_json).transpose()?;
        let row = webhooks::ActiveModel {
            id: Set(webhook.id.uuid()),
            automation_id: Set(webhook.automation.uuid()),
            workspace_id: Set(webhook.workspace.uuid()),
            mode: Set(webhook.proof.mode().as_str().to_owned()),
            secret_sealed: Set(secret_sealed),
            token_digest: Set(token_digest),
            hint: Set(webhook.proof.hint().map(str::to_owned)),
            enabled: Set(webhook.is_enabled),
            per_minute: Set(webhook.per_minute.into()),
            created_at: Set(millis(webhook.created_at)),
            updated_at: Set(millis(webhook.updated_at)),
            revision: Set(1),
            form: Set(form),
        };
        let replace = OnConflict::column(Column::Id)
            .update_columns([
                Column::Mode,
                Column::SecretSealed,
                Column::TokenDigest,
                Column::Hint,
                Column::Enabled,
                Column::PerMinute,
                Column::UpdatedAt,
                Column::Form,
            ])
            .value(Column::Revision, Expr::col((webhooks::Entity, Column::Revision)).add(1))
            .to_owned();
        webhooks::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        self.invalidate_webhook(webhook.id);
        Ok(())
    }

    async fn is_app_runnable(&mut self, workspace: WorkspaceId, app: AppId) -> Result<bool, StoreError> {
        let found = apps::Entity::find_by_id(app.uuid())
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(apps::Column::DeletedAt.is_null())
            .filter(apps::Column::Paused.eq(false))
            .filter(apps::Column::CurrentVersionId.is_not_null())
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.is_some())
    }

    async fn try_consume_quota(
        &mut self,
        workspace: WorkspaceId,
        now: Timestamp,
        runs_per_month: Option<u64>,
    ) -> Result<bool, StoreError> {
        Ok(quota::consume(self.write(), workspace, now, 1, runs_per_month).await? == 1)
    }

    async fn enqueue(&mut self, run: &NewRun) -> Result<(), StoreError> {
        insert_run(self.write(), run).await?;
        let kind = EventKind::Run { run: run.id, stage: RunStage::Queued };
        self.publish(Event { workspace: run.workspace, app: run.app, at: run.at, kind });
        self.wake_workers();
        Ok(())
    }

    async fn release_held_runs(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        // What its automation limits waits for a place first.
        let mut sql = Sql::new(
            "UPDATE run_queue SET state = CASE WHEN automation_id IN (SELECT id FROM automations WHERE workspace_id = ",
        );
        sql.bind(workspace.uuid())
            .push(" AND max_concurrency IS NOT NULL) THEN ")
            .push(&CONCURRENCY_BLOCKED.to_string());
        sql.push(" ELSE ").push(&READY.to_string()).push(" END WHERE workspace_id = ").bind(workspace.uuid());
        // Written out, so that the partial index serves.
        sql.push(" AND state >= 2 AND state = ").push(&CAPPED.to_string()).push(" RETURNING automation_id");
        let released: Vec<Option<Uuid>> = sql
            .fetch_all(self.write())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        let limited: std::collections::BTreeSet<Uuid> = released.iter().copied().flatten().collect();
        for id in limited {
            if let Some(automation) = self.automation_for_update(workspace, Id::from_uuid(id)).await? {
                promote_blocked(self.write(), automation.id, automation.max_concurrency).await?;
            }
        }
        self.wake_workers();
        Ok(u64::try_from(released.len()).unwrap_or(u64::MAX))
    }
}

/// A trigger as its columns keep it.
#[derive(Default)]
struct TriggerColumns {
    cron: Option<String>,
    timezone: Option<String>,
    event: Option<String>,
    policy: Option<SchedulePolicy>,
}

impl TriggerColumns {
    fn of(trigger: &Trigger) -> Self {
        match trigger {
            Trigger::Schedule(schedule) => Self {
                cron: Some(schedule.cron().to_owned()),
                timezone: Some(schedule.timezone().to_owned()),
                event: None,
                policy: Some(schedule.policy()),
            },
            Trigger::Event(event) => Self { event: Some(event.clone()), ..Self::default() },
            Trigger::Webhook | Trigger::Form | Trigger::Manual => Self::default(),
        }
    }
}

/// Puts one run into the queue.
pub(crate) async fn insert_run<C: ConnectionTrait>(db: &C, run: &NewRun) -> Result<(), StoreError> {
    let row = runs::ActiveModel {
        id: Set(run.id.uuid()),
        workspace_id: Set(run.workspace.uuid()),
        app_id: Set(run.app.uuid()),
        automation_id: Set(run.automation.map(Id::uuid)),
        version_id: Set(run.version.map(Id::uuid)),
        trigger_kind: Set(run.trigger.as_str().to_owned()),
        status: Set("queued".to_owned()),
        accepted_at: Set(millis(run.at)),
        started_at: Set(None),
        finished_at: Set(None),
        attempt: Set(0),
        minutes_saved: Set(0.0),
        error_code: Set(None),
        error_message: Set(None),
        replay_of: Set(run.replay_of.map(Id::uuid)),
        steps: Set(None),
        scheduled_for: Set(run.scheduled_for.map(millis)),
        asked_by_agent: Set(run.by_agent.then_some(true)),
        answers: Set(None),
    };
    runs::Entity::insert(row).exec_without_returning(db).await.or_store_error()?;
    let input =
        run_inputs::ActiveModel { run_id: Set(run.id.uuid()), input: Set(run.input.get().to_owned()) };
    run_inputs::Entity::insert(input).exec_without_returning(db).await.or_store_error()?;
    // Only an automation's runs have one another to wait for.
    let limited = run.automation.filter(|_| run.max_concurrency.is_some());
    let queued = run_queue::ActiveModel {
        run_id: Set(run.id.uuid()),
        workspace_id: Set(run.workspace.uuid()),
        automation_id: Set(run.automation.map(Id::uuid)),
        state: Set(match limited {
            _ if run.is_on_hold => CAPPED,
            Some(_) => CONCURRENCY_BLOCKED,
            None => READY,
        }),
        available_at: Set(millis(run.scheduled_for.map_or(run.at, |moment| std::cmp::max(moment, run.at)))),
        attempt: Set(0),
        leased_by: Set(None),
        leased_until: Set(None),
    };
    run_queue::Entity::insert(queued).exec_without_returning(db).await.or_store_error()?;
    match limited {
        Some(automation) => promote_blocked(db, automation, run.max_concurrency).await,
        None => Ok(()),
    }
}

/// Lets runs that an automation's limit held back move up into the places that are free.
pub(crate) async fn promote_blocked<D: SqlExecutor>(
    db: &D,
    automation: AutomationId,
    max_concurrency: Option<u16>,
) -> Result<(), StoreError> {
    // Two nodes must not fill the same free place.
    let lock = for_update(db.backend());
    if !lock.is_empty() {
        let mut sql = Sql::new("SELECT 1 FROM automations WHERE id = ");
        sql.bind(automation.uuid()).push(lock);
        sql.fetch_all(db).await?;
    }
    let mut sql = Sql::new("SELECT count(*) FROM run_queue WHERE automation_id = ");
    sql.bind(automation.uuid()).push(" AND state IN (").bind_all([READY, LEASED]).push(")");
    let in_use: i64 = match sql.fetch_optional(db).await? {
        Some(row) => column(&row, 0)?,
        None => 0,
    };
    let available = max_concurrency.map_or(i64::MAX, |max| i64::from(max) - in_use);
    if available <= 0 {
        return Ok(());
    }
    let mut sql = Sql::new("UPDATE run_queue SET state = ");
    sql.bind(READY).push(" WHERE run_id IN (SELECT run_id FROM run_queue WHERE automation_id = ");
    sql.bind(automation.uuid())
        .push(" AND state = ")
        .bind(CONCURRENCY_BLOCKED)
        .push(" ORDER BY run_id LIMIT ")
        .bind(available)
        .push(")");
    sql.execute(db).await?;
    Ok(())
}

/// Takes an automation away with its webhook; what it still had waiting ends as failed.
pub(crate) async fn delete_automation_cascade(
    tx: &mut StoreTx,
    workspace: WorkspaceId,
    id: AutomationId,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Calls being accepted hold on to the automation: with it locked, every run of it is in the queue or never will be.
    let Some(automation) = tx.automation_for_update(workspace, id).await? else { return Ok(()) };
    let hooks = webhooks::Entity::find()
        .filter(webhooks::Column::AutomationId.eq(id.uuid()))
        .all(tx.read())
        .await
        .or_store_error()?;
    for hook in hooks {
        tx.invalidate_webhook(Id::from_uuid(hook.id));
    }
    // First out of the queue, so that nobody claims a run that is about to end.
    let mut sql = Sql::new("DELETE FROM run_queue WHERE automation_id = ");
    sql.bind(id.uuid()).push(" AND state <> ").bind(LEASED).push(" RETURNING run_id");
    let waiting: Vec<Uuid> = sql
        .fetch_all(tx.write())
        .await?
        .iter()
        .map(|row| column(row, 0))
        .collect::<Result<_, StoreError>>()?;
    for run in &waiting {
        let stage = RunStage::Failed { code: "automation_deleted".to_owned() };
        let kind = EventKind::Run { run: Id::from_uuid(*run), stage };
        tx.publish(Event { workspace, app: automation.app, at: now, kind });
    }
    for waiting in statement_chunks(&waiting) {
        let mut sql = Sql::new("UPDATE runs SET status = 'failed', started_at = coalesce(started_at, ");
        sql.bind(millis(now)).push("), finished_at = ").bind(millis(now));
        sql.push(", error_code = 'automation_deleted', error_message = 'The automation was deleted.' WHERE id IN (");
        sql.bind_all(waiting.iter().copied()).push(")");
        sql.execute(tx.write()).await?;
    }
    webhooks::Entity::delete_many()
        .filter(webhooks::Column::AutomationId.eq(id.uuid()))
        .exec(tx.write())
        .await
        .or_store_error()?;
    automations::Entity::delete_many()
        .filter(automations::Column::Id.eq(id.uuid()))
        .filter(automations::Column::WorkspaceId.eq(workspace.uuid()))
        .exec(tx.write())
        .await
        .or_store_error()?;
    Ok(())
}
