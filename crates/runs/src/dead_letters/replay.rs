//! Running failed and refused work again, or giving it up.

use kernel::{
    Context, Id,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use super::{DeadLetterOrigin, DeadLettersTx, LetterState, ReplaySource};
use crate::{RunStatus, RunsError, automations::MAX_INPUT, queue::NewRun, runs::VersionRef};

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
pub struct ReplayRequest {
    /// What the app is given; what it was given when not said.
    pub input: Option<Box<RawValue>>,
    /// Which version runs.
    pub version: WhichVersion,
    /// How many runs the workspace may start in a month.
    pub runs_per_month: Option<u64>,
    /// Whether the workspace's spending cap holds it back.
    pub is_on_hold: bool,
}

/// The run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedRun {
    /// The new run.
    pub run: RunId,
    /// The letter that is settled with it.
    pub dead_letter: Option<DeadLetterId>,
    /// What it runs.
    pub version: VersionRef,
    /// Whether it is given something else than before.
    pub is_edited: bool,
    /// Whether it waits for the spending cap.
    pub is_on_hold: bool,
}

/// Runs an open letter again and settles it.
///
/// # Errors
/// When it is gone or settled, its call came again and was accepted, it has nothing to run with, the app cannot run, the
/// quota is used up, or what the store says.
pub async fn replay_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
    replay: ReplayRequest,
) -> Result<ReplayedRun, RunsError> {
    let (origin, source) = get_open_dead_letter(tx, right, id).await?;
    let original = match origin {
        DeadLetterOrigin::Run(run) => Some(run),
        DeadLetterOrigin::Delivery(_) => None,
    };
    let (version, edited, held) = (replay.version, replay.input.is_some(), replay.is_on_hold);
    let (workspace, run) = (right.member().workspace(), ctx.new_id());
    if original.is_none()
        && let Some(accepted) = tx.claim_refused_call(workspace, id, run, ctx.now).await?
    {
        return Err(RunsError::CallAccepted(accepted));
    }
    let ran = enqueue_replay(tx, ctx, right, source, (run, original), replay).await?;
    tx.resolve_dead_letter(workspace, id, ctx.now, ctx.caller.user(), Some(run)).await?;
    let detail = json!({"run": run, "version": version, "edited": edited});
    tx.audit(ctx.audit_entry("dead_letter.replay").workspace(workspace).target(id).detail(detail));
    Ok(ReplayedRun { run, dead_letter: Some(id), version: ran, is_edited: edited, is_on_hold: held })
}

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
    let letter = found.filter(|(_, state, _)| *state == LetterState::Open).map(|_| letter);
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

/// Gives an open letter up.
///
/// # Errors
/// When it is gone or settled, or what the store says.
pub async fn discard_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(), RunsError> {
    get_open_dead_letter(tx, right, id).await?;
    let workspace = right.member().workspace();
    tx.resolve_dead_letter(workspace, id, ctx.now, ctx.caller.user(), None).await?;
    tx.audit(ctx.audit_entry("dead_letter.discard").workspace(workspace).target(id));
    Ok(())
}

async fn get_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(DeadLetterOrigin, ReplaySource), RunsError> {
    let found = tx.dead_letter_for_update(right.member().workspace(), id).await?;
    let (origin, state, source) =
        found.filter(|(_, _, source)| source.app == right.app()).ok_or(RunsError::DeadLetterNotFound)?;
    if state == LetterState::Open { Ok((origin, source)) } else { Err(RunsError::DeadLetterResolved) }
}

async fn enqueue_replay(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    source: ReplaySource,
    (id, original): (RunId, Option<RunId>),
    replay: ReplayRequest,
) -> Result<VersionRef, RunsError> {
    if replay.input.as_ref().is_some_and(|input| input.get().len() > MAX_INPUT) {
        return Err(RunsError::invalid(
            "payload",
            format!("may hold at most {} KiB of JSON", MAX_INPUT >> 10),
        ));
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
    // The automation may be gone: its runs are still runs of the app.
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
