//! Replaying a dead letter.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use super::{DeadLetterOrigin, enqueue_replay::enqueue_replay, get_open::get_open_dead_letter};
use crate::{RunsError, ports::DeadLettersTx, runs::VersionRef};

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
