//! The queue, as those who work it off see it: claiming, keeping and giving back, ending.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kernel::{
    Clock, Id, StoreError, Timestamp,
    id::{NodeId, RunId},
};
use runs::queue::{ClaimLimit, ClaimedRun, FinishedRun, LEASE, RunQueue, RunSlots};
use uuid::Uuid;

use super::{batch::WriteOp, claim::ClaimRequest};
use crate::{
    convert::{ids, millis},
    queue_sql::{LEASED, READY, is_live_workspace},
    sql::{Sql, SqlExecutor, column},
    store::Store,
};

#[span_macros::traced]
#[async_trait]
impl RunQueue for Store {
    async fn claim(
        &self,
        node: NodeId,
        limit: ClaimLimit,
        clock: Arc<dyn Clock>,
    ) -> Result<Vec<ClaimedRun>, StoreError> {
        let group_commit = &self.inner().group_commit;
        let claim = ClaimRequest { node, limit, clock, history: group_commit.slots.history() };
        let claimed = group_commit.submit_keyed(node, |reply| WriteOp::Claim(claim, reply)).await?;
        group_commit.slots.record_turns(claimed.iter());
        Ok(claimed)
    }

    fn offer_slots(&self, slots: Option<Arc<dyn RunSlots>>) {
        self.inner().group_commit.slots.offer(slots);
    }

    async fn extend_leases(
        &self,
        node: NodeId,
        runs: &[RunId],
        now: Timestamp,
    ) -> Result<Vec<RunId>, StoreError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("UPDATE run_queue SET leased_until = ");
        sql.bind(millis(now + LEASE)).push(" WHERE leased_by = ").bind(node.uuid()).push(" AND state = ");
        sql.bind(LEASED).push(" AND run_id IN (").bind_all(ids(runs)).push(") AND ");
        sql.push(&is_live_workspace("run_queue.workspace_id")).push(" RETURNING run_id");
        sql.fetch_all(&*self.write().await?)
            .await?
            .iter()
            .map(|row| Ok(Id::from_uuid(column(row, 0)?)))
            .collect()
    }

    async fn held_runs(&self, node: NodeId, runs: &[RunId]) -> Result<Vec<RunId>, StoreError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new("SELECT run_id FROM run_queue WHERE leased_by = ");
        sql.bind(node.uuid()).push(" AND state = ").bind(LEASED);
        sql.push(" AND run_id IN (").bind_all(ids(runs)).push(") AND ");
        sql.push(&is_live_workspace("run_queue.workspace_id"));
        sql.fetch_all(self.read()).await?.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect()
    }

    async fn wait_for_lost_runs(&self, at_most: Duration) {
        drop(tokio::time::timeout(at_most, self.inner().after_commit.lost_runs_notify.notified()).await);
    }

    async fn finish(&self, node: NodeId, finished: FinishedRun) -> Result<bool, StoreError> {
        let workspace = finished.workspace;
        self.inner()
            .group_commit
            .submit(workspace, |reply| WriteOp::Finish(node, Box::new(finished), reply))
            .await
    }

    async fn release(&self, node: NodeId, runs: &[RunId]) -> Result<(), StoreError> {
        if runs.is_empty() {
            return Ok(());
        }
        let tx = self.begin().await?;
        let mut sql = Sql::new("UPDATE run_queue SET state = ");
        sql.bind(READY)
            .push(", leased_by = NULL, leased_until = NULL, attempt = attempt - 1 WHERE leased_by = ");
        sql.bind(node.uuid()).push(" AND state = ").bind(LEASED).push(" AND run_id IN (").bind_all(ids(runs));
        sql.push(") RETURNING run_id");
        let released: Vec<Uuid> = sql
            .fetch_all(tx.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        mark_queued(tx.read(), &released).await?;
        tx.commit_unaudited().await
    }

    async fn release_expired_leases(&self, now: Timestamp) -> Result<u64, StoreError> {
        // Looked up before the write lock is asked for: most of the time there is nothing to do.
        let mut sql = Sql::new("SELECT run_id FROM run_queue WHERE state = ");
        sql.push(&LEASED.to_string()).push(" AND leased_until <= ").bind(millis(now)).push(" LIMIT 500");
        let expired: Vec<Uuid> = sql
            .fetch_all(self.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        if expired.is_empty() {
            return Ok(0);
        }
        let tx = self.begin().await?;
        let mut sql = Sql::new("UPDATE run_queue SET state = ");
        sql.bind(READY).push(", leased_by = NULL, leased_until = NULL WHERE state = ").bind(LEASED);
        sql.push(" AND leased_until <= ").bind(millis(now)).push(" AND run_id IN (").bind_all(expired);
        sql.push(") RETURNING run_id");
        let released: Vec<Uuid> = sql
            .fetch_all(tx.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        mark_queued(tx.read(), &released).await?;
        tx.commit_unaudited().await?;
        if !released.is_empty() {
            self.inner().after_commit.queue_notify.notify_one();
        }
        Ok(released.len() as u64)
    }

    async fn wait_for_work(&self, at_most: Duration) {
        // Other nodes of a shared database do not ring here: they are noticed after at most this long.
        let at_most = if self.is_postgres() { at_most.min(Duration::from_millis(200)) } else { at_most };
        drop(tokio::time::timeout(at_most, self.inner().after_commit.queue_notify.notified()).await);
    }
}

async fn mark_queued<D: SqlExecutor>(db: &D, runs: &[Uuid]) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let mut sql = Sql::new("UPDATE runs SET status = 'queued' WHERE id IN (");
    sql.bind_all(runs.iter().copied()).push(")");
    sql.execute(db).await.map(|_| ())
}
