//! Failed runs and refused calls that are kept for replay.

use ::runs::{
    RunStatus, TriggerKind,
    dead_letters::{
        DeadLetter, DeadLetterFilter, DeadLetterOrigin, DeadLetterState, DeadLetterStatus, DeadLettersRead,
        DeadLettersTx, ReplaySource, Resolution,
    },
    runs::VersionRef,
    webhooks::KEY_LIFETIME,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, DeadLetterId, RunId, UserId, VersionId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait as _, DerivePartialModel, EntityTrait as _, FromQueryResult, JoinType,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, Func, OnConflict, Query},
};
use serde_json::value::RawValue;

use crate::{
    apps::visible_app_ids,
    convert::RowContext,
    entity::{
        app_versions, apps, automations,
        column::{DbId, DbText, DbTime},
        dead_letters, run_inputs, runs, users, webhook_keys, webhooks,
    },
    error::OrStoreError as _,
    query::{self, ROW_LOCK, literal},
    store::Store,
    tx::StoreTx,
};

/// Characters of a payload's preview.
const PREVIEW_CHARACTERS: i32 = 200;

/// A dead letter with the names of what it points at.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "dead_letters::Entity")]
struct DeadLetterRow {
    id: DbId<kind::DeadLetter>,
    app_id: DbId<kind::App>,
    #[sea_orm(from_expr = "apps::Column::Name")]
    app_name: Option<String>,
    #[sea_orm(from_expr = "apps::Column::CurrentVersionId")]
    current_version_id: Option<DbId<kind::Version>>,
    automation_id: Option<DbId<kind::Automation>>,
    #[sea_orm(from_expr = "automations::Column::Name")]
    automation_name: Option<String>,
    state: DbText<DeadLetterState>,
    trigger_kind: DbText<TriggerKind>,
    reason: String,
    message: String,
    run_id: Option<DbId<kind::Run>>,
    delivery_id: Option<DbId<kind::Delivery>>,
    version_id: Option<DbId<kind::Version>>,
    #[sea_orm(from_expr = "app_versions::Column::Number")]
    version_number: Option<i64>,
    attempt: i64,
    payload_bytes: i64,
    #[sea_orm(from_expr = "preview()")]
    preview: Option<String>,
    created_at: DbTime,
    settled_at: Option<DbTime>,
    #[sea_orm(from_expr = "users::Column::Name")]
    settled_by_name: Option<String>,
    replay_run_id: Option<DbId<kind::Run>>,
}

/// Selects dead letters of a workspace.
fn letters_of(workspace: WorkspaceId) -> Select<dead_letters::Entity> {
    dead_letters::Entity::find().filter(dead_letters::Column::WorkspaceId.eq(DbId(workspace)))
}

/// A letter's own payload, or else the input of its run, which has to be joined.
fn payload() -> Expr {
    let payload = Func::coalesce([
        Expr::col((dead_letters::Entity, dead_letters::Column::Payload)),
        Expr::col((run_inputs::Entity, run_inputs::Column::Input)),
    ]);
    payload.into()
}

/// The beginning of a letter's payload.
fn preview() -> Expr {
    Func::cust("substr").arg(payload()).arg(literal(1)).arg(literal(PREVIEW_CHARACTERS)).into()
}

/// A payload.
#[derive(FromQueryResult)]
struct PayloadRow {
    payload: Option<String>,
}

#[span_macros::traced]
#[async_trait]
impl DeadLettersRead for Store {
    async fn dead_letter_scope(&self, id: DeadLetterId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        use dead_letters::Column;
        let letter = dead_letters::Entity::find_by_id(id);
        query::scope(letter, [Column::WorkspaceId, Column::AppId], self.read()).await
    }

    async fn dead_letter(
        &self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetter, Option<Box<RawValue>>)>, StoreError> {
        let Some(dead_letter) = self.load_dead_letters(workspace, &[id]).await?.pop() else {
            return Ok(None);
        };
        let found = dead_letters::Entity::find_by_id(id)
            .join(JoinType::LeftJoin, dead_letters::Relation::Input.def())
            .select_only()
            .expr_as(payload(), "payload")
            .into_model::<PayloadRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("dead_letters", id);
        let payload = parse_input(row, found.and_then(|found| found.payload))?;
        Ok(Some((dead_letter, payload)))
    }

    async fn dead_letters(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: DeadLetterFilter,
        page: PageRequest,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        use dead_letters::Column;
        let page = letters_of(workspace)
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .apply_if(filter.app, |query, app| query.filter(Column::AppId.eq(DbId(app))))
            .apply_if(filter.automation, |query, id| query.filter(Column::AutomationId.eq(DbId(id))))
            // The dead letter of a run has its id.
            .apply_if(filter.run, |query, run| query.filter(Column::Id.eq(run.uuid())))
            .apply_if(filter.kind, |query, kind| query.filter(Column::Kind.eq(DbText(kind))))
            .apply_if(filter.state, |query, state| query.filter(Column::State.eq(DbText(state))))
            .apply_if(filter.trigger, |query, kind| query.filter(Column::TriggerKind.eq(DbText(kind))))
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1);
        let ids = query::ids(page, Column::Id, self.read()).await?;
        self.load_dead_letters(workspace, &ids).await
    }

    async fn count_open_dead_letters(&self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let state = Expr::col((dead_letters::Entity, dead_letters::Column::State));
        query::count(
            letters_of(workspace).filter(state.eq(literal(DbText(DeadLetterState::Open)))),
            self.read(),
        )
        .await
    }
}

impl Store {
    /// Returns letters with the names of what they point at, newest first.
    async fn load_dead_letters(
        &self,
        workspace: WorkspaceId,
        ids: &[DeadLetterId],
    ) -> Result<Vec<DeadLetter>, StoreError> {
        use dead_letters::{Column, Relation};
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let found = letters_of(workspace)
            .join(JoinType::LeftJoin, Relation::App.def())
            .join(JoinType::LeftJoin, Relation::Automation.def())
            .join(JoinType::LeftJoin, Relation::Version.def())
            .join(JoinType::LeftJoin, Relation::SettledBy.def())
            .join(JoinType::LeftJoin, Relation::Input.def())
            .filter(Column::Id.is_in(ids.iter().copied().map(DbId)))
            .order_by_desc(Column::Id)
            .into_partial_model::<DeadLetterRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(dead_letter).collect()
    }
}

fn dead_letter(found: DeadLetterRow) -> Result<DeadLetter, StoreError> {
    let row = RowContext::new("dead_letters", found.id);
    let version = found.version_id.map(|id| {
        Ok::<_, StoreError>(VersionRef {
            id: id.0,
            number: found.version_number.map(|number| row.number(number)).transpose()?,
            is_current: found.current_version_id == Some(id),
        })
    });
    let settlement = || -> Result<Resolution, StoreError> {
        let at = found.settled_at.ok_or_else(|| row.error("a settled letter needs its moment"))?;
        Ok(Resolution { at: at.0, by: found.settled_by_name.clone() })
    };
    let status = match (found.state.0, found.replay_run_id) {
        (DeadLetterState::Open, None) => DeadLetterStatus::Open,
        (DeadLetterState::Replayed, Some(run)) => DeadLetterStatus::Replayed(settlement()?, run.0),
        (DeadLetterState::Discarded, None) => DeadLetterStatus::Discarded(settlement()?),
        _ => return Err(row.error("only a replayed letter has a run that replays it")),
    };
    Ok(DeadLetter {
        id: found.id.0,
        origin: parse_origin(row, found.run_id, found.delivery_id)?,
        status,
        app: found.app_id.0,
        app_name: found.app_name.unwrap_or_default(),
        automation: found.automation_id.map(DbId::into_inner),
        automation_name: found.automation_name,
        trigger: found.trigger_kind.0,
        reason: found.reason,
        message: found.message,
        version: version.transpose()?,
        attempt: row.number(found.attempt)?,
        has_payload: found.preview.is_some(),
        payload_bytes: row.number(found.payload_bytes)?,
        preview: found.preview,
        created_at: found.created_at.0,
    })
}

fn parse_origin(
    row: RowContext,
    run: Option<DbId<kind::Run>>,
    delivery: Option<DbId<kind::Delivery>>,
) -> Result<DeadLetterOrigin, StoreError> {
    match (run, delivery) {
        (Some(run), None) => Ok(DeadLetterOrigin::Run(run.0)),
        (None, Some(delivery)) => Ok(DeadLetterOrigin::Delivery(delivery.0)),
        _ => Err(row.error("it must be of either a run or a delivery")),
    }
}

fn parse_input(row: RowContext, text: Option<String>) -> Result<Option<Box<RawValue>>, StoreError> {
    text.map(|text| RawValue::from_string(text).map_err(|error| row.error(error))).transpose()
}

/// A dead letter, as its replay needs it.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "dead_letters::Entity")]
struct LetterSourceRow {
    app_id: DbId<kind::App>,
    automation_id: Option<DbId<kind::Automation>>,
    trigger_kind: DbText<TriggerKind>,
    version_id: Option<DbId<kind::Version>>,
    run_id: Option<DbId<kind::Run>>,
    delivery_id: Option<DbId<kind::Delivery>>,
    state: DbText<DeadLetterState>,
    #[sea_orm(from_expr = "payload_or_input()")]
    input: Option<String>,
}

/// A letter's own payload, or else the input of its run. By a subquery, since rows that are joined optionally cannot be
/// locked.
fn payload_or_input() -> Expr {
    let run = (dead_letters::Entity, dead_letters::Column::RunId);
    let input = Query::select()
        .column(run_inputs::Column::Input)
        .from(run_inputs::Entity)
        .and_where(Expr::col((run_inputs::Entity, run_inputs::Column::RunId)).equals(run))
        .to_owned();
    let payload = Expr::col((dead_letters::Entity, dead_letters::Column::Payload));
    Func::coalesce([payload, input.into()]).into()
}

/// A run, as its replay needs it.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "runs::Entity")]
struct RunSourceRow {
    app_id: DbId<kind::App>,
    automation_id: Option<DbId<kind::Automation>>,
    trigger_kind: DbText<TriggerKind>,
    version_id: Option<DbId<kind::Version>>,
    status: DbText<RunStatus>,
    #[sea_orm(from_expr = "run_inputs::Column::Input")]
    input: Option<String>,
}

/// A version, and which of its app's versions is current.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct VersionRow {
    id: DbId<kind::Version>,
    number: i64,
    #[sea_orm(from_expr = "apps::Column::CurrentVersionId")]
    current_version_id: Option<DbId<kind::Version>>,
}

/// The run that a webhook's key belongs to.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "webhook_keys::Entity")]
struct KeyOwnerRow {
    run_id: DbId<kind::Run>,
}

#[span_macros::traced]
#[async_trait]
impl DeadLettersTx for StoreTx {
    async fn dead_letter_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetterOrigin, DeadLetterState, ReplaySource)>, StoreError> {
        let found = letters_of(workspace)
            .filter(dead_letters::Column::Id.eq(DbId(id)))
            .lock(ROW_LOCK)
            .into_partial_model::<LetterSourceRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(None) };
        let row = RowContext::new("dead_letters", id);
        let source = ReplaySource {
            app: found.app_id.0,
            automation: found.automation_id.map(DbId::into_inner),
            trigger: found.trigger_kind.0,
            version: found.version_id.map(DbId::into_inner),
            input: parse_input(row, found.input)?,
        };
        Ok(Some((parse_origin(row, found.run_id, found.delivery_id)?, found.state.0, source)))
    }

    async fn claim_refused_call(
        &mut self,
        workspace: WorkspaceId,
        letter: DeadLetterId,
        run: RunId,
        at: Timestamp,
    ) -> Result<Option<RunId>, StoreError> {
        use webhook_keys::Column;
        // The key of the letter's call.
        let key = letters_of(workspace)
            .filter(dead_letters::Column::Id.eq(DbId(letter)))
            .filter(dead_letters::Column::CallDigest.is_not_null())
            .join(JoinType::InnerJoin, dead_letters::Relation::Webhook.def())
            .select_only()
            .column(webhooks::Column::Id)
            .column(dead_letters::Column::CallDigest);
        let row = key
            .clone()
            .expr(Expr::val(DbId(run)))
            .column(dead_letters::Column::DeliveryId)
            .expr(Expr::val(DbTime(at + KEY_LIFETIME)))
            .into_query();
        let expired = Expr::col((webhook_keys::Entity, Column::ExpiresAt)).lte(DbTime(at));
        let take_over_expired = OnConflict::columns([Column::WebhookId, Column::Digest])
            .update_columns([Column::RunId, Column::DeliveryId, Column::ExpiresAt])
            .action_and_where(expired)
            .to_owned();
        let mut insert = Query::insert();
        insert
            .into_table(webhook_keys::Entity)
            .columns([
                Column::WebhookId,
                Column::Digest,
                Column::RunId,
                Column::DeliveryId,
                Column::ExpiresAt,
            ])
            .select_from(row)
            .map_err(|error| StoreError::Failed(error.into()))?
            .on_conflict(take_over_expired);
        self.write().execute(&insert).await.or_store_error()?;

        let columns = [Expr::col(Column::WebhookId), Expr::col(Column::Digest)];
        let owner = webhook_keys::Entity::find()
            .filter(Expr::tuple(columns).in_subquery(key.into_query()))
            .into_partial_model::<KeyOwnerRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(owner.map(|owner| owner.run_id.0).filter(|owner| *owner != run))
    }

    async fn replay_source_of_run(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
    ) -> Result<Option<(RunStatus, ReplaySource)>, StoreError> {
        let found = runs::Entity::find_by_id(run)
            .filter(runs::Column::WorkspaceId.eq(DbId(workspace)))
            .join(JoinType::LeftJoin, runs::Relation::Input.def())
            .into_partial_model::<RunSourceRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(None) };
        let source = ReplaySource {
            app: found.app_id.0,
            automation: found.automation_id.map(DbId::into_inner),
            trigger: found.trigger_kind.0,
            version: found.version_id.map(DbId::into_inner),
            input: parse_input(RowContext::new("runs", run), found.input)?,
        };
        Ok(Some((found.status.0, source)))
    }

    async fn find_version_to_run(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: Option<VersionId>,
    ) -> Result<Option<VersionRef>, StoreError> {
        let id = Expr::col((app_versions::Entity, app_versions::Column::Id));
        let current = (apps::Entity, apps::Column::CurrentVersionId);
        let found = app_versions::Entity::find()
            .join(JoinType::InnerJoin, app_versions::Relation::App.def())
            .filter(apps::Column::Id.eq(DbId(app)))
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(match version {
                Some(version) => id.eq(DbId(version)),
                None => id.equals(current),
            })
            .into_partial_model::<VersionRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        found
            .map(|found| {
                let row = RowContext::new("app_versions", found.id);
                Ok(VersionRef {
                    id: found.id.0,
                    number: Some(row.number(found.number)?),
                    is_current: found.current_version_id == Some(found.id),
                })
            })
            .transpose()
    }

    async fn lock_version_files(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError> {
        // What deletes files locks the version against writers, and then looks for runs.
        let found = app_versions::Entity::find_by_id(version)
            .filter(app_versions::Column::AppId.eq(DbId(app)))
            .filter(app_versions::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(app_versions::Column::FilesDeletedAt.is_null())
            .lock_shared();
        Ok(!query::ids::<_, kind::Version>(found, app_versions::Column::Id, self.read()).await?.is_empty())
    }

    async fn resolve_dead_letter(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
        at: Timestamp,
        by: Option<UserId>,
        replay: Option<RunId>,
    ) -> Result<(), StoreError> {
        let state = if replay.is_some() { DeadLetterState::Replayed } else { DeadLetterState::Discarded };
        let changes = dead_letters::ActiveModel {
            state: Set(DbText(state)),
            settled_at: Set(Some(DbTime(at))),
            settled_by: Set(by.map(DbId)),
            replay_run_id: Set(replay.map(DbId)),
            ..Default::default()
        };
        dead_letters::Entity::update_many()
            .set(changes)
            .filter(dead_letters::Column::Id.eq(DbId(id)))
            .filter(dead_letters::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
