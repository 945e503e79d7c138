//! Claiming runs.

use std::{collections::HashSet, sync::Arc};

use kernel::{Clock, Id, StoreError, Timestamp, id::NodeId};
use runs::queue::{AppStanding, ClaimLimit, ClaimedRun, LEASE};
use sea_orm::DbBackend;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    convert::{Row, millis},
    runs::queue_state::{LEASED, READY},
    sql::{Db, Sql, SqlRow, column, pieces},
};

/// Who asks for work, and for how much.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) node: NodeId,
    pub(crate) limit: ClaimLimit,
    /// Looked at when the claim is carried out.
    pub(crate) clock: Arc<dyn Clock>,
    /// The workspace that had the last turn at this node; nil before the first.
    pub(crate) after: Uuid,
}

/// Whether anything is due that the claim may take.
pub(crate) async fn has_ready_work<D: Db>(db: &D, claim: &Claim) -> Result<bool, StoreError> {
    Ok(!turns_after(db, claim, Uuid::nil(), 1, claim.clock.now()).await?.is_empty())
}

/// The workspaces whose turn it is: at most as many as there are places, with ready work, after the one that had the
/// last turn, and then from the first. How many is a power of two, so that claims come in few shapes and stay prepared.
async fn turns<D: Db>(db: &D, claim: &Claim, now: Timestamp) -> Result<Vec<Uuid>, StoreError> {
    let Claim { after, .. } = *claim;
    let limit = claim.limit.in_all();
    let mut turns = turns_after(db, claim, after, limit, now).await?;
    if turns.len() < limit as usize && !after.is_nil() {
        let first = turns_after(db, claim, Uuid::nil(), limit, now).await?;
        turns.extend(first.into_iter().filter(|workspace| *workspace <= after));
        turns.truncate(limit as usize);
    }
    if let Some(power) = turns.len().checked_ilog2() {
        turns.truncate(1 << power);
    }
    Ok(turns)
}

/// Steps from workspace to workspace through the index: what each has queued plays no part. In the index's own order,
/// or SQLite would take another index and read what is held back. Those that hold their share have no turn.
async fn turns_after<D: Db>(
    db: &D,
    claim: &Claim,
    after: Uuid,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Uuid>, StoreError> {
    let ready = READY.to_string();
    let full: HashSet<Uuid> = claim.limit.full().map(Id::uuid).collect();
    // As many more as may be passed over.
    let looked_at = i64::from(limit).saturating_add(i64::try_from(full.len()).unwrap_or(i64::MAX));
    let mut sql = Sql::new(
        "WITH RECURSIVE turns (workspace_id) AS (SELECT (SELECT workspace_id FROM run_queue WHERE state = ",
    );
    sql.push(&ready).push(" AND workspace_id > ").bind(after);
    sql.push(
        " ORDER BY workspace_id, available_at, run_id LIMIT 1) UNION ALL SELECT (SELECT q.workspace_id \
         FROM run_queue q WHERE q.state = ",
    );
    sql.push(&ready).push(
        " AND q.workspace_id > turns.workspace_id ORDER BY q.workspace_id, q.available_at, q.run_id LIMIT 1) FROM turns \
         WHERE turns.workspace_id IS NOT NULL) SELECT workspace_id FROM turns WHERE workspace_id IS NOT NULL AND \
         EXISTS (SELECT 1 FROM run_queue q WHERE q.state = ",
    );
    sql.push(&ready)
        .push(" AND q.workspace_id = turns.workspace_id AND q.available_at <= ")
        .bind(millis(now));
    sql.push(") LIMIT ").bind(looked_at);
    let found = sql.all(db).await?;
    let found: Vec<Uuid> = found.iter().map(|row| column(row, 0)).collect::<Result<_, StoreError>>()?;
    Ok(found.into_iter().filter(|workspace| !full.contains(workspace)).take(limit as usize).collect())
}

/// Takes what is due, of each workspace the oldest first, from workspaces in turn.
pub(crate) async fn claim<D: Db>(tx: &D, claim: &Claim) -> Result<Vec<ClaimedRun>, StoreError> {
    let Claim { node, ref limit, ref clock, .. } = *claim;
    let now = clock.now();
    let turns = turns(tx, claim, now).await?;
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    // Rounded down, so that together they are no more than the limit; what is left is claimed the next time.
    let share = i64::from(limit.in_all()).div_euclid(turns.len() as i64).max(1);
    let lock = if tx.backend() == DbBackend::Postgres { " FOR UPDATE SKIP LOCKED" } else { "" };
    // Materialised: asked for again, the inner selects would pass over what they have locked and take more.
    let mut sql = Sql::new("WITH next (run_id) AS MATERIALIZED (");
    for (index, workspace) in turns.iter().enumerate() {
        sql.push(if index > 0 { " UNION ALL SELECT run_id FROM (" } else { "SELECT run_id FROM (" });
        // Written out, so that the partial index serves.
        sql.push("SELECT run_id FROM run_queue WHERE state = ").push(&READY.to_string());
        sql.push(" AND workspace_id = ").bind(*workspace).push(" AND available_at <= ").bind(millis(now));
        sql.push(" ORDER BY available_at, run_id LIMIT ")
            .bind(share.min(limit.of(Id::from_uuid(*workspace)).into()))
            .push(lock);
        sql.push(") AS turn").push(&index.to_string());
    }
    sql.push(") UPDATE run_queue SET state = ").bind(LEASED).push(", leased_by = ").bind(node.uuid());
    sql.push(", leased_until = ").bind(millis(now + LEASE));
    sql.push(
        ", attempt = attempt + 1 WHERE run_id IN (SELECT run_id FROM next) RETURNING available_at, run_id",
    );
    let taken = sql.all(tx).await?;
    let mut taken: Vec<(i64, Uuid)> =
        taken.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect::<Result<_, StoreError>>()?;
    taken.sort_unstable();
    // No earlier than the ends that made room for these, which were committed before they could be taken.
    let now = clock.now();
    let mut claimed = Vec::with_capacity(taken.len());
    for taken in pieces(tx, &taken) {
        mark_running(tx, taken, now).await?;
        claimed.extend(read(tx, taken).await?);
    }
    Ok(claimed)
}

async fn mark_running<D: Db>(tx: &D, taken: &[(i64, Uuid)], now: Timestamp) -> Result<(), StoreError> {
    let mut sql = Sql::new("UPDATE runs SET status = 'running', started_at = coalesce(started_at, ");
    sql.bind(millis(now));
    sql.push(
        "), version_id = coalesce(version_id, (SELECT a.current_version_id FROM apps a \
         WHERE a.id = runs.app_id AND a.deleted_at IS NULL)), attempt = (SELECT q.attempt FROM run_queue q WHERE q.run_id = runs.id) WHERE id IN (",
    );
    sql.bind_all(taken.iter().map(|(_, run)| *run)).push(")");
    sql.execute(tx).await.map(drop)
}

async fn read<D: Db>(tx: &D, taken: &[(i64, Uuid)]) -> Result<Vec<ClaimedRun>, StoreError> {
    let mut sql = Sql::new(
        "SELECT r.id, r.workspace_id, r.app_id, r.automation_id, r.version_id, r.trigger_kind, i.input, \
         coalesce(r.scheduled_for, r.accepted_at), r.started_at, a.retries, a.cron, q.attempt, p.paused, p.deleted_at, r.answers FROM run_queue q \
         JOIN runs r ON r.id = q.run_id JOIN run_inputs i ON i.run_id = r.id \
         LEFT JOIN apps p ON p.id = r.app_id AND p.workspace_id = r.workspace_id \
         LEFT JOIN automations a ON a.id = r.automation_id WHERE q.run_id IN (",
    );
    sql.bind_all(taken.iter().map(|(_, run)| *run)).push(") ORDER BY q.available_at, q.run_id");
    sql.all(tx).await?.iter().map(claimed_run).collect()
}

fn claimed_run(found: &SqlRow) -> Result<ClaimedRun, StoreError> {
    let row = Row { table: "runs", id: column(found, 0)? };
    let input: String = column(found, 6)?;
    let scheduled_for = row.moment(column(found, 7)?)?;
    let started_at: Option<i64> = column(found, 8)?;
    let retries: Option<i16> = column(found, 9)?;
    let answers: Option<String> = column(found, 14)?;
    Ok(ClaimedRun {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(column(found, 1)?),
        app: Id::from_uuid(column(found, 2)?),
        standing: standing(column(found, 12)?, column(found, 13)?),
        automation: column::<Option<Uuid>>(found, 3)?.map(Id::from_uuid),
        version: column::<Option<Uuid>>(found, 4)?.map(Id::from_uuid),
        trigger: row.parse(&column::<String>(found, 5)?)?,
        input: RawValue::from_string(input).map_err(|error| row.error(error))?,
        scheduled_for,
        started_at: row.moment_or_none(started_at)?.unwrap_or(scheduled_for),
        attempt: row.number(column(found, 11)?)?,
        retries: row.number(retries.unwrap_or_default().into())?,
        cron: column(found, 10)?,
        answers: answers.map_or_else(|| Ok(Vec::new()), |answers| row.json(&answers))?,
    })
}

fn standing(paused: Option<bool>, deleted_at: Option<i64>) -> AppStanding {
    match (paused, deleted_at) {
        (Some(false), None) => AppStanding::Ready,
        (Some(true), None) => AppStanding::Paused,
        (None, _) | (_, Some(_)) => AppStanding::Gone,
    }
}
