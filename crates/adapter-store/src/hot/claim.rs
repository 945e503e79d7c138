//! Claiming runs.

use kernel::{Id, StoreError, Timestamp, id::NodeId};
use runs::queue::{AppStanding, ClaimedRun, LEASE};
use sea_orm::DbBackend;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    convert::{Row, millis},
    runs::queue_state::{LEASED, READY},
    sql::{Db, Sql, SqlRow, column},
};

/// Who asks for work, and for how much.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) node: NodeId,
    pub(crate) limit: u32,
    pub(crate) now: Timestamp,
}

/// Whether anything is due.
pub(crate) async fn has_ready_work<D: Db>(db: &D, now: Timestamp) -> Result<bool, StoreError> {
    let mut sql = Sql::new("SELECT 1 FROM run_queue WHERE state = ");
    sql.push(&READY.to_string()).push(" AND available_at <= ").bind(millis(now)).push(" LIMIT 1");
    Ok(sql.one(db).await?.is_some())
}

/// Takes what is due, oldest first.
pub(crate) async fn claim<D: Db>(tx: &D, claim: Claim) -> Result<Vec<ClaimedRun>, StoreError> {
    let Claim { node, limit, now } = claim;
    // Materialised: asked for again, the inner select would pass over what it has locked and take more.
    let mut sql = Sql::new("WITH next (run_id) AS MATERIALIZED (SELECT run_id FROM run_queue WHERE state = ");
    // Written out, so that the partial index serves.
    sql.push(&READY.to_string()).push(" AND available_at <= ").bind(millis(now));
    sql.push(" ORDER BY available_at, run_id LIMIT ").bind(i64::from(limit));
    if tx.backend() == DbBackend::Postgres {
        sql.push(" FOR UPDATE SKIP LOCKED");
    }
    sql.push(") UPDATE run_queue SET state = ").bind(LEASED).push(", leased_by = ").bind(node.uuid());
    sql.push(", leased_until = ").bind(millis(now + LEASE));
    sql.push(", attempt = attempt + 1 WHERE run_id IN (SELECT run_id FROM next) RETURNING run_id");
    let taken: Vec<Uuid> =
        sql.all(tx).await?.iter().map(|row| column(row, 0)).collect::<Result<_, StoreError>>()?;
    if taken.is_empty() {
        return Ok(Vec::new());
    }

    let mut sql = Sql::new("UPDATE runs SET status = 'running', started_at = coalesce(started_at, ");
    sql.bind(millis(now));
    sql.push(
        "), version_id = coalesce(version_id, (SELECT a.current_version_id FROM apps a \
         WHERE a.id = runs.app_id AND a.deleted_at IS NULL)), attempt = (SELECT q.attempt FROM run_queue q WHERE q.run_id = runs.id) WHERE id IN (",
    );
    sql.bind_all(taken.iter().copied()).push(")");
    sql.execute(tx).await?;

    let mut sql = Sql::new(
        "SELECT r.id, r.workspace_id, r.app_id, r.automation_id, r.version_id, r.trigger_kind, i.input, \
         r.accepted_at, r.started_at, a.retries, a.cron, q.attempt, p.paused, p.deleted_at FROM run_queue q \
         JOIN runs r ON r.id = q.run_id JOIN run_inputs i ON i.run_id = r.id \
         LEFT JOIN apps p ON p.id = r.app_id AND p.workspace_id = r.workspace_id \
         LEFT JOIN automations a ON a.id = r.automation_id WHERE q.run_id IN (",
    );
    sql.bind_all(taken).push(") ORDER BY q.available_at, q.run_id");
    sql.all(tx).await?.iter().map(claimed_run).collect()
}

fn claimed_run(found: &SqlRow) -> Result<ClaimedRun, StoreError> {
    let row = Row { table: "runs", id: column(found, 0)? };
    let input: String = column(found, 6)?;
    let accepted_at = row.moment(column(found, 7)?)?;
    let started_at: Option<i64> = column(found, 8)?;
    let retries: Option<i16> = column(found, 9)?;
    Ok(ClaimedRun {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(column(found, 1)?),
        app: Id::from_uuid(column(found, 2)?),
        standing: standing(column(found, 12)?, column(found, 13)?),
        automation: column::<Option<Uuid>>(found, 3)?.map(Id::from_uuid),
        version: column::<Option<Uuid>>(found, 4)?.map(Id::from_uuid),
        trigger: row.parse(&column::<String>(found, 5)?)?,
        input: RawValue::from_string(input).map_err(|error| row.error(error))?,
        accepted_at,
        started_at: row.moment_or_none(started_at)?.unwrap_or(accepted_at),
        attempt: row.number(column(found, 11)?)?,
        retries: row.number(retries.unwrap_or_default().into())?,
        cron: column(found, 10)?,
    })
}

fn standing(paused: Option<bool>, deleted_at: Option<i64>) -> AppStanding {
    match (paused, deleted_at) {
        (Some(false), None) => AppStanding::Ready,
        (Some(true), None) => AppStanding::Paused,
        (None, _) | (_, Some(_)) => AppStanding::Gone,
    }
}
