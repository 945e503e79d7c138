//! Replaying failed runs and refused calls, for the API and the agent server.

use kernel::{
    Context,
    authority::{AppRight, CanEdit, Member},
    id::{DeadLetterId, RunId},
};
use runs::dead_letters::{
    ReplayRequest, ReplayedRun, WhichVersion, discard_open_dead_letter, replay_open_dead_letter, replay_run,
};
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

    /// Starts a run with the input of an open dead letter of the member's workspace, on its app's current version.
    ///
    /// # Errors
    /// 404 `dead_letter_not_found` if there is no such dead letter; 403 if the caller may not edit its app; those of
    /// [`Application::replay_dead_letter`].
    pub async fn replay_dead_letter_of(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<ReplayedRun, Problem> {
        let (id, right) = self.editable_dead_letter(ctx, member, id).await?;
        self.replay_dead_letter(ctx, &right, id, None, WhichVersion::Current).await
    }

    /// Discards an open dead letter of the member's workspace.
    ///
    /// # Errors
    /// 404 `dead_letter_not_found` if there is no such dead letter; 403 if the caller may not edit its app; a [`Problem`] if
    /// it is settled, or the store fails.
    pub async fn discard_dead_letter_of(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<(), Problem> {
        let (id, right) = self.editable_dead_letter(ctx, member, id).await?;
        self.transaction(unit!(|tx| discard_open_dead_letter(tx, ctx, &right, id).await)).await?;
        Ok(())
    }

    async fn editable_dead_letter(
        &self,
        ctx: &Context,
        member: &Member,
        id: &str,
    ) -> Result<(DeadLetterId, AppRight<CanEdit>), Problem> {
        let (id, access) = self.dead_letter(ctx, id).await?;
        // A person in two workspaces may send ids of the other.
        if access.member().workspace() != member.workspace() {
            return Err(Problem::not_found("dead letter"));
        }
        Ok((id, access.require()?))
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
        let runs_per_month = self.runs_per_month(right.member().workspace()).await?;
        Ok(ReplayRequest { input, version, runs_per_month })
    }
}
