//! Running failed and refused work again: what the API and the agent server share.

use kernel::{
    Context, Problem,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use runs::dead_letters::{ReplayRequest, ReplayedRun, WhichVersion, replay_open_dead_letter, replay_run};
use serde_json::value::RawValue;

use crate::{Application, unit};

impl Application {
    /// Runs an open dead letter again.
    ///
    /// # Errors
    /// When it is settled, has nothing to run with, the app cannot run, the quota is used up, or what the store says.
    pub async fn replay_dead_letter(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: DeadLetterId,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
    ) -> Result<ReplayedRun, Problem> {
        let replay = self.build_replay(right, input, version).await?;
        let replayed = self
            .transaction(unit!(|tx| replay_open_dead_letter(tx, ctx, right, id, replay.clone()).await))
            .await?;
        Ok(replayed)
    }

    /// Runs a run again that failed or was blocked.
    pub async fn replay_run(
        &self,
        ctx: &Context,
        right: &AppRight<CanEdit>,
        id: RunId,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
    ) -> Result<ReplayedRun, Problem> {
        let replay = self.build_replay(right, input, version).await?;
        let replayed =
            self.transaction(unit!(|tx| replay_run(tx, ctx, right, id, replay.clone()).await)).await?;
        Ok(replayed)
    }

    async fn build_replay(
        &self,
        right: &AppRight<CanEdit>,
        input: Option<Box<RawValue>>,
        version: WhichVersion,
    ) -> Result<ReplayRequest, Problem> {
        let workspace = self.store().workspace(right.member().workspace()).await?;
        let workspace = workspace.ok_or_else(|| Problem::not_found("workspace"))?;
        let held = self.spending_cap().is_reached(workspace.id).await?;
        Ok(ReplayRequest {
            input,
            version,
            runs_per_month: workspace.plan.limits().runs_per_month,
            is_on_hold: held,
        })
    }
}
