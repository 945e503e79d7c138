//! Claiming runs.

use std::{collections::HashMap, sync::Arc};

use kernel::{Clock, Id, ShareId, StoreError, Timestamp, id::NodeId};
use runs::queue::{AppAvailability, ClaimLimit, ClaimedRun, LEASE};
use sea_orm::DbBackend;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::claim_turns::{ClaimHistory, ReadyWorkspace, choose_turns};
use crate::{
    convert::{RowContext, millis},
    queue_sql::{LEASED, READY, is_live_workspace},
    sql::{Sql, SqlExecutor, SqlRow, array_chunks_for, column, pad_to_power_of_two},
};

/// Number of workspaces with ready work that a claim looks at, at least: as many as five persons may create.
const TURN_WINDOW: u32 = 256;

/// A node's request for work.
#[derive(Clone)]
pub(crate) struct ClaimRequest {
    pub(crate) node: NodeId,
    pub(crate) limit: ClaimLimit,
    /// Looked at when the claim is carried out.
    pub(crate) clock: Arc<dyn Clock>,
    /// Whose turn it is at this node.
    pub(crate) history: Arc<ClaimHistory>,
}

impl ClaimRequest {
    /// Returns the request without the room of runs that were taken since it was made.
    pub(super) fn reduced_by(&self, taken: usize) -> Self {
        let taken = u32::try_from(taken).unwrap_or(u32::MAX);
        Self { limit: self.limit.reduced_by(taken), ..self.clone() }
    }
}

/// Returns `true` if anything is due that the claim may take.
pub(crate) async fn has_ready_work<D: SqlExecutor>(db: &D, claim: &ClaimRequest) -> Result<bool, StoreError> {
    let all = (Uuid::nil(), None);
    Ok(!ready_workspaces_within(db, claim, all, 1, claim.clock.now()).await?.is_empty())
}

/// Returns workspaces with ready work, not all of them if there are many: then the next claim looks at others.
pub(super) async fn ready_workspaces<D: SqlExecutor>(
    db: &D,
    claim: &ClaimRequest,
    now: Timestamp,
) -> Result<Vec<ReadyWorkspace>, StoreError> {
    let start = claim.history.window_start();
    let limit = claim.limit.total().max(TURN_WINDOW);
    let mut ready = ready_workspaces_within(db, claim, (start, None), limit, now).await?;
    if !start.is_nil() {
        let left = limit.saturating_sub(u32::try_from(ready.len()).unwrap_or(u32::MAX));
        ready.extend(ready_workspaces_within(db, claim, (Uuid::nil(), Some(start)), left, now).await?);
    }
    let is_window_full = ready.len() >= limit as usize;
    let next = ready.last().filter(|_| is_window_full).map(|one| one.workspace);
    claim.history.set_window_start(next.unwrap_or_default());
    Ok(ready)
}

/// Steps from workspace to workspace through the index, after one and up to another: what each has queued plays no part. In the
/// index's own order, or SQLite would take another index and read what is held back. Those whose share has no room have no turn.
async fn ready_workspaces_within<D: SqlExecutor>(
    db: &D,
    claim: &ClaimRequest,
    (after, until): (Uuid, Option<Uuid>),
    limit: u32,
    now: Timestamp,
) -> Result<Vec<ReadyWorkspace>, StoreError> {
    let ready = READY.to_string();
    let creator = "(SELECT w.created_by FROM workspaces w WHERE w.id = turns.workspace_id)";
    let mut sql = Sql::new(
        "WITH RECURSIVE turns (workspace_id) AS (SELECT (SELECT workspace_id FROM run_queue WHERE state = ",
    );
    sql.push(&ready).push(" AND workspace_id > ").bind(after);
    if let Some(until) = until {
        sql.push(" AND workspace_id <= ").bind(until);
    }
    sql.push(
        " ORDER BY workspace_id, available_at, run_id LIMIT 1) UNION ALL SELECT (SELECT q.workspace_id \
         FROM run_queue q WHERE q.state = ",
    );
    sql.push(&ready).push(" AND q.workspace_id > turns.workspace_id");
    if let Some(until) = until {
        sql.push(" AND q.workspace_id <= ").bind(until);
    }
    sql.push(
        " ORDER BY q.workspace_id, q.available_at, q.run_id LIMIT 1) FROM turns \
         WHERE turns.workspace_id IS NOT NULL) SELECT workspace_id, ",
    );
    sql.push(creator);
    sql.push(" FROM turns WHERE workspace_id IS NOT NULL AND ")
        .push(&is_live_workspace("turns.workspace_id"));
    sql.push(" AND EXISTS (SELECT 1 FROM run_queue q WHERE q.state = ");
    sql.push(&ready)
        .push(" AND q.workspace_id = turns.workspace_id AND q.available_at <= ")
        .bind(millis(now))
        .push(")");
    let exhausted = pad_to_power_of_two(claim.limit.exhausted_shares().map(ShareId::uuid).collect());
    if !exhausted.is_empty() {
        sql.push(" AND coalesce(").push(creator).push(", turns.workspace_id) NOT IN (");
        sql.bind_all(exhausted).push(")");
    }
    sql.push(" LIMIT ").bind(i64::from(limit));
    let found = sql.fetch_all(db).await?;
    let ready = found.iter().map(|row| {
        let workspace = column(row, 0)?;
        let creator = column::<Option<Uuid>>(row, 1)?.map(Id::from_uuid);
        Ok(ReadyWorkspace { workspace, share: ShareId::of(creator, Id::from_uuid(workspace)) })
    });
    ready.collect()
}

/// Takes what is due, of each workspace the oldest first, from persons and their workspaces in turn.
pub(crate) async fn claim<D: SqlExecutor>(
    tx: &D,
    claim: &ClaimRequest,
) -> Result<Vec<ClaimedRun>, StoreError> {
    let now = claim.clock.now();
    let turns = choose_turns(&ready_workspaces(tx, claim, now).await?, &claim.limit, &claim.history);
    claim_turns(tx, claim, &turns, now).await
}

/// Claims at most so many runs of each workspace.
pub(super) async fn claim_turns<D: SqlExecutor>(
    tx: &D,
    claim: &ClaimRequest,
    turns: &[(ReadyWorkspace, u32)],
    now: Timestamp,
) -> Result<Vec<ClaimedRun>, StoreError> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    let lock = if tx.backend() == DbBackend::Postgres { " FOR UPDATE SKIP LOCKED" } else { "" };
    // Materialised: asked for again, the inner selects would pass over what they have locked and take more.
    let mut sql = Sql::new("WITH next (run_id) AS MATERIALIZED (");
    for (index, (ReadyWorkspace { workspace, .. }, most)) in turns.iter().enumerate() {
        sql.push(if index > 0 { " UNION ALL SELECT run_id FROM (" } else { "SELECT run_id FROM (" });
        // Written out, so that the partial index serves.
        sql.push("SELECT run_id FROM run_queue WHERE state = ").push(&READY.to_string());
        sql.push(" AND workspace_id = ").bind(*workspace).push(" AND available_at <= ").bind(millis(now));
        sql.push(" ORDER BY available_at, run_id LIMIT ").bind(i64::from(*most)).push(lock);
        sql.push(") AS turn").push(&index.to_string());
    }
    sql.push(") UPDATE run_queue SET state = ").bind(LEASED).push(", leased_by = ").bind(claim.node.uuid());
    sql.push(", leased_until = ").bind(millis(now + LEASE));
    sql.push(
        ", attempt = attempt + 1 WHERE run_id IN (SELECT run_id FROM next) RETURNING available_at, run_id",
    );
    let rows = sql.fetch_all(tx).await?;
    let mut leased: Vec<(i64, Uuid)> =
        rows.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect::<Result<_, StoreError>>()?;
    leased.sort_unstable();
    // No earlier than the ends that made room for these, which were committed before they could be taken.
    let now = claim.clock.now();
    let shares: HashMap<Uuid, ShareId> = turns.iter().map(|(one, _)| (one.workspace, one.share)).collect();
    let mut claimed = Vec::with_capacity(leased.len());
    for leased in array_chunks_for(tx, &leased) {
        mark_running(tx, leased, now).await?;
        claimed.extend(load_claimed(tx, leased, &shares).await?);
    }
    Ok(claimed)
}

async fn mark_running<D: SqlExecutor>(
    tx: &D,
    leased: &[(i64, Uuid)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut sql = Sql::new("UPDATE runs SET status = 'running', started_at = coalesce(started_at, ");
    sql.bind(millis(now));
    sql.push(
        "), version_id = coalesce(version_id, (SELECT a.current_version_id FROM apps a \
         WHERE a.id = runs.app_id AND a.deleted_at IS NULL)), attempt = (SELECT q.attempt FROM run_queue q WHERE q.run_id = runs.id) WHERE id",
    );
    sql.push_any(tx, leased.iter().map(|(_, run)| *run));
    sql.execute(tx).await.map(drop)
}

async fn load_claimed<D: SqlExecutor>(
    tx: &D,
    leased: &[(i64, Uuid)],
    shares: &HashMap<Uuid, ShareId>,
) -> Result<Vec<ClaimedRun>, StoreError> {
    let mut sql = Sql::new(
        "SELECT r.id, r.workspace_id, r.app_id, r.automation_id, r.version_id, r.trigger_kind, i.input, \
         coalesce(r.scheduled_for, r.accepted_at), r.started_at, a.retries, a.cron, q.attempt, p.paused, p.deleted_at, r.answers FROM run_queue q \
         JOIN runs r ON r.id = q.run_id JOIN run_inputs i ON i.run_id = r.id \
         LEFT JOIN apps p ON p.id = r.app_id AND p.workspace_id = r.workspace_id \
         LEFT JOIN automations a ON a.id = r.automation_id WHERE q.run_id",
    );
    sql.push_any(tx, leased.iter().map(|(_, run)| *run)).push(" ORDER BY q.available_at, q.run_id");
    sql.fetch_all(tx).await?.iter().map(|row| claimed_run(row, shares)).collect()
}

fn claimed_run(found: &SqlRow, shares: &HashMap<Uuid, ShareId>) -> Result<ClaimedRun, StoreError> {
    let row = RowContext { table: "runs", id: column(found, 0)? };
    let workspace: Uuid = column(found, 1)?;
    let input: String = column(found, 6)?;
    let scheduled_for = row.timestamp(column(found, 7)?)?;
    let started_at: Option<i64> = column(found, 8)?;
    let retries: Option<i16> = column(found, 9)?;
    let answers: Option<String> = column(found, 14)?;
    Ok(ClaimedRun {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(workspace),
        share: shares.get(&workspace).copied().unwrap_or_else(|| ShareId::of(None, Id::from_uuid(workspace))),
        app: Id::from_uuid(column(found, 2)?),
        app_availability: app_availability(column(found, 12)?, column(found, 13)?),
        automation: column::<Option<Uuid>>(found, 3)?.map(Id::from_uuid),
        version: column::<Option<Uuid>>(found, 4)?.map(Id::from_uuid),
        trigger: row.parse(&column::<String>(found, 5)?)?,
        input: RawValue::from_string(input).map_err(|error| row.error(error))?,
        scheduled_for,
        started_at: row.optional_timestamp(started_at)?.unwrap_or(scheduled_for),
        attempt: row.number(column(found, 11)?)?,
        retries: row.number(retries.unwrap_or_default().into())?,
        cron: column(found, 10)?,
        answers: answers.map_or_else(|| Ok(Vec::new()), |answers| row.json(&answers))?,
    })
}

fn app_availability(paused: Option<bool>, deleted_at: Option<i64>) -> AppAvailability {
    match (paused, deleted_at) {
        (Some(false), None) => AppAvailability::Ready,
        (Some(true), None) => AppAvailability::Paused,
        (None, _) | (_, Some(_)) => AppAvailability::Deleted,
    }
}
