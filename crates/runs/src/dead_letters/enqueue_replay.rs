//! Queueing the run of a replay.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::RunId,
};

use super::{ReplayRequest, ReplaySource, WhichVersion};
use crate::{
    InvalidInput, RunsError, automations::MAX_INPUT, ports::DeadLettersTx, queue::NewRun, runs::VersionRef,
};

/// Queues a run with the id `id`, which repeats `original`, and returns its version.
pub(super) async fn enqueue_replay(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    source: ReplaySource,
    (id, original): (RunId, Option<RunId>),
    replay: ReplayRequest,
) -> Result<VersionRef, RunsError> {
    if replay.input.as_ref().is_some_and(|input| input.get().len() > MAX_INPUT) {
        return Err(InvalidInput::ReplayInput.into());
    }
    let workspace = right.member().workspace();
    let input = replay.input.or(source.input).ok_or(RunsError::PayloadGone)?;
    if !tx.is_app_runnable(workspace, source.app).await? {
        return Err(RunsError::NotRunnable);
    }
    let wanted = match replay.version {
        WhichVersion::Current => None,
        WhichVersion::Original => Some(source.version.ok_or(RunsError::NoOriginalVersion)?),
    };
    let version = tx.find_version_to_run(workspace, source.app, wanted).await?;
    let version = version.ok_or(RunsError::NoOriginalVersion)?;
    // The automation may be deleted; its runs are still runs of the app.
    let automation = match source.automation {
        Some(id) => tx.automation_for_update(workspace, id).await?,
        None => None,
    };
    if !tx.try_consume_quota(workspace, ctx.now, replay.runs_per_month).await? {
        return Err(RunsError::QuotaReached);
    }
    let run = NewRun {
        id,
        workspace,
        app: source.app,
        automation: automation.as_ref().map(|automation| automation.id),
        trigger: source.trigger,
        input,
        at: ctx.now,
        scheduled_for: None,
        max_concurrency: automation.and_then(|automation| automation.max_concurrency),
        version: Some(version.id),
        replay_of: original,
        by_agent: ctx.caller.is_token(),
        is_on_hold: replay.is_on_hold,
    };
    tx.enqueue(&run).await?;
    Ok(version)
}
