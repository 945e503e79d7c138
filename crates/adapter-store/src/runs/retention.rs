//! Deletion of finished runs and settled dead letters, a little at a time.

use ::runs::dead_letters::DeadLetterState;
use ::workspace::Plan;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, id::RunId};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, JoinType, QueryFilter as _, QuerySelect as _, RelationTrait as _,
};

use crate::{
    entity::{
        column::{DbId, DbText, DbTime},
        dead_letters, run_inputs, run_results, runs, workspaces,
    },
    error::OrStoreError as _,
    query,
    sql::statement_chunks,
    store::Store,
};

/// Time that a dead letter is kept that somebody gave up (specification part A, "Limits").
const DISCARDED_RETENTION: TimeDelta = TimeDelta::days(7);
/// Time that a dead letter is kept that was run again.
const REPLAYED_RETENTION: TimeDelta = TimeDelta::days(30);
/// Time that a dead letter waits for somebody.
const OPEN_RETENTION: TimeDelta = TimeDelta::days(90);
/// Runs that one transaction deletes; at most.
const CHUNK_ROWS: usize = 500;
/// Transactions of one sweep for each plan; at most.
const MAX_CHUNKS: usize = 20;

impl Store {
    /// Deletes runs that are older than their workspace's plan keeps them, with their inputs, results and dead letters.
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
        let expired = runs::Entity::find()
            .join(JoinType::InnerJoin, runs::Relation::Workspace.def())
            .filter(workspaces::Column::Plan.eq(DbText(plan)))
            .filter(runs::Column::FinishedAt.is_not_null())
            .filter(runs::Column::FinishedAt.lte(DbTime(before)))
            .limit(CHUNK_ROWS as u64);
        let expired: Vec<RunId> = query::ids(expired, runs::Column::Id, self.read()).await?;
        self.delete_runs(&expired).await?;
        Ok(expired.len())
    }

    /// Deletes runs with their inputs, results and dead letters, in one transaction.
    pub(crate) async fn delete_runs(&self, runs: &[RunId]) -> Result<(), StoreError> {
        if runs.is_empty() {
            return Ok(());
        }
        let mut tx = self.begin().await?;
        for runs in statement_chunks(runs) {
            let ids = || runs.iter().copied().map(DbId);
            dead_letters::Entity::delete_many()
                .filter(dead_letters::Column::Id.is_in(ids()))
                .exec(tx.write())
                .await
                .or_store_error()?;
            run_inputs::Entity::delete_many()
                .filter(run_inputs::Column::RunId.is_in(ids()))
                .exec(tx.write())
                .await
                .or_store_error()?;
            run_results::Entity::delete_many()
                .filter(run_results::Column::RunId.is_in(ids()))
                .exec(tx.write())
                .await
                .or_store_error()?;
            runs::Entity::delete_many()
                .filter(runs::Column::Id.is_in(ids()))
                .exec(tx.write())
                .await
                .or_store_error()?;
        }
        tx.commit_unaudited().await
    }

    /// Deletes dead letters that were settled a while ago, or that nobody settled for very long.
    pub(crate) async fn delete_expired_dead_letters(&self, now: Timestamp) -> Result<(), StoreError> {
        use dead_letters::Column;
        for (state, time, before) in [
            (DeadLetterState::Discarded, Column::SettledAt, now - DISCARDED_RETENTION),
            (DeadLetterState::Replayed, Column::SettledAt, now - REPLAYED_RETENTION),
            (DeadLetterState::Open, Column::CreatedAt, now - OPEN_RETENTION),
        ] {
            let expired = dead_letters::Entity::find()
                .filter(Column::State.eq(DbText(state)))
                .filter(time.lte(DbTime(before)));
            self.delete_in_chunks(expired).await?;
        }
        Ok(())
    }
}
