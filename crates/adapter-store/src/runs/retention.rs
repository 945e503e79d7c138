//! Taking finished runs and settled dead letters away, a little at a time.

use ::runs::dead_letters::DeadLetterState;
use ::workspace::Plan;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use uuid::Uuid;

use crate::{
    Store,
    convert::millis,
    sql::{Sql, column, statement_chunks},
};

/// How long a dead letter is kept that somebody gave up (specification part A, "Limits").
const DISCARDED_RETENTION: TimeDelta = TimeDelta::days(7);
/// How long a dead letter is kept that was run again.
const REPLAYED_RETENTION: TimeDelta = TimeDelta::days(30);
/// How long a dead letter waits for somebody.
const OPEN_RETENTION: TimeDelta = TimeDelta::days(90);
/// How many rows one transaction takes away.
const CHUNK_ROWS: usize = 500;
/// How many transactions one sweep takes at most, of each kind.
const MAX_CHUNKS: usize = 20;

impl Store {
    /// Takes away runs that are older than their workspace's plan keeps them, with what they were given and their dead
    /// letters.
    pub(crate) async fn delete_expired_runs(&self, now: Timestamp) -> Result<(), StoreError> {
        for plan in Plan::ALL {
            let Some(days) = plan.limits().run_retention_days else { continue };
            let before = now - TimeDelta::days(days.into());
            for _ in 0..MAX_CHUNKS {
                if self.delete_expired_runs_of_plan(plan, before).await? < CHUNK_ROWS {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn delete_expired_runs_of_plan(&self, plan: Plan, before: Timestamp) -> Result<usize, StoreError> {
        let mut sql = Sql::new(
            "SELECT r.id FROM workspaces w JOIN runs r ON r.workspace_id = w.id WHERE r.finished_at IS NOT NULL \
             AND w.plan = ",
        );
        sql.bind(plan.as_str()).push(" AND r.finished_at <= ").bind(millis(before)).push(" LIMIT ");
        sql.push(&CHUNK_ROWS.to_string());
        let old: Vec<Uuid> = sql
            .fetch_all(self.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        if old.is_empty() {
            return Ok(0);
        }
        let tx = self.begin().await?;
        for old in statement_chunks(&old) {
            for (table, key) in [("dead_letters", "id"), ("run_inputs", "run_id"), ("runs", "id")] {
                let mut sql = Sql::new("DELETE FROM ");
                sql.push(table)
                    .push(" WHERE ")
                    .push(key)
                    .push(" IN (")
                    .bind_all(old.iter().copied())
                    .push(")");
                sql.execute(tx.read()).await?;
            }
        }
        tx.commit_unaudited().await?;
        Ok(old.len())
    }

    /// Takes away dead letters that were settled a while ago, or that nobody settled for very long.
    pub(crate) async fn delete_expired_dead_letters(&self, now: Timestamp) -> Result<(), StoreError> {
        let closed = |state: DeadLetterState, keep| (state, "settled_at", now - keep);
        for (state, time_column, before) in [
            closed(DeadLetterState::Discarded, DISCARDED_RETENTION),
            closed(DeadLetterState::Replayed, REPLAYED_RETENTION),
            (DeadLetterState::Open, "created_at", now - OPEN_RETENTION),
        ] {
            for _ in 0..MAX_CHUNKS {
                let mut sql = Sql::new(
                    "DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE state = ",
                );
                sql.bind(state.as_str()).push(" AND ").push(time_column).push(" <= ").bind(millis(before));
                sql.push(" LIMIT ").push(&CHUNK_ROWS.to_string()).push(")");
                if sql.execute(&self.write()).await? < CHUNK_ROWS as u64 {
                    break;
                }
            }
        }
        Ok(())
    }
}
