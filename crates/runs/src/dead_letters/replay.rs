//! Replaying a dead letter.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId, VersionId},
};
use serde::{Deserialize, Serialize};
use serde_json::{json, value::RawValue};

use super::{DeadLetterOrigin, ReplaySource, get_open::get_open_dead_letter};
use crate::{
    InvalidInput, RunsError, automations::MAX_INPUT, ports::DeadLettersTx, queue::NewRun, runs::VersionRef,
};

/// Version of the app that a replay runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhichVersion {
    /// The current version.
    #[default]
    Current,
    /// The version that failed, or would have run.
    Original,
}

/// Settings of a replay.
#[derive(Debug, Clone)]
pub struct ReplayRequest {
    /// Input of the app, at most [`MAX_INPUT`](crate::automations::MAX_INPUT) bytes; the original input by default.
    pub input: Option<Box<RawValue>>,
    /// Version to run.
    pub version: WhichVersion,
    /// Original version that the caller is known to be allowed to run, for [`WhichVersion::Original`].
    pub permitted: Option<VersionId>,
    /// Most runs of the workspace in a month; `None` for no limit.
    pub runs_per_month: Option<u64>,
}

/// Result of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedRun {
    /// New run.
    pub run: RunId,
    /// Dead letter that is resolved with it.
    pub dead_letter: Option<DeadLetterId>,
    /// Version that it runs; of a replay of the current version, the one that is current now.
    pub version: VersionRef,
    /// True if it has another input than the original.
    pub is_edited: bool,
    /// True if it waits until the quota of its workspace has room.
    pub is_on_hold: bool,
}

/// Replays an open dead letter as a new run, and resolves it.
///
/// # Errors
/// * [`RunsError::DeadLetterNotFound`] when the app has no such dead letter
/// * [`RunsError::DeadLetterResolved`] when it was replayed or discarded
/// * [`RunsError::CallAccepted`] when the sender retried the refused call, and it was accepted
/// * [`RunsError::InvalidInput`] when the input is too large
/// * [`RunsError::PayloadGone`] when the original input is no longer stored, and none is given
/// * [`RunsError::NotRunnable`] when the app has no version or is paused
/// * [`RunsError::NoOriginalVersion`] when the wanted version is unknown or gone
/// * [`RunsError::VersionUnusable`] when its files are deleted
/// * [`RunsError::VersionNotPermitted`] when it is not the version that was checked for the caller
/// * [`RunsError::QuotaReached`] when the runs of the month are used up, and no more may wait
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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
    let (version, edited) = (replay.version, replay.input.is_some());
    let (workspace, run) = (right.member().workspace(), ctx.new_id());
    if original.is_none()
        && let Some(accepted) = tx.claim_refused_call(workspace, id, run, ctx.now).await?
    {
        return Err(RunsError::CallAccepted(accepted));
    }
    let (ran, is_on_hold) = enqueue_replay(tx, ctx, right, source, (run, original), replay).await?;
    tx.resolve_dead_letter(workspace, id, ctx.now, ctx.caller.user(), Some(run)).await?;
    let detail = json!({"run": run, "version": version, "edited": edited});
    let entry = ctx.audit_entry("dead_letter.replay").workspace(workspace).target(id);
    tx.audit(entry.app(right.app()).detail(detail));
    Ok(ReplayedRun { run, dead_letter: Some(id), version: ran, is_edited: edited, is_on_hold })
}

/// Queues a run with the id `id`, which repeats `original`; returns its version, and true if the run is held.
pub(super) async fn enqueue_replay(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    source: ReplaySource,
    (id, original): (RunId, Option<RunId>),
    replay: ReplayRequest,
) -> Result<(VersionRef, bool), RunsError> {
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
    if wanted.is_some() {
        if !tx.lock_version_files(workspace, source.app, version.id).await? {
            return Err(RunsError::VersionUnusable);
        }
        if replay.permitted != wanted {
            return Err(RunsError::VersionNotPermitted);
        }
    }
    // The automation may be deleted; its runs are still runs of the app.
    let automation = match source.automation {
        Some(id) => tx.automation_for_update(workspace, id).await?,
        None => None,
    };
    let is_on_hold = tx.admit_run(workspace, ctx.now, replay.runs_per_month).await?.is_on_hold()?;
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
        // A run that waits for its turn must not keep permissions that are taken away meanwhile: like every other run, it has
        // the version that is current when it starts.
        version: wanted,
        replay_of: original,
        by_agent: ctx.caller.is_token(),
        agent: ctx.caller.grant(),
        is_on_hold,
    };
    tx.enqueue(&run).await?;
    Ok((version, is_on_hold))
}

#[cfg(test)]
mod tests {
    use kernel::{
        caller::{Scope, Scopes},
        testing::{at, context, id, token_of},
    };

    use super::*;
    use crate::{
        Automation, Trigger, TriggerKind,
        dead_letters::{DeadLetterState, ReplaySource},
        testing::{
            FakeTx, StoredDeadLetter, app, assert_audited, assert_invalid, assert_store_failed,
            assert_untouched, automation, call_dead_letter, can_edit, editor_context, editor_id, raw,
            replay_request, replay_source, run_dead_letter, version, workspace,
        },
    };

    fn holding(dead_letter: StoredDeadLetter) -> FakeTx {
        FakeTx { dead_letters: vec![dead_letter], ..FakeTx::with_runnable_app() }
    }

    fn from_source(source: ReplaySource) -> FakeTx {
        holding(StoredDeadLetter { source, ..run_dead_letter(50) })
    }

    async fn replay(tx: &mut FakeTx, request: ReplayRequest) -> Result<ReplayedRun, RunsError> {
        let ctx = editor_context();
        replay_open_dead_letter(tx, &ctx, &can_edit(&ctx), id(50), request).await
    }

    /// Checks that a refused replay left the dead letter open.
    #[track_caller]
    fn assert_still_open(tx: &FakeTx) {
        assert_eq!((tx.dead_letters[0].state, tx.dead_letters[0].resolved), (DeadLetterState::Open, None));
        assert_untouched(tx);
    }

    #[tokio::test]
    async fn a_failed_run_is_queued_again_with_its_input() {
        let mut tx = holding(run_dead_letter(50));
        let replayed = replay(&mut tx, replay_request()).await.unwrap();
        let expected = ReplayedRun {
            run: replayed.run,
            dead_letter: Some(id(50)),
            version: version(2),
            is_edited: false,
            is_on_hold: false,
        };
        assert_eq!(replayed, expected);
        let [run] = &tx.queue[..] else { panic!("{:?}", tx.queue) };
        assert_eq!((run.id, run.workspace, run.app), (replayed.run, workspace(), app()));
        assert_eq!((run.automation, run.trigger, run.input.get()), (None, TriggerKind::Webhook, "1"));
        assert_eq!((run.at, run.scheduled_for, run.max_concurrency), (at(60_000), None, None));
        // The version is chosen when it starts.
        assert_eq!((run.version, run.replay_of), (None, Some(id(50))));
        assert!(!run.by_agent && !run.is_on_hold);
        let dead_letter = &tx.dead_letters[0];
        assert_eq!((dead_letter.state, dead_letter.replay), (DeadLetterState::Replayed, Some(replayed.run)));
        assert_eq!(dead_letter.resolved, Some((at(60_000), Some(editor_id()))));
        let detail = json!({ "run": replayed.run, "version": "current", "edited": false });
        assert_audited(&tx.work, "dead_letter.replay", dead_letter.id, Some(&detail));
    }

    #[tokio::test]
    async fn a_refused_call_is_claimed_so_that_its_sender_repeats_the_replay() {
        let mut tx = holding(call_dead_letter(50));
        let replayed = replay(&mut tx, replay_request()).await.unwrap();
        assert_eq!(tx.dead_letters[0].claimed_by, Some(replayed.run));
        assert_eq!((tx.queue[0].id, tx.queue[0].replay_of), (replayed.run, None));
    }

    #[tokio::test]
    async fn a_refused_call_that_came_again_and_was_accepted_is_not_replayed() {
        let mut tx = holding(StoredDeadLetter { claimed_by: Some(id(70)), ..call_dead_letter(50) });
        let refused = replay(&mut tx, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::CallAccepted(run)) if run == id(70)), "{refused:?}");
        assert_still_open(&tx);
    }

    #[tokio::test]
    async fn a_dead_letter_is_replayed_once() {
        for dead_letter in [run_dead_letter(50), call_dead_letter(50)] {
            let mut tx = holding(dead_letter);
            let first = replay(&mut tx, replay_request()).await.unwrap();
            let second = replay(&mut tx, replay_request()).await;
            assert!(matches!(second, Err(RunsError::DeadLetterResolved)), "{second:?}");
            assert_eq!(tx.dead_letters[0].replay, Some(first.run));
            assert_eq!((tx.queue.len(), tx.work.audited_actions()), (1, vec!["dead_letter.replay"]));
        }
        let mut tx = holding(StoredDeadLetter { state: DeadLetterState::Discarded, ..run_dead_letter(50) });
        let refused = replay(&mut tx, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::DeadLetterResolved)), "{refused:?}");
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn another_input_is_audited_as_an_edit_without_what_it_says() {
        let mut tx = holding(run_dead_letter(50));
        let request = ReplayRequest { input: Some(raw(r#"{"card":"4111"}"#)), ..replay_request() };
        let replayed = replay(&mut tx, request).await.unwrap();
        assert!(replayed.is_edited);
        assert_eq!(tx.queue[0].input.get(), r#"{"card":"4111"}"#);
        let detail = json!({ "run": replayed.run, "version": "current", "edited": true });
        assert_audited(&tx.work, "dead_letter.replay", tx.dead_letters[0].id, Some(&detail));
    }

    #[tokio::test]
    async fn the_original_version_can_run_while_it_exists() {
        let original = || ReplayRequest {
            version: WhichVersion::Original,
            permitted: Some(version(1).id),
            ..replay_request()
        };
        let mut tx = holding(run_dead_letter(50));
        let replayed = replay(&mut tx, original()).await.unwrap();
        assert_eq!((replayed.version, tx.queue[0].version), (version(1), Some(version(1).id)));
        let detail = json!({ "run": replayed.run, "version": "original", "edited": false });
        assert_audited(&tx.work, "dead_letter.replay", tx.dead_letters[0].id, Some(&detail));

        let mut never_run = from_source(ReplaySource { version: None, ..replay_source() });
        let mut deleted = FakeTx { versions: vec![(app(), version(2))], ..holding(run_dead_letter(50)) };
        for tx in [&mut never_run, &mut deleted] {
            let refused = replay(tx, original()).await;
            assert!(matches!(refused, Err(RunsError::NoOriginalVersion)), "{refused:?}");
            assert_still_open(tx);
        }
        let mut pruned = FakeTx { pruned_versions: vec![version(1).id], ..holding(run_dead_letter(50)) };
        let refused = replay(&mut pruned, original()).await;
        assert!(matches!(refused, Err(RunsError::VersionUnusable)), "{refused:?}");
        assert_still_open(&pruned);
        assert_eq!(replay(&mut pruned, replay_request()).await.unwrap().version, version(2));
    }

    #[tokio::test]
    async fn only_the_version_that_was_checked_runs_as_the_original() {
        for permitted in [None, Some(version(2).id)] {
            let mut tx = holding(run_dead_letter(50));
            let request = ReplayRequest { version: WhichVersion::Original, permitted, ..replay_request() };
            let refused = replay(&mut tx, request).await;
            assert!(matches!(refused, Err(RunsError::VersionNotPermitted)), "{refused:?}");
            assert_still_open(&tx);
        }
    }

    #[tokio::test]
    async fn the_limit_of_the_automation_holds_while_the_automation_exists() {
        let known = Automation { max_concurrency: Some(2), ..automation(10, Trigger::Webhook) };
        let source = || ReplaySource { automation: Some(known.id), ..replay_source() };
        let mut tx = FakeTx { automations: vec![known.clone()], ..from_source(source()) };
        replay(&mut tx, replay_request()).await.unwrap();
        assert_eq!((tx.queue[0].automation, tx.queue[0].max_concurrency), (Some(known.id), Some(2)));

        let mut tx = from_source(source());
        replay(&mut tx, replay_request()).await.unwrap();
        assert_eq!((tx.queue[0].automation, tx.queue[0].max_concurrency), (None, None));
    }

    #[tokio::test]
    async fn a_used_up_quota_holds_a_replay() {
        let mut tx = FakeTx { consumed_quota: 3, ..holding(run_dead_letter(50)) };
        let request = ReplayRequest { runs_per_month: Some(3), ..replay_request() };
        assert!(replay(&mut tx, request).await.unwrap().is_on_hold);
        assert!(tx.queue[0].is_on_hold);
        assert_eq!((tx.consumed_quota, tx.dead_letters[0].state), (3, DeadLetterState::Replayed));
    }

    #[tokio::test]
    async fn a_replay_that_a_token_asks_for_is_marked() {
        let token = token_of(editor_id(), workspace(), Scopes::new(&[Scope::Write]).unwrap());
        let ctx = context(token, at(60_000));
        let mut tx = holding(run_dead_letter(50));
        replay_open_dead_letter(&mut tx, &ctx, &can_edit(&ctx), id(50), replay_request()).await.unwrap();
        assert!(tx.queue[0].by_agent);
    }

    #[tokio::test]
    async fn an_input_that_is_gone_has_to_be_given() {
        let gone = || from_source(ReplaySource { input: None, ..replay_source() });
        let mut tx = gone();
        let refused = replay(&mut tx, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::PayloadGone)), "{refused:?}");
        assert_still_open(&tx);
        let mut tx = gone();
        replay(&mut tx, ReplayRequest { input: Some(raw("2")), ..replay_request() }).await.unwrap();
        assert_eq!(tx.queue[0].input.get(), "2");
    }

    #[tokio::test]
    async fn an_input_may_have_256_kib() {
        let sized = |bytes: usize| ReplayRequest {
            input: Some(raw(&format!("\"{}\"", "x".repeat(bytes - 2)))),
            ..replay_request()
        };
        let mut tx = holding(run_dead_letter(50));
        assert_invalid(&replay(&mut tx, sized(MAX_INPUT + 1)).await, &InvalidInput::ReplayInput);
        assert_still_open(&tx);
        replay(&mut tx, sized(MAX_INPUT)).await.unwrap();
    }

    #[tokio::test]
    async fn an_app_that_cannot_run_consumes_no_quota() {
        let mut tx = FakeTx { runnable_apps: Vec::new(), ..holding(run_dead_letter(50)) };
        let refused = replay(&mut tx, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::NotRunnable)), "{refused:?}");
        assert_eq!(tx.consumed_quota, 0);
        assert_still_open(&tx);
    }

    #[tokio::test]
    async fn the_dead_letter_stays_open_when_no_more_may_wait() {
        let mut tx = FakeTx { consumed_quota: 3, holds_no_more: true, ..holding(run_dead_letter(50)) };
        let refused = replay(&mut tx, ReplayRequest { runs_per_month: Some(3), ..replay_request() }).await;
        assert!(matches!(refused, Err(RunsError::QuotaReached)), "{refused:?}");
        assert_still_open(&tx);
        replay(&mut tx, ReplayRequest { runs_per_month: Some(4), ..replay_request() }).await.unwrap();
        assert_eq!(tx.consumed_quota, 4);
    }

    #[tokio::test]
    async fn a_dead_letter_of_another_app_or_workspace_is_not_found() {
        for foreign in [
            StoredDeadLetter {
                source: ReplaySource { app: id(9), ..replay_source() },
                ..run_dead_letter(50)
            },
            StoredDeadLetter { workspace: id(9), ..run_dead_letter(50) },
            run_dead_letter(51),
        ] {
            let mut tx = holding(foreign);
            let refused = replay(&mut tx, replay_request()).await;
            assert!(matches!(refused, Err(RunsError::DeadLetterNotFound)), "{refused:?}");
            assert_still_open(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&replay(&mut FakeTx::unavailable(), replay_request()).await);
    }
}
