//! Results of runs, for those who may run their app: reading them, and waiting for them.

use std::time::Duration;

use kernel::{
    Context,
    authority::{AppAccess, AppRightName},
    id::RunId,
};
use runs::{Run, RunStatus, TriggerKind};
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Application, Problem,
    feeds::{DEBOUNCE, StreamPermit},
};

/// Longest time between a notification and the read that it leads to.
const MAX_DEBOUNCE: Duration = Duration::from_secs(1);

impl Application {
    /// Returns what the code of a run returned, if it is kept. Callers who may neither run nor edit the app get nothing,
    /// as they get no other output of its code.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn result_of(&self, access: &AppAccess, run: &Run) -> Result<Option<Box<RawValue>>, Problem> {
        let rights = access.rights();
        let may_read = rights.contains(AppRightName::CanRun) || rights.contains(AppRightName::CanEdit);
        let has_result = run.trigger == TriggerKind::Manual && run.state.status() == RunStatus::Succeeded;
        if !may_read || !has_result {
            return Ok(None);
        }
        Ok(self.store().run_result(run.workspace, run.id).await?)
    }

    /// Returns a run once it has ended or waits for a person, or as it is when `wait` is over. Returns at once if the person
    /// has as many waiting requests as they may.
    ///
    /// # Errors
    /// 404 `run_not_found` if it is gone; 401 or 404 if the caller's access ends while it waits; a [`Problem`] if the store
    /// fails.
    pub async fn wait_for_run(
        &self,
        ctx: &Context,
        access: &AppAccess,
        run: RunId,
        wait: Duration,
    ) -> Result<Run, Problem> {
        let member = access.member();
        let workspace = member.workspace();
        let deadline = Instant::now() + wait;
        let mut permit = StreamPermit::acquire(self, member.user()).ok();
        let mut notifier = self.store().subscribe(workspace);
        let mut debounce = DEBOUNCE;
        loop {
            let found = self.store().run(workspace, run).await?;
            let found = found.ok_or_else(|| Problem::not_found("run"))?;
            let is_pending = matches!(found.state.status(), RunStatus::Queued | RunStatus::Running);
            let Some(permit) = permit.as_mut().filter(|permit| !permit.is_closed()) else { return Ok(found) };
            if !is_pending || Instant::now() >= deadline {
                return Ok(found);
            }
            tokio::select! {
                _ = timeout_at(deadline, async { notifier.changed().await; sleep(debounce).await }) => {}
                () = permit.wait_closed() => {}
            }
            // Many notifications are about other runs: a long wait in a busy workspace must not read all the time.
            debounce = MAX_DEBOUNCE.min(debounce * 2);
            let ctx = self.reauthenticate(ctx).await?;
            self.app_by_id(&ctx, access.app()).await?;
        }
    }
}
