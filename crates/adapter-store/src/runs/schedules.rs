//! Schedules, as the one who starts them sees them.

use ::runs::{Automation, RunsTx as _, ports::Schedules, queue::NewRun};
use ::workspace::WorkspaceRead as _;
use async_trait::async_trait;
use kernel::{StoreError, Timestamp};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, sea_query::Expr,
};

use crate::{Store, convert::millis, entity::automations, error::OrStoreError as _};

#[async_trait]
impl Schedules for Store {
    async fn due_automations(&self, now: Timestamp, limit: u32) -> Result<Vec<Automation>, StoreError> {
        let found = automations::Entity::find()
            .filter(automations::Column::NextRunAt.is_not_null())
            .filter(automations::Column::NextRunAt.lte(millis(now)))
            .order_by_asc(automations::Column::NextRunAt)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(super::automation).collect()
    }

    async fn strike(
        &self,
        automation: &Automation,
        due: Timestamp,
        next: Option<Timestamp>,
        run: NewRun,
    ) -> Result<bool, StoreError> {
        let workspace = self.workspace(automation.workspace).await?;
        let runs_per_month = workspace.and_then(|workspace| workspace.plan.limits().runs_per_month);
        let mut tx = self.begin().await?;
        // Whoever moves the moment on is the one who starts the run.
        let moved = automations::Entity::update_many()
            .col_expr(automations::Column::NextRunAt, Expr::value(next.map(millis)))
            .filter(automations::Column::Id.eq(automation.id.uuid()))
            .filter(automations::Column::NextRunAt.eq(millis(due)))
            .exec(tx.write())
            .await
            .or_store_error()?;
        if moved.rows_affected == 0 {
            return Ok(false);
        }
        let runnable = tx.app_is_runnable(run.workspace, run.app).await?;
        if runnable && tx.take_from_quota(run.workspace, run.at, runs_per_month).await? {
            tx.enqueue(&run).await?;
        }
        tx.commit_of_worker().await?;
        Ok(true)
    }
}
