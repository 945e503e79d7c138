//! Claiming runs, and keeping or giving back what was claimed.

use std::{sync::PoisonError, time::Duration};

use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{NodeId, RunId},
};
use runs::queue::{ClaimedRun, FinishedRun, LEASE, RunQueue};
use sea_orm::{ConnectionTrait as _, DbBackend, QueryResult};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::Op;
use crate::{
    Store,
    convert::{Row, ids, millis},
    error::OrStoreError as _,
    runs::queue_state::{LEASED, READY},
    sql::{Sql, column},
    store,
};

#[async_trait]
impl RunQueue for Store {
    async fn claim(&self, node: NodeId, limit: u32, now: Timestamp) -> Result<Vec<ClaimedRun>, StoreError> {
        let turns = self.turns(limit, now).await?;
        let Some(last) = turns.last() else { return Ok(Vec::new()) };
        *self.inner().last_turn.lock().unwrap_or_else(PoisonError::into_inner) = *last;
        // Rounded down, so that together they are no more than the limit; what is left is claimed the next time.
        let share = i64::from(limit).div_euclid(turns.len() as i64).max(1);
        let tx = store::begin(self.write()).await?;
        let lock =
            if tx.get_database_backend() == DbBackend::Postgres { " FOR UPDATE SKIP LOCKED" } else { "" };
        // Materialised: asked for again, the inner selects would pass over what they have locked and take more.
        let mut sql = Sql::new("WITH next (run_id) AS MATERIALIZED (");
        for (index, workspace) in turns.iter().enumerate() {
            sql.push(if index > 0 { " UNION ALL SELECT run_id FROM (" } else { "SELECT run_id FROM (" });
            // Written out, so that the partial index serves.
            sql.push("SELECT run_id FROM run_queue WHERE state = ").push(&READY.to_string());
            sql.push(" AND workspace_id = ").bind(*workspace).push(" AND available_at <= ").bind(millis(now));
            sql.push(" ORDER BY available_at, run_id LIMIT ").bind(share).push(lock);
            sql.push(") AS turn").push(&index.to_string());
        }
        sql.push(") UPDATE run_queue SET state = ").bind(LEASED).push(", leased_by = ").bind(node.uuid());
        sql.push(", leased_until = ").bind(millis(now + LEASE));
        sql.push(", attempt = attempt + 1 WHERE run_id IN (SELECT run_id FROM next) RETURNING run_id");
        let taken: Vec<Uuid> =
            sql.all(&tx).await?.iter().map(|row| column(row, 0)).collect::<Result<_, StoreError>>()?;
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
        sql.execute(&tx).await?;

        let mut sql = Sql::new(
            "SELECT r.id, r.workspace_id, r.app_id, r.automation_id, r.version_id, r.trigger_kind, i.input, \
             coalesce(r.scheduled_for, r.accepted_at), r.started_at, a.retries, a.cron, q.attempt FROM run_queue q \
             JOIN runs r ON r.id = q.run_id JOIN run_inputs i ON i.run_id = r.id \
             LEFT JOIN automations a ON a.id = r.automation_id WHERE q.run_id IN (",
        );
        sql.bind_all(taken).push(") ORDER BY q.available_at, q.run_id");
        let claimed = sql.all(&tx).await?.iter().map(claimed_run).collect::<Result<Vec<_>, StoreError>>()?;
        tx.commit().await.or_store_error()?;
        Ok(claimed)
    }

    async fn extend(&self, node: NodeId, runs: &[RunId], now: Timestamp) -> Result<Vec<RunId>, StoreError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("UPDATE run_queue SET leased_until = ");
        sql.bind(millis(now + LEASE)).push(" WHERE leased_by = ").bind(node.uuid()).push(" AND state = ");
        sql.bind(LEASED).push(" AND run_id IN (").bind_all(ids(runs)).push(") RETURNING run_id");
        sql.all(self.write()).await?.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect()
    }

    async fn finish(&self, node: NodeId, finished: FinishedRun) -> Result<bool, StoreError> {
        let workspace = finished.workspace;
        self.inner().hot.submit(workspace, |reply| Op::Finish(node, Box::new(finished), reply)).await
    }

    async fn release(&self, node: NodeId, runs: &[RunId]) -> Result<(), StoreError> {
        if runs.is_empty() {
            return Ok(());
        }
        let tx = store::begin(self.write()).await?;
        let mut sql = Sql::new("UPDATE run_queue SET state = ");
        sql.bind(READY)
            .push(", leased_by = NULL, leased_until = NULL, attempt = attempt - 1 WHERE leased_by = ");
        sql.bind(node.uuid()).push(" AND state = ").bind(LEASED).push(" AND run_id IN (").bind_all(ids(runs));
        sql.push(") RETURNING run_id");
        let released: Vec<Uuid> =
            sql.all(&tx).await?.iter().map(|row| column(row, 0)).collect::<Result<_, StoreError>>()?;
        mark_queued(&tx, &released).await?;
        tx.commit().await.or_store_error()
    }

    async fn release_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        // Looked up before the write lock is asked for: most of the time there is nothing to do.
        let mut sql = Sql::new("SELECT run_id FROM run_queue WHERE state = ");
        sql.push(&LEASED.to_string()).push(" AND leased_until <= ").bind(millis(now)).push(" LIMIT 500");
        let expired: Vec<Uuid> = sql
            .all(self.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        if expired.is_empty() {
            return Ok(0);
        }
        let tx = store::begin(self.write()).await?;
        let mut sql = Sql::new("UPDATE run_queue SET state = ");
        sql.bind(READY).push(", leased_by = NULL, leased_until = NULL WHERE state = ").bind(LEASED);
        sql.push(" AND leased_until <= ").bind(millis(now)).push(" AND run_id IN (").bind_all(expired);
        sql.push(") RETURNING run_id");
        let released: Vec<Uuid> =
            sql.all(&tx).await?.iter().map(|row| column(row, 0)).collect::<Result<_, StoreError>>()?;
        mark_queued(&tx, &released).await?;
        tx.commit().await.or_store_error()?;
        if !released.is_empty() {
            self.inner().work.notify_one();
        }
        Ok(released.len() as u64)
    }

    async fn wait_for_work(&self, at_most: Duration) {
        // Other nodes of a shared database do not ring here: they are noticed after at most this long.
        let at_most = if self.is_postgres() { at_most.min(Duration::from_millis(200)) } else { at_most };
        drop(tokio::time::timeout(at_most, self.inner().work.notified()).await);
    }
}

impl Store {
    /// The workspaces whose turn it is: at most `limit` with ready work, after the last one that had a turn here, and
    /// then from the first. How many is a power of two, so that claims come in few shapes and stay prepared.
    async fn turns(&self, limit: u32, now: Timestamp) -> Result<Vec<Uuid>, StoreError> {
        let last = *self.inner().last_turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut turns = self.turns_after(last, limit, now).await?;
        if turns.len() < limit as usize && !last.is_nil() {
            let first = self.turns_after(Uuid::nil(), limit, now).await?;
            turns.extend(first.into_iter().filter(|workspace| *workspace <= last));
            turns.truncate(limit as usize);
        }
        if let Some(power) = turns.len().checked_ilog2() {
            turns.truncate(1 << power);
        }
        Ok(turns)
    }

    /// Steps from workspace to workspace through the index: what each has queued plays no part. In the index's own
    /// order, or SQLite would take another index and read what is held back.
    async fn turns_after(&self, after: Uuid, limit: u32, now: Timestamp) -> Result<Vec<Uuid>, StoreError> {
        let ready = READY.to_string();
        let mut sql = Sql::new(
            "WITH RECURSIVE turns (workspace_id) AS (SELECT (SELECT workspace_id FROM run_queue WHERE state = ",
        );
        sql.push(&ready).push(" AND workspace_id > ").bind(after);
        sql.push(" ORDER BY workspace_id, available_at, run_id LIMIT 1) UNION ALL SELECT (SELECT q.workspace_id FROM run_queue q WHERE q.state = ");
        sql.push(&ready).push(
            " AND q.workspace_id > turns.workspace_id ORDER BY q.workspace_id, q.available_at, q.run_id LIMIT 1) FROM turns \
             WHERE turns.workspace_id IS NOT NULL) SELECT workspace_id FROM turns WHERE workspace_id IS NOT NULL AND \
             EXISTS (SELECT 1 FROM run_queue q WHERE q.state = ",
        );
        sql.push(&ready)
            .push(" AND q.workspace_id = turns.workspace_id AND q.available_at <= ")
            .bind(millis(now));
        sql.push(") LIMIT ").bind(i64::from(limit));
        sql.all(self.read()).await?.iter().map(|row| column(row, 0)).collect()
    }
}

async fn mark_queued<C: sea_orm::ConnectionTrait>(db: &C, runs: &[Uuid]) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let mut sql = Sql::new("UPDATE runs SET status = 'queued' WHERE id IN (");
    sql.bind_all(runs.iter().copied()).push(")");
    sql.execute(db).await.map(|_| ())
}

fn claimed_run(found: &QueryResult) -> Result<ClaimedRun, StoreError> {
    let row = Row { table: "runs", id: column(found, 0)? };
    let input: String = column(found, 6)?;
    let scheduled_for = row.moment(column(found, 7)?)?;
    let started_at: Option<i64> = column(found, 8)?;
    let retries: Option<i16> = column(found, 9)?;
    Ok(ClaimedRun {
        id: Id::from_uuid(row.id),
        workspace: Id::from_uuid(column(found, 1)?),
        app: Id::from_uuid(column(found, 2)?),
        automation: column::<Option<Uuid>>(found, 3)?.map(Id::from_uuid),
        version: column::<Option<Uuid>>(found, 4)?.map(Id::from_uuid),
        trigger: row.parse(&column::<String>(found, 5)?)?,
        input: RawValue::from_string(input).map_err(|error| row.error(error))?,
        scheduled_for,
        started_at: row.moment_or_none(started_at)?.unwrap_or(scheduled_for),
        attempt: row.number(column(found, 11)?)?,
        retries: row.number(retries.unwrap_or_default().into())?,
        cron: column(found, 10)?,
    })
}
