//! Replaying a run.

use kernel::{
    Context, Id,
    authority::{AppRight, CanEdit},
    id::RunId,
};
use serde_json::json;

use super::{DeadLetterState, ReplayRequest, ReplayedRun, enqueue_replay::enqueue_replay};
use crate::{RunStatus, RunsError, ports::DeadLettersTx};

/// Runs a run again that failed or was blocked; an open letter of it is settled.
///
/// # Errors
/// When it is gone or did not fail, has nothing to run with, the app cannot run, the quota is used up, or what the
/// store says.
pub async fn replay_run(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: RunId,
    replay: ReplayRequest,
) -> Result<ReplayedRun, RunsError> {
    let workspace = right.member().workspace();
    // A failed run's letter has the run's own id. It is locked first, as whoever replays the letter does.
    let letter = Id::from_uuid(id.uuid());
    let found = tx.dead_letter_for_update(workspace, letter).await?;
    let letter = found.filter(|(_, state, _)| *state == DeadLetterState::Open).map(|_| letter);
    let found = tx.replay_source_of_run(workspace, id).await?;
    let (status, source) =
        found.filter(|(_, source)| source.app == right.app()).ok_or(RunsError::RunNotFound)?;
    if !matches!(status, RunStatus::Failed | RunStatus::Blocked) {
        return Err(RunsError::RunNotFailed);
    }
    let (version, edited, held) = (replay.version, replay.input.is_some(), replay.is_on_hold);
    let run = ctx.new_id();
    let ran = enqueue_replay(tx, ctx, right, source, (run, Some(id)), replay).await?;
    if let Some(letter) = letter {
        tx.resolve_dead_letter(workspace, letter, ctx.now, ctx.caller.user(), Some(run)).await?;
    }
    let detail = json!({"run": run, "version": version, "edited": edited});
    tx.audit(ctx.audit_entry("run.replay").workspace(workspace).target(id).detail(detail));
    Ok(ReplayedRun { run, dead_letter: letter, version: ran, is_edited: edited, is_on_hold: held })
}
