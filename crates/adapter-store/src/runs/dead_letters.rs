//! Failed runs and refused calls that are kept for replay.

use ::runs::{
    RunStatus,
    dead_letters::{
        DeadLetter, DeadLetterFilter, DeadLetterOrigin, DeadLetterState, DeadLetterStatus, DeadLettersRead,
        DeadLettersTx, ReplaySource, Resolution,
    },
    runs::VersionRef,
    webhooks::KEY_LIFETIME,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, DeadLetterId, RunId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    Store, StoreTx,
    apps::visible_app_ids,
    convert::{RowContext, millis},
    entity::dead_letters,
    error::OrStoreError as _,
    sql::{Sql, SqlRow, column, for_update},
};

#[async_trait]
impl DeadLettersRead for Store {
    async fn dead_letter_scope(&self, id: DeadLetterId) -> Result<Option<(WorkspaceId, AppId)>, StoreError> {
        let found: Option<(Uuid, Uuid)> = dead_letters::Entity::find_by_id(id.uuid())
            .select_only()
            .columns([dead_letters::Column::WorkspaceId, dead_letters::Column::AppId])
            .into_tuple()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|(workspace, app)| (Id::from_uuid(workspace), Id::from_uuid(app))))
    }

    async fn dead_letter(
        &self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetter, Option<Box<RawValue>>)>, StoreError> {
        let Some(dead_letter) = self.load_dead_letters(workspace, &[id.uuid()]).await?.pop() else {
            return Ok(None);
        };
        let mut sql = Sql::new(
            "SELECT coalesce(d.payload, i.input) FROM dead_letters d LEFT JOIN run_inputs i ON i.run_id = d.run_id \
             WHERE d.id = ",
        );
        sql.bind(id.uuid());
        let payload = match sql.fetch_optional(self.read()).await? {
            Some(row) => parse_input(RowContext { table: "dead_letters", id: id.uuid() }, column(&row, 0)?)?,
            None => None,
        };
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
        let mut select = dead_letters::Entity::find().filter(Column::WorkspaceId.eq(workspace.uuid()));
        select = select.filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)));
        if let Some(app) = filter.app {
            select = select.filter(Column::AppId.eq(app.uuid()));
        }
        if let Some(automation) = filter.automation {
            select = select.filter(Column::AutomationId.eq(automation.uuid()));
        }
        if let Some(kind) = filter.kind {
            select = select.filter(Column::Kind.eq(kind.as_str()));
        }
        if let Some(state) = filter.state {
            select = select.filter(Column::State.eq(state.as_str()));
        }
        if let Some(trigger) = filter.trigger {
            select = select.filter(Column::TriggerKind.eq(trigger.as_str()));
        }
        if let Some(after) = page.after {
            select = select.filter(Column::Id.lt(after));
        }
        let ids: Vec<Uuid> = select
            .select_only()
            .column(Column::Id)
            .order_by_desc(Column::Id)
            .limit(u64::from(page.limit) + 1)
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        self.load_dead_letters(workspace, &ids).await
    }

    async fn count_open_dead_letters(&self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT count(*) FROM dead_letters WHERE state = 'open' AND workspace_id = ");
        sql.bind(workspace.uuid());
        match sql.fetch_optional(self.read()).await? {
            Some(row) => RowContext { table: "dead_letters", id: workspace.uuid() }.number(column(&row, 0)?),
            None => Ok(0),
        }
    }
}

impl Store {
    /// Letters with the names of what they point at, newest first.
    async fn load_dead_letters(
        &self,
        workspace: WorkspaceId,
        ids: &[Uuid],
    ) -> Result<Vec<DeadLetter>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new(
            "SELECT d.id, d.app_id, p.name, p.current_version_id, d.automation_id, a.name, d.state, d.trigger_kind, \
             d.reason, d.message, d.run_id, d.delivery_id, d.version_id, v.number, d.attempt, d.payload_bytes, \
             substr(coalesce(d.payload, i.input), 1, 200), d.created_at, d.settled_at, u.name, d.replay_run_id \
             FROM dead_letters d LEFT JOIN apps p ON p.id = d.app_id LEFT JOIN automations a ON a.id = d.automation_id \
             LEFT JOIN app_versions v ON v.id = d.version_id LEFT JOIN users u ON u.id = d.settled_by \
             LEFT JOIN run_inputs i ON i.run_id = d.run_id WHERE d.workspace_id = ",
        );
        sql.bind(workspace.uuid()).push(" AND d.id IN (").bind_all(ids.iter().copied());
        sql.push(") ORDER BY d.id DESC");
        sql.fetch_all(self.read()).await?.iter().map(dead_letter).collect()
    }
}

fn dead_letter(found: &SqlRow) -> Result<DeadLetter, StoreError> {
    let row = RowContext { table: "dead_letters", id: column(found, 0)? };
    let current: Option<Uuid> = column(found, 3)?;
    let version: Option<Uuid> = column(found, 12)?;
    let number: Option<i64> = column(found, 13)?;
    let version = version.map(|id| {
        Ok::<_, StoreError>(VersionRef {
            id: Id::from_uuid(id),
            number: number.map(|number| row.number(number)).transpose()?,
            is_current: current == Some(id),
        })
    });
    let settlement = || -> Result<Resolution, StoreError> {
        let at: Option<i64> = column(found, 18)?;
        let at = row.optional_timestamp(at)?.ok_or_else(|| row.error("a settled letter needs its moment"))?;
        Ok(Resolution { at, by: column(found, 19)? })
    };
    let replay: Option<Uuid> = column(found, 20)?;
    let fate = match (row.parse(&column::<String>(found, 6)?)?, replay) {
        (DeadLetterState::Open, None) => DeadLetterStatus::Open,
        (DeadLetterState::Replayed, Some(run)) => {
            DeadLetterStatus::Replayed(settlement()?, Id::from_uuid(run))
        }
        (DeadLetterState::Discarded, None) => DeadLetterStatus::Discarded(settlement()?),
        _ => return Err(row.error("only a replayed letter has a run that replays it")),
    };
    let preview: Option<String> = column(found, 16)?;
    Ok(DeadLetter {
        id: Id::from_uuid(row.id),
        origin: parse_origin(row, column(found, 10)?, column(found, 11)?)?,
        status: fate,
        app: Id::from_uuid(column(found, 1)?),
        app_name: column::<Option<String>>(found, 2)?.unwrap_or_default(),
        automation: column::<Option<Uuid>>(found, 4)?.map(Id::from_uuid),
        automation_name: column(found, 5)?,
        trigger: row.parse(&column::<String>(found, 7)?)?,
        reason: column(found, 8)?,
        message: column(found, 9)?,
        version: version.transpose()?,
        attempt: row.number(column(found, 14)?)?,
        has_payload: preview.is_some(),
        payload_bytes: row.number(column(found, 15)?)?,
        preview,
        created_at: row.timestamp(column(found, 17)?)?,
    })
}

fn parse_origin(
    row: RowContext,
    run: Option<Uuid>,
    delivery: Option<Uuid>,
) -> Result<DeadLetterOrigin, StoreError> {
    match (run, delivery) {
        (Some(run), None) => Ok(DeadLetterOrigin::Run(Id::from_uuid(run))),
        (None, Some(delivery)) => Ok(DeadLetterOrigin::Delivery(Id::from_uuid(delivery))),
        _ => Err(row.error("it must be of either a run or a delivery")),
    }
}

fn parse_input(row: RowContext, text: Option<String>) -> Result<Option<Box<RawValue>>, StoreError> {
    text.map(|text| RawValue::from_string(text).map_err(|error| row.error(error))).transpose()
}

#[async_trait]
impl DeadLettersTx for StoreTx {
    async fn dead_letter_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetterOrigin, DeadLetterState, ReplaySource)>, StoreError> {
        let row = RowContext { table: "dead_letters", id: id.uuid() };
        let mut sql = Sql::new(
            "SELECT app_id, automation_id, trigger_kind, version_id, run_id, delivery_id, state, \
             coalesce(payload, (SELECT input FROM run_inputs WHERE run_inputs.run_id = dead_letters.run_id)) \
             FROM dead_letters WHERE id = ",
        );
        sql.bind(id.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.push(for_update(sea_orm::ConnectionTrait::get_database_backend(self.read())));
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let source = parse_source(row, &found, 7)?;
        let origin = parse_origin(row, column(&found, 4)?, column(&found, 5)?)?;
        Ok(Some((origin, row.parse(&column::<String>(&found, 6)?)?, source)))
    }

    async fn claim_refused_call(
        &mut self,
        workspace: WorkspaceId,
        letter: DeadLetterId,
        run: RunId,
        at: Timestamp,
    ) -> Result<Option<RunId>, StoreError> {
        let of_letter = |sql: &mut Sql| {
            sql.push(
                " FROM dead_letters d JOIN webhooks w ON w.automation_id = d.automation_id WHERE d.id = ",
            );
            sql.bind(letter.uuid()).push(" AND d.workspace_id = ").bind(workspace.uuid());
            sql.push(" AND d.call_digest IS NOT NULL");
        };
        let mut sql = Sql::new(
            "INSERT INTO webhook_keys (webhook_id, digest, run_id, delivery_id, expires_at) \
             SELECT w.id, d.call_digest, ",
        );
        sql.bind(run.uuid()).push(", d.delivery_id, ").bind(millis(at + KEY_LIFETIME));
        of_letter(&mut sql);
        sql.push(
            " ON CONFLICT (webhook_id, digest) DO UPDATE SET run_id = excluded.run_id, \
             delivery_id = excluded.delivery_id, expires_at = excluded.expires_at \
             WHERE webhook_keys.expires_at <= ",
        );
        sql.bind(millis(at));
        sql.execute(self.write()).await?;

        let mut sql = Sql::new(
            "SELECT k.run_id FROM webhook_keys k WHERE (k.webhook_id, k.digest) IN (SELECT w.id, d.call_digest",
        );
        of_letter(&mut sql);
        sql.push(")");
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let claimed: Uuid = column(&found, 0)?;
        Ok(Some(Id::from_uuid(claimed)).filter(|claimed| *claimed != run))
    }

    async fn replay_source_of_run(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
    ) -> Result<Option<(RunStatus, ReplaySource)>, StoreError> {
        let row = RowContext { table: "runs", id: run.uuid() };
        let mut sql = Sql::new(
            "SELECT r.app_id, r.automation_id, r.trigger_kind, r.version_id, r.status, i.input FROM runs r \
             LEFT JOIN run_inputs i ON i.run_id = r.id WHERE r.id = ",
        );
        sql.bind(run.uuid()).push(" AND r.workspace_id = ").bind(workspace.uuid());
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        Ok(Some((row.parse(&column::<String>(&found, 4)?)?, parse_source(row, &found, 5)?)))
    }

    async fn find_version_to_run(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: Option<VersionId>,
    ) -> Result<Option<VersionRef>, StoreError> {
        let mut sql = Sql::new(
            "SELECT v.id, v.number, p.current_version_id FROM apps p JOIN app_versions v ON v.app_id = p.id WHERE p.id = ",
        );
        sql.bind(app.uuid()).push(" AND p.workspace_id = ").bind(workspace.uuid()).push(" AND v.id = ");
        match version {
            Some(version) => sql.bind(version.uuid()),
            None => sql.push("p.current_version_id"),
        };
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let row = RowContext { table: "app_versions", id: column(&found, 0)? };
        let current: Option<Uuid> = column(&found, 2)?;
        Ok(Some(VersionRef {
            id: Id::from_uuid(row.id),
            number: Some(row.number(column(&found, 1)?)?),
            is_current: current == Some(row.id),
        }))
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
        let mut sql = Sql::new("UPDATE dead_letters SET state = ");
        sql.bind(state.as_str()).push(", settled_at = ").bind(millis(at)).push(", settled_by = ");
        sql.bind(by.map(Id::uuid)).push(", replay_run_id = ").bind(replay.map(Id::uuid)).push(" WHERE id = ");
        sql.bind(id.uuid()).push(" AND workspace_id = ").bind(workspace.uuid());
        sql.execute(self.write()).await.map(drop)
    }
}

/// What a replay starts from; the first four columns, and the input where `input_at` says.
fn parse_source(row: RowContext, found: &SqlRow, input_at: usize) -> Result<ReplaySource, StoreError> {
    Ok(ReplaySource {
        app: Id::from_uuid(column(found, 0)?),
        automation: column::<Option<Uuid>>(found, 1)?.map(Id::from_uuid),
        trigger: row.parse(&column::<String>(found, 2)?)?,
        version: column::<Option<Uuid>>(found, 3)?.map(Id::from_uuid),
        input: parse_input(row, column(found, input_at)?)?,
    })
}
