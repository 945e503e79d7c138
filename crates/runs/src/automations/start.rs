//! Starting an automation by hand.

use chrono::TimeDelta;
use kernel::{
    Context, Timestamp,
    authority::{AppRight, CanRun},
    id::{AutomationId, RunId, VersionId},
};
use serde_json::value::RawValue;

use super::TriggerKind;
use crate::{InvalidInput, RunsError, RunsTx, queue::NewRun};

/// Most bytes of a run's input, as JSON: 256 KiB.
pub const MAX_INPUT: usize = 256 << 10;

/// Longest delay of a start.
const MAX_START_DELAY: TimeDelta = TimeDelta::days(30);

/// Start of an automation by a person or an agent.
#[derive(Debug, Clone)]
pub struct StartRun {
    /// Automation to start.
    pub automation: AutomationId,
    /// Input of the app; at most [`MAX_INPUT`] bytes.
    pub input: Box<RawValue>,
    /// Earliest start, at most 30 days ahead; at once by default, and when the time has passed.
    pub run_at: Option<Timestamp>,
    /// Most runs of the workspace in a month; `None` for no limit.
    pub runs_per_month: Option<u64>,
    /// Version to run; by default the one that is current when the run starts.
    pub version: Option<VersionId>,
}

/// A run that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedRun {
    /// New run.
    pub run: RunId,
    /// True if it waits until the quota of its workspace has room.
    pub is_on_hold: bool,
}

/// Queues a run of an automation. It may be a draft or paused, so that it can be tried before it is active. When the runs
/// of the month are used up, the run waits for the next month or a larger plan.
///
/// # Errors
/// * [`RunsError::InvalidInput`] when the input is too large, the delay is too long, or a run of an automation with a
///   concurrency limit is delayed
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::NotRunnable`] when the app has no version or is paused
/// * [`RunsError::QuotaReached`] when the runs of the month are used up, and no more may wait
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_run(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanRun>,
    input: StartRun,
) -> Result<StartedRun, RunsError> {
    if input.input.get().len() > MAX_INPUT {
        return Err(InvalidInput::RunInput.into());
    }
    if input.run_at.is_some_and(|run_at| run_at > ctx.now + MAX_START_DELAY) {
        return Err(InvalidInput::StartDelay.into());
    }
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, input.automation).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    let scheduled_for = input.run_at.filter(|run_at| *run_at > ctx.now);
    if scheduled_for.is_some() && automation.max_concurrency.is_some() {
        // A delayed run would count against the limit from now on, not from its start.
        return Err(InvalidInput::DelayedStart.into());
    }
    if !tx.is_app_runnable(workspace, automation.app).await? {
        return Err(RunsError::NotRunnable);
    }
    let is_on_hold = tx.admit_run(workspace, ctx.now, input.runs_per_month).await?.is_on_hold()?;
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
        version: input.version,
        replay_of: None,
        by_agent: ctx.caller.is_token(),
        agent: ctx.caller.grant(),
        is_on_hold,
    };
    tx.enqueue(&run).await?;
    tx.audit(ctx.audit_entry("run.start").workspace(workspace).target(run.id).app(run.app));
    Ok(StartedRun { run: run.id, is_on_hold })
}

#[cfg(test)]
mod tests {
    use kernel::{
        caller::{Scope, Scopes},
        testing::{at, context, id, token_of},
    };

    use super::*;
    use crate::{
        Automation, AutomationStatus, Trigger,
        testing::{
            FakeTx, app, assert_audited, assert_invalid, assert_store_failed, assert_untouched, automation,
            can_run, editor_context, editor_id, raw, workspace,
        },
    };

    fn manual() -> Automation {
        automation(10, Trigger::Manual)
    }

    fn input() -> StartRun {
        StartRun {
            automation: id(10),
            input: raw(r#"{"order":7}"#),
            run_at: None,
            runs_per_month: Some(1),
            version: None,
        }
    }

    async fn start(tx: &mut FakeTx, input: StartRun) -> Result<StartedRun, RunsError> {
        let ctx = editor_context();
        start_run(tx, &ctx, &can_run(&ctx), input).await
    }

    #[tokio::test]
    async fn a_started_run_is_queued_with_its_input() {
        let mut tx = FakeTx::with_automation(&Automation { max_concurrency: Some(4), ..manual() });
        let StartedRun { run: id, is_on_hold } = start(&mut tx, input()).await.unwrap();
        assert!(!is_on_hold);
        let [run] = &tx.queue[..] else { panic!("{:?}", tx.queue) };
        assert_eq!((run.id, run.workspace, run.app), (id, workspace(), app()));
        assert_eq!((run.automation, run.trigger), (Some(manual().id), TriggerKind::Manual));
        assert_eq!(run.input.get(), r#"{"order":7}"#);
        assert_eq!((run.at, run.scheduled_for, run.max_concurrency), (at(60_000), None, Some(4)));
        assert_eq!((run.version, run.replay_of), (None, None));
        assert!(!run.by_agent && !run.is_on_hold);
        assert_eq!(tx.consumed_quota, 1);
        assert_audited(&tx.work, "run.start", id, None);
    }

    #[tokio::test]
    async fn a_paused_or_draft_automation_can_be_started_by_hand() {
        for status in [AutomationStatus::Paused, AutomationStatus::Draft] {
            let mut tx = FakeTx::with_automation(&Automation { status, ..manual() });
            start(&mut tx, input()).await.unwrap();
            assert_eq!(tx.queue.len(), 1);
        }
    }

    #[tokio::test]
    async fn a_run_that_a_token_starts_is_marked() {
        let token = token_of(editor_id(), workspace(), Scopes::new(&[Scope::Write]).unwrap());
        let ctx = context(token, at(60_000));
        let mut tx = FakeTx::with_automation(&manual());
        start_run(&mut tx, &ctx, &can_run(&ctx), input()).await.unwrap();
        assert!(tx.queue[0].by_agent);
    }

    #[tokio::test]
    async fn a_start_can_be_put_off_by_up_to_thirty_days() {
        let now = editor_context().now;
        let at_time = |run_at| StartRun { run_at: Some(run_at), ..input() };
        for (run_at, scheduled_for) in [
            (now + TimeDelta::days(30), Some(now + TimeDelta::days(30))),
            (now + TimeDelta::milliseconds(1), Some(now + TimeDelta::milliseconds(1))),
            (now, None),
            (now - TimeDelta::days(1), None),
        ] {
            let mut tx = FakeTx::with_automation(&manual());
            start(&mut tx, at_time(run_at)).await.unwrap();
            assert_eq!(tx.queue[0].scheduled_for, scheduled_for);
        }
        let mut tx = FakeTx::with_automation(&manual());
        let late = now + TimeDelta::days(30) + TimeDelta::milliseconds(1);
        assert_invalid(&start(&mut tx, at_time(late)).await, &InvalidInput::StartDelay);
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn a_start_is_not_put_off_while_concurrency_is_limited() {
        let mut tx = FakeTx::with_automation(&Automation { max_concurrency: Some(1), ..manual() });
        let later = StartRun { run_at: Some(at(60_001)), ..input() };
        assert_invalid(&start(&mut tx, later).await, &InvalidInput::DelayedStart);
        assert_untouched(&tx);
        let past = StartRun { run_at: Some(at(59_999)), ..input() };
        start(&mut tx, past).await.unwrap();
    }

    #[tokio::test]
    async fn an_input_may_have_256_kib() {
        let sized =
            |bytes: usize| StartRun { input: raw(&format!("\"{}\"", "x".repeat(bytes - 2))), ..input() };
        let mut tx = FakeTx::with_automation(&manual());
        start(&mut tx, sized(MAX_INPUT)).await.unwrap();
        let mut tx = FakeTx::with_automation(&manual());
        assert_invalid(&start(&mut tx, sized(MAX_INPUT + 1)).await, &InvalidInput::RunInput);
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn an_app_that_cannot_run_consumes_no_quota() {
        let mut tx = FakeTx { runnable_apps: Vec::new(), ..FakeTx::with_automation(&manual()) };
        let refused = start(&mut tx, input()).await;
        assert!(matches!(refused, Err(RunsError::NotRunnable)), "{refused:?}");
        assert_eq!(tx.consumed_quota, 0);
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn a_used_up_quota_holds_what_starts_as_long_as_more_may_wait() {
        let mut tx = FakeTx::with_automation(&manual());
        let first = start(&mut tx, input()).await.unwrap();
        let second = start(&mut tx, input()).await.unwrap();
        assert_eq!((first.is_on_hold, second.is_on_hold), (false, true));
        let queued: Vec<_> = tx.queue.iter().map(|run| (run.id, run.is_on_hold)).collect();
        assert_eq!(queued, [(first.run, false), (second.run, true)]);
        tx.holds_no_more = true;
        let third = start(&mut tx, input()).await;
        assert!(matches!(third, Err(RunsError::QuotaReached)), "{third:?}");
        assert_eq!(tx.queue.len(), 2);
        assert_eq!(tx.work.audited_actions(), ["run.start", "run.start"]);
    }

    #[tokio::test]
    async fn an_automation_of_another_app_or_workspace_is_not_found() {
        for foreign in [Automation { app: id(9), ..manual() }, Automation { workspace: id(9), ..manual() }] {
            let mut tx = FakeTx::with_automation(&foreign);
            let refused = start(&mut tx, input()).await;
            assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
            assert_eq!(tx.consumed_quota, 0);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&start(&mut FakeTx::unavailable(), input()).await);
    }
}
