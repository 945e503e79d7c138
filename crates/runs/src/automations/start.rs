//! Starting an automation by hand.

use chrono::TimeDelta;
use kernel::{
    Context, Timestamp,
    authority::{AppRight, CanRun},
    id::{AutomationId, RunId},
};
use serde_json::value::RawValue;

use super::TriggerKind;
use crate::{RunsError, RunsTx, queue::NewRun};

/// The most a run's input may hold, in bytes of JSON.
pub const MAX_INPUT: usize = 256 << 10;

/// How far ahead a run may be put off.
const MAX_START_DELAY: TimeDelta = TimeDelta::days(30);

/// What a person or agent starts.
#[derive(Debug)]
pub struct StartRun {
    /// The automation.
    pub automation: AutomationId,
    /// What the app is given.
    pub input: Box<RawValue>,
    /// When it is to start; at once when not said, or when that is past.
    pub run_at: Option<Timestamp>,
    /// How many runs the workspace may start in a month.
    pub runs_per_month: Option<u64>,
}

/// Puts a run into the queue.
///
/// A draft or paused automation can be started by hand: that is how it is tried out.
///
/// # Errors
/// When the input is too large, the automation is gone, the app cannot run, the quota is used up, or what the store says.
pub async fn start_run(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanRun>,
    input: StartRun,
) -> Result<RunId, RunsError> {
    if input.input.get().len() > MAX_INPUT {
        return Err(RunsError::invalid("input", format!("may hold at most {} KiB of JSON", MAX_INPUT >> 10)));
    }
    if input.run_at.is_some_and(|moment| moment > ctx.now + MAX_START_DELAY) {
        return Err(RunsError::invalid("runAt", "may be at most 30 days ahead"));
    }
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, input.automation).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    let scheduled_for = input.run_at.filter(|moment| *moment > ctx.now);
    if scheduled_for.is_some() && automation.max_concurrency.is_some() {
        // It would hold a place from now on.
        return Err(RunsError::invalid(
            "runAt",
            "cannot be said while the automation limits its runs at once",
        ));
    }
    if !tx.is_app_runnable(workspace, automation.app).await? {
        return Err(RunsError::NotRunnable);
    }
    if !tx.try_consume_quota(workspace, ctx.now, input.runs_per_month).await? {
        return Err(RunsError::QuotaReached);
    }
    let run = NewRun {
        id: ctx.new_id(),
        workspace,
        app: automation.app,
        automation: Some(automation.id),
        trigger: TriggerKind::Manual,
        input: input.input,
        at: ctx.now,
        scheduled_for,
        max_concurrency: automation.max_concurrency,
        version: None,
        replay_of: None,
        by_agent: ctx.caller.is_token(),
        is_on_hold: false,
    };
    tx.enqueue(&run).await?;
    tx.audit(ctx.audit_entry("run.start").workspace(workspace).target(run.id));
    Ok(run.id)
}
