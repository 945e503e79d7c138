//! Taking finished runs and settled dead letters away, a little at a time.

use ::runs::dead_letters::LetterState;
use ::workspace::Plan;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use uuid::Uuid;

use crate::{
    Store,
    convert::millis,
    sql::{Sql, column, in_few_shapes},
};

/// How long a dead letter is kept that somebody gave up (specification part A, "Limits").
const KEEP_DISCARDED: TimeDelta = TimeDelta::days(7);
/// How long a dead letter is kept that was run again.
const KEEP_REPLAYED: TimeDelta = TimeDelta::days(30);
/// How long a dead letter waits for somebody.
const KEEP_OPEN: TimeDelta = TimeDelta::days(90);
/// How many rows one transaction takes away.
const PIECE: usize = 500;
/// How many transactions one sweep takes at most, of each kind.
const PIECES: usize = 20;

impl Store {
    /// Takes away runs that are older than their workspace's plan keeps them, with what they were given and their dead
    /// letters.
    pub(crate) async fn sweep_runs(&self, now: Timestamp) -> Result<(), StoreError> {
        for plan in Plan::ALL {
            let Some(days) = plan.limits().keep_runs_days else { continue };
            let before = now - TimeDelta::days(days.into());
            for _ in 0..PIECES {
                if self.sweep_runs_of(plan, before).await? < PIECE {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn sweep_runs_of(&self, plan: Plan, before: Timestamp) -> Result<usize, StoreError> {
        let mut sql = Sql::new(
            "SELECT r.id FROM workspaces w JOIN runs r ON r.workspace_id = w.id WHERE r.finished_at IS NOT NULL \
             AND w.plan = ",
        );
        sql.bind(plan.as_str()).push(" AND r.finished_at <= ").bind(millis(before)).push(" LIMIT ");
        sql.push(&PIECE.to_string());
        let old: Vec<Uuid> = sql
            .all(self.read())
            .await?
            .iter()
            .map(|row| column(row, 0))
            .collect::<Result<_, StoreError>>()?;
        if old.is_empty() {
            return Ok(0);
        }
        let tx = self.begin().await?;
        for old in in_few_shapes(&old) {
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
        tx.commit_of_worker().await?;
        Ok(old.len())
    }

    /// Takes away dead letters that were settled a while ago, or that nobody settled for very long.
    pub(crate) async fn sweep_letters(&self, now: Timestamp) -> Result<(), StoreError> {
        let settled = |state: LetterState, keep| (state, "settled_at", now - keep);
        for (state, moment, before) in [
            settled(LetterState::Discarded, KEEP_DISCARDED),
            settled(LetterState::Replayed, KEEP_REPLAYED),
            (LetterState::Open, "created_at", now - KEEP_OPEN),
        ] {
            for _ in 0..PIECES {
                let mut sql = Sql::new(
                    "DELETE FROM dead_letters WHERE id IN (SELECT id FROM dead_letters WHERE state = ",
                );
                sql.bind(state.as_str()).push(" AND ").push(moment).push(" <= ").bind(millis(before));
                sql.push(" LIMIT ").push(&PIECE.to_string()).push(")");
                if sql.execute(&self.write()).await? < PIECE as u64 {
                    break;
                }
            }
        }
        Ok(())
    }
}
