//! Replaying failed runs and refused calls, for the API and the agent server.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use runs::dead_letters::{ReplayRequest, ReplayedRun, WhichVersion, replay_open_dead_letter, replay_run};
use serde_json::value::RawValue;

use crate::{Application, Problem, unit};

impl Application {
    /// Starts a run with the input of an open dead letter.
    ///
    /// # Errors
    /// [`Problem`] if the dead letter is settled or has no input, the app cannot run, the workspace's quota is used up
    /// and no more runs may wait, or the store fails.
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

    /// Starts a run with the input of a run that failed or was blocked.
    ///
    /// # Errors
    /// [`Problem`] if the run cannot be replayed, the app cannot run, the workspace's quota is used up
    /// and no more runs may wait, or the store fails.
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
        Ok(ReplayRequest { input, version, runs_per_month: workspace.plan.limits().runs.grace_limit() })
    }
}
