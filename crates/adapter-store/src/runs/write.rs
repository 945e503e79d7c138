//! Writes of automations, webhooks and runs.

use ::runs::{
    Automation, RunStatus, RunsTx, Trigger, Webhook,
    agent_tools::AgentToolsTx as _,
    automations::{occurrences::SchedulePolicy, schedule::Schedule},
    queue::NewRun,
    quota::Admission,
    runs::Cancellation,
    webhooks::Proof,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork as _,
    events::{Event, EventKind, RunStage},
    id::{AppId, AutomationId, RunId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _, Func, OnConflict, SelectStatement},
};

use super::{cancel, models};
use crate::{
    convert::to_json,
    entity::{
        apps, automations,
        column::{DbId, DbText, DbTime},
        imports, run_inputs,
        run_queue::{self, QueueState},
        runs, webhooks,
    },
    error::OrStoreError as _,
    group_commit::quota,
    query,
    queue_sql::promote_blocked,
    sql::statement_chunks,
    tx::StoreTx,
};

/// Error code of runs that were waiting when their automation was deleted.
const AUTOMATION_DELETED: &str = "automation_deleted";

#[span_macros::traced]
#[async_trait]
impl RunsTx for StoreTx {
    async fn insert_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        let row = automations::ActiveModel {
            id: Set(DbId(automation.id)),
            workspace_id: Set(DbId(automation.workspace)),
            app_id: Set(DbId(automation.app)),
            name: Set(automation.name.clone()),
            status: Set(DbText(automation.status)),
            max_concurrency: Set(automation.max_concurrency.map(i64::from)),
            retries: Set(automation.retries.into()),
            next_run_at: Set(automation.next_run_at.map(DbTime)),
            created_by: Set(DbId(automation.created_by)),
            created_at: Set(DbTime(automation.created_at)),
            revision: Set(1),
            ..trigger_columns(&automation.trigger)
        };
        automations::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn automation_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError> {
        let found = automations::Entity::find_by_id(id)
            .filter(automations::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(models::automation).transpose()
    }

    async fn update_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        use automations::Column;
        let changes = automations::ActiveModel {
            name: Set(automation.name.clone()),
            status: Set(DbText(automation.status)),
            max_concurrency: Set(automation.max_concurrency.map(i64::from)),
            retries: Set(automation.retries.into()),
            next_run_at: Set(automation.next_run_at.map(DbTime)),
            ..trigger_columns(&automation.trigger)
        };
        automations::Entity::update_many()
            .set(changes)
            .col_expr(Column::Revision, Expr::col(Column::Revision).add(1))
            .filter(Column::Id.eq(DbId(automation.id)))
            .filter(Column::WorkspaceId.eq(DbId(automation.workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        promote_blocked(self.write(), automation.id).await?;
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
            .filter(webhooks::Column::AutomationId.eq(DbId(automation)))
            .filter(webhooks::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.as_ref().map(models::webhook).transpose()
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
            id: Set(DbId(webhook.id)),
            automation_id: Set(DbId(webhook.automation)),
            workspace_id: Set(DbId(webhook.workspace)),
            mode: Set(DbText(webhook.proof.mode())),
            secret_sealed: Set(secret_sealed),
            token_digest: Set(token_digest),
            hint: Set(webhook.proof.hint().map(str::to_owned)),
            enabled: Set(webhook.is_enabled),
            per_minute: Set(webhook.per_minute.into()),
            created_at: Set(DbTime(webhook.created_at)),
            updated_at: Set(DbTime(webhook.updated_at)),
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
        let runnable = apps::Entity::find_by_id(app)
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(apps::Column::DeletedAt.is_null())
            .filter(apps::Column::Paused.eq(false))
            .filter(apps::Column::CurrentVersionId.is_not_null());
        query::exists(runnable, self.read()).await
    }

    async fn admit_run(
        &mut self,
        workspace: WorkspaceId,
        now: Timestamp,
        runs_per_month: Option<u64>,
    ) -> Result<Admission, StoreError> {
        quota::admit(self.write(), workspace, now, runs_per_month).await
    }

    async fn cancel_run(&mut self, cancellation: &Cancellation) -> Result<bool, StoreError> {
        cancel::cancel_run(self, cancellation).await
    }

    async fn enqueue(&mut self, run: &NewRun) -> Result<(), StoreError> {
        insert_run(self.write(), run).await?;
        let kind = EventKind::Run { run: run.id, stage: RunStage::Queued };
        self.publish(Event::of_app(run.workspace, run.app, run.at, kind));
        self.wake_workers();
        Ok(())
    }
}

/// The columns that follow from an automation's trigger.
fn trigger_columns(trigger: &Trigger) -> automations::ActiveModel {
    let (schedule, event) = match trigger {
        Trigger::Schedule(schedule) => (Some(schedule), None),
        Trigger::Event(event) => (None, Some(event.clone())),
        Trigger::Webhook | Trigger::Form | Trigger::Manual => (None, None),
    };
    let policy: Option<SchedulePolicy> = schedule.map(Schedule::policy);
    automations::ActiveModel {
        trigger_kind: Set(DbText(trigger.kind())),
        cron: Set(schedule.map(|schedule| schedule.cron().to_owned())),
        timezone: Set(schedule.map(|schedule| schedule.timezone().to_owned())),
        event: Set(event),
        catch_up: Set(policy.map(|policy| DbText(policy.catch_up))),
        catch_up_minutes: Set(policy.map(|policy| policy.window_minutes.into())),
        overlap: Set(policy.map(|policy| DbText(policy.overlap))),
        ..Default::default()
    }
}

/// Puts one run into the queue.
pub(crate) async fn insert_run<C: ConnectionTrait>(db: &C, run: &NewRun) -> Result<(), StoreError> {
    let row = runs::ActiveModel {
        id: Set(DbId(run.id)),
        workspace_id: Set(DbId(run.workspace)),
        app_id: Set(DbId(run.app)),
        automation_id: Set(run.automation.map(DbId)),
        version_id: Set(run.version.map(DbId)),
        trigger_kind: Set(DbText(run.trigger)),
        status: Set(DbText(RunStatus::Queued)),
        accepted_at: Set(DbTime(run.at)),
        started_at: Set(None),
        finished_at: Set(None),
        attempt: Set(0),
        minutes_saved: Set(0.0),
        error_code: Set(None),
        error_message: Set(None),
        replay_of: Set(run.replay_of.map(DbId)),
        steps: Set(None),
        scheduled_for: Set(run.scheduled_for.map(DbTime)),
        asked_by_agent: Set(run.by_agent.then_some(true)),
        asked_by_grant: Set(run.agent.map(DbId)),
        answers: Set(None),
        cancelled_by: Set(None),
    };
    runs::Entity::insert(row).exec_without_returning(db).await.or_store_error()?;
    let input = run_inputs::ActiveModel { run_id: Set(DbId(run.id)), input: Set(run.input.get().to_owned()) };
    run_inputs::Entity::insert(input).exec_without_returning(db).await.or_store_error()?;
    // Only an automation's runs have one another to wait for.
    let limited = run.automation.filter(|_| run.max_concurrency.is_some());
    let queued = run_queue::ActiveModel {
        run_id: Set(DbId(run.id)),
        workspace_id: Set(DbId(run.workspace)),
        automation_id: Set(run.automation.map(DbId)),
        state: Set(match limited {
            _ if run.is_on_hold => QueueState::Held,
            Some(_) => QueueState::ConcurrencyBlocked,
            None => QueueState::Ready,
        }),
        available_at: Set(DbTime(run.scheduled_for.map_or(run.at, |moment| Ord::max(moment, run.at)))),
        attempt: Set(0),
        leased_by: Set(None),
        leased_until: Set(None),
    };
    run_queue::Entity::insert(queued).exec_without_returning(db).await.or_store_error()?;
    match limited {
        Some(automation) => promote_blocked(db, automation).await,
        None => Ok(()),
    }
}

/// Deletes an automation with its webhook and tool; runs that still waited end as failed.
pub(crate) async fn delete_automation_cascade(
    tx: &mut StoreTx,
    workspace: WorkspaceId,
    id: AutomationId,
    now: Timestamp,
) -> Result<(), StoreError> {
    // Calls being accepted hold on to the automation: with it locked, every run of it is in the queue or never will be.
    let Some(automation) = tx.automation_for_update(workspace, id).await? else { return Ok(()) };
    let hooks = webhooks::Entity::find()
        .filter(webhooks::Column::AutomationId.eq(DbId(id)))
        .all(tx.read())
        .await
        .or_store_error()?;
    for hook in hooks {
        tx.invalidate_webhook(hook.id.0);
    }
    // First out of the queue, so that nobody claims a run that is about to end.
    let waiting = run_queue::Entity::delete_many()
        .filter(run_queue::Column::AutomationId.eq(DbId(id)))
        .filter(run_queue::Column::State.ne(QueueState::Leased))
        .exec_with_returning(tx.write())
        .await
        .or_store_error()?;
    let waiting: Vec<(RunId, AppId)> =
        waiting.into_iter().map(|entry| (entry.run_id.0, automation.app)).collect();
    let end = WaitingRunsEnd {
        workspace,
        code: AUTOMATION_DELETED,
        message: "The automation was deleted.",
        at: now,
    };
    fail_waiting_runs(tx, &end, &waiting).await?;
    webhooks::Entity::delete_many()
        .filter(webhooks::Column::AutomationId.eq(DbId(id)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    if let Some(tool) = tx.agent_tool_for_update(workspace, id).await? {
        tx.delete_agent_tool(workspace, tool.id).await?;
    }
    imports::Entity::update_many()
        .col_expr(imports::Column::AutomationId, Expr::value(None::<DbId<kind::Automation>>))
        .filter(imports::Column::AutomationId.eq(DbId(id)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    automations::Entity::delete_many()
        .filter(automations::Column::Id.eq(DbId(id)))
        .filter(automations::Column::WorkspaceId.eq(DbId(workspace)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    Ok(())
}

/// The end of runs that waited.
pub(super) struct WaitingRunsEnd {
    pub(super) workspace: WorkspaceId,
    pub(super) code: &'static str,
    pub(super) message: &'static str,
    pub(super) at: Timestamp,
}

/// Ends runs as failed that are out of the queue already.
pub(super) async fn fail_waiting_runs(
    tx: &mut StoreTx,
    end: &WaitingRunsEnd,
    waiting: &[(RunId, AppId)],
) -> Result<(), StoreError> {
    for (run, app) in waiting {
        let stage = RunStage::Failed { code: end.code.to_owned() };
        tx.publish(Event::of_app(end.workspace, *app, end.at, EventKind::Run { run: *run, stage }));
    }
    for waiting in statement_chunks(waiting) {
        let started_at = Func::coalesce([Expr::col(runs::Column::StartedAt), Expr::val(DbTime(end.at))]);
        let ended = runs::ActiveModel {
            status: Set(DbText(RunStatus::Failed)),
            finished_at: Set(Some(DbTime(end.at))),
            error_code: Set(Some(end.code.to_owned())),
            error_message: Set(Some(end.message.to_owned())),
            ..Default::default()
        };
        runs::Entity::update_many()
            .set(ended)
            .col_expr(runs::Column::StartedAt, started_at.into())
            .filter(runs::Column::Id.is_in(waiting.iter().map(|(run, _)| DbId(*run))))
            .exec(tx.write())
            .await
            .or_store_error()?;
    }
    Ok(())
}

/// Selects the automations of a workspace that have a concurrency limit.
pub(super) fn select_limited_automations(workspace: WorkspaceId) -> SelectStatement {
    automations::Entity::find()
        .filter(automations::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(automations::Column::MaxConcurrency.is_not_null())
        .select_only()
        .column(automations::Column::Id)
        .into_query()
}
