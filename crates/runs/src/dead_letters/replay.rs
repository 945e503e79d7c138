//! Running failed and refused work again, or giving it up.

use kernel::{
    Context, Id,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use super::{DeadLettersTx, LetterOrigin, LetterState, Source};
use crate::{RunStatus, RunsError, RunsTx, automations::MAX_INPUT, queue::NewRun, runs::VersionRef};

/// Which version of the app a replay runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum WhichVersion {
    /// The one that is current now.
    #[default]
    Current,
    /// The one that failed, or would have run.
    Original,
}

/// How something is to be run again.
#[derive(Debug)]
pub struct Replay {
    /// What the app is given; what it was given when not said.
    pub input: Option<Box<RawValue>>,
    /// Which version runs.
    pub version: WhichVersion,
    /// How many runs the workspace may start in a month.
    pub runs_per_month: Option<u64>,
    /// Whether the workspace's spending cap holds it back.
    pub held: bool,
}

/// The run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The new run.
    pub run: RunId,
    /// The letter that is settled with it.
    pub letter: Option<DeadLetterId>,
    /// What it runs.
    pub version: VersionRef,
    /// Whether it is given something else than before.
    pub edited: bool,
    /// Whether it waits for the spending cap.
    pub held: bool,
}

/// Runs an open letter again and settles it.
///
/// # Errors
/// When it is gone or settled, its call came again and was accepted, it has nothing to run with, the app cannot run, the
/// quota is used up, or what the store says.
pub async fn replay_letter<T: RunsTx + DeadLettersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
    replay: Replay,
) -> Result<Replayed, RunsError> {
    let (origin, source) = open_letter(tx, right, id).await?;
    let original = match origin {
        LetterOrigin::Run(run) => Some(run),
        LetterOrigin::Delivery(_) => None,
    };
    let (version, edited, held) = (replay.version, replay.input.is_some(), replay.held);
    let (workspace, run) = (right.member().workspace(), ctx.id());
    if original.is_none()
        && let Some(accepted) = tx.claim_call(workspace, id, run, ctx.now).await?
    {
        return Err(RunsError::CallAccepted(accepted));
    }
    let ran = start(tx, ctx, right, source, (run, original), replay).await?;
    tx.settle_letter(workspace, id, ctx.now, ctx.caller.user(), Some(run)).await?;
    let detail = json!({"run": run, "version": version, "edited": edited});
    tx.audit(ctx.audit("dead_letter.replay").workspace(workspace).target(id).detail(detail));
    Ok(Replayed { run, letter: Some(id), version: ran, edited, held })
}

/// Runs a run again that failed or was blocked; an open letter of it is settled.
///
/// # Errors
/// When it is gone or did not fail, has nothing to run with, the app cannot run, the quota is used up, or what the
/// store says.
pub async fn replay_run<T: RunsTx + DeadLettersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: RunId,
    replay: Replay,
) -> Result<Replayed, RunsError> {
    let workspace = right.member().workspace();
    // A failed run's letter has the run's own id. It is locked first, as whoever replays the letter does.
    let letter = Id::from_uuid(id.uuid());
    let found = tx.letter_for_update(workspace, letter).await?;
    let letter = found.filter(|(_, state, _)| *state == LetterState::Open).map(|_| letter);
    let found = tx.run_to_replay(workspace, id).await?;
    let (status, source) =
        found.filter(|(_, source)| source.app == right.app()).ok_or(RunsError::RunNotFound)?;
    if !matches!(status, RunStatus::Failed | RunStatus::Blocked) {
        return Err(RunsError::RunNotFailed);
    }
    let (version, edited, held) = (replay.version, replay.input.is_some(), replay.held);
    let run = ctx.id();
    let ran = start(tx, ctx, right, source, (run, Some(id)), replay).await?;
    if let Some(letter) = letter {
        tx.settle_letter(workspace, letter, ctx.now, ctx.caller.user(), Some(run)).await?;
    }
    let detail = json!({"run": run, "version": version, "edited": edited});
    tx.audit(ctx.audit("run.replay").workspace(workspace).target(id).detail(detail));
    Ok(Replayed { run, letter, version: ran, edited, held })
}

/// Gives an open letter up.
///
/// # Errors
/// When it is gone or settled, or what the store says.
pub async fn discard_letter<T: DeadLettersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(), RunsError> {
    open_letter(tx, right, id).await?;
    let workspace = right.member().workspace();
    tx.settle_letter(workspace, id, ctx.now, ctx.caller.user(), None).await?;
    tx.audit(ctx.audit("dead_letter.discard").workspace(workspace).target(id));
    Ok(())
}

async fn open_letter<T: DeadLettersTx + ?Sized>(
    tx: &mut T,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(LetterOrigin, Source), RunsError> {
    let found = tx.letter_for_update(right.member().workspace(), id).await?;
    let (origin, state, source) =
        found.filter(|(_, _, source)| source.app == right.app()).ok_or(RunsError::DeadLetterNotFound)?;
    if state == LetterState::Open { Ok((origin, source)) } else { Err(RunsError::DeadLetterSettled) }
}

async fn start<T: RunsTx + DeadLettersTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    source: Source,
    (id, original): (RunId, Option<RunId>),
    replay: Replay,
) -> Result<VersionRef, RunsError> {
    if replay.input.as_ref().is_some_and(|input| input.get().len() > MAX_INPUT) {
        return Err(RunsError::invalid(
            "payload",
            format!("may hold at most {} KiB of JSON", MAX_INPUT >> 10),
        ));
    }
    let workspace = right.member().workspace();
    let input = replay.input.or(source.input).ok_or(RunsError::PayloadGone)?;
    if !tx.app_is_runnable(workspace, source.app).await? {
        return Err(RunsError::NotRunnable);
    }
    let wanted = match replay.version {
        WhichVersion::Current => None,
        WhichVersion::Original => Some(source.version.ok_or(RunsError::NoOriginalVersion)?),
    };
    let version = tx.version_to_run(workspace, source.app, wanted).await?;
    let version = version.ok_or(RunsError::NoOriginalVersion)?;
    // The automation may be gone: its runs are still runs of the app.
    let automation = match source.automation {
        Some(id) => tx.automation_for_update(workspace, id).await?,
        None => None,
    };
    if !tx.take_from_quota(workspace, ctx.now, replay.runs_per_month).await? {
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
        held: replay.held,
    };
    tx.enqueue(&run).await?;
    Ok(version)
}
