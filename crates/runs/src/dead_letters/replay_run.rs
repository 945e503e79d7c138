//! Replaying a run.

use kernel::{
    Context, Id,
    authority::{AppRight, CanEdit},
    id::RunId,
};
use serde_json::json;

use super::{DeadLetterState, ReplayRequest, ReplayedRun, replay::enqueue_replay};
use crate::{RunStatus, RunsError, ports::DeadLettersTx};

/// Replays a run that failed or was blocked as a new run, and resolves its dead letter if that is open.
///
/// # Errors
/// * [`RunsError::RunNotFound`] when the app has no such run
/// * [`RunsError::RunNotFailed`] when it neither failed nor was blocked
/// * [`RunsError::InvalidInput`] when the input is too large
/// * [`RunsError::PayloadGone`] when the original input is no longer stored, and none is given
/// * [`RunsError::NotRunnable`] when the app has no version or is paused
/// * [`RunsError::NoOriginalVersion`] when the wanted version is unknown or gone
/// * [`RunsError::VersionUnusable`] when its files are deleted
/// * [`RunsError::VersionNotPermitted`] when it is not the version that was checked for the caller
/// * [`RunsError::QuotaReached`] when the runs of the month are used up, and no more may wait
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn replay_run(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: RunId,
    replay: ReplayRequest,
) -> Result<ReplayedRun, RunsError> {
    let workspace = right.member().workspace();
    // The dead letter of a run has the id of the run. It is locked first, in the order of a replay of the dead letter.
    let dead_letter = Id::from_uuid(id.uuid());
    let found = tx.dead_letter_for_update(workspace, dead_letter).await?;
    let dead_letter = found.filter(|(_, state, _)| *state == DeadLetterState::Open).map(|_| dead_letter);
    let found = tx.replay_source_of_run(workspace, id).await?;
    let (status, source) =
        found.filter(|(_, source)| source.app == right.app()).ok_or(RunsError::RunNotFound)?;
    if !matches!(status, RunStatus::Failed | RunStatus::Blocked) {
        return Err(RunsError::RunNotFailed);
    }
    let (version, edited) = (replay.version, replay.input.is_some());
    let run = ctx.new_id();
    let (ran, is_on_hold) = enqueue_replay(tx, ctx, right, source, (run, Some(id)), replay).await?;
    if let Some(dead_letter) = dead_letter {
        tx.resolve_dead_letter(workspace, dead_letter, ctx.now, ctx.caller.user(), Some(run)).await?;
    }
    let detail = json!({"run": run, "version": version, "edited": edited});
    tx.audit(ctx.audit_entry("run.replay").workspace(workspace).target(id).app(right.app()).detail(detail));
    Ok(ReplayedRun { run, dead_letter, version: ran, is_edited: edited, is_on_hold })
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::{
        InvalidInput,
        dead_letters::{DeadLetterState, ReplaySource, WhichVersion},
        testing::{
            FakeTx, StoredDeadLetter, assert_audited, assert_invalid, assert_store_failed, assert_untouched,
            can_edit, editor_context, editor_id, raw, replay_request, replay_source, run_dead_letter,
            version, workspace,
        },
    };

    fn ended(status: RunStatus) -> FakeTx {
        FakeTx {
            ended_runs: vec![(workspace(), id(50), status, replay_source())],
            ..FakeTx::with_runnable_app()
        }
    }

    async fn replay(tx: &mut FakeTx, request: ReplayRequest) -> Result<ReplayedRun, RunsError> {
        let ctx = editor_context();
        replay_run(tx, &ctx, &can_edit(&ctx), id(50), request).await
    }

    #[tokio::test]
    async fn a_failed_or_blocked_run_is_queued_again_and_its_dead_letter_resolved() {
        for status in [RunStatus::Failed, RunStatus::Blocked] {
            let failed: RunId = id(50);
            let mut tx = FakeTx { dead_letters: vec![run_dead_letter(50)], ..ended(status) };
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
            assert_eq!((run.id, run.replay_of, run.input.get()), (replayed.run, Some(failed), "1"));
            let dead_letter = &tx.dead_letters[0];
            assert_eq!(
                (dead_letter.state, dead_letter.replay),
                (DeadLetterState::Replayed, Some(replayed.run))
            );
            assert_eq!(dead_letter.resolved, Some((at(60_000), Some(editor_id()))));
            let detail = json!({ "run": replayed.run, "version": "current", "edited": false });
            assert_audited(&tx.work, "run.replay", failed, Some(&detail));
        }
    }

    #[tokio::test]
    async fn a_run_without_an_open_dead_letter_is_replayed_too() {
        let discarded = StoredDeadLetter { state: DeadLetterState::Discarded, ..run_dead_letter(50) };
        for dead_letters in [vec![], vec![discarded]] {
            let before: Vec<_> = dead_letters.iter().map(|dead_letter| dead_letter.state).collect();
            let mut tx = FakeTx { dead_letters, ..ended(RunStatus::Failed) };
            assert_eq!(replay(&mut tx, replay_request()).await.unwrap().dead_letter, None);
            assert_eq!(
                tx.dead_letters.iter().map(|dead_letter| dead_letter.state).collect::<Vec<_>>(),
                before
            );
            assert_eq!(tx.queue.len(), 1);
        }
    }

    #[tokio::test]
    async fn a_second_replay_starts_a_second_run_and_leaves_the_dead_letter() {
        let mut tx = FakeTx { dead_letters: vec![run_dead_letter(50)], ..ended(RunStatus::Failed) };
        let ctx = editor_context();
        let first = replay_run(&mut tx, &ctx, &can_edit(&ctx), id(50), replay_request()).await.unwrap();
        let second = replay_run(&mut tx, &ctx, &can_edit(&ctx), id(50), replay_request()).await.unwrap();
        assert_ne!(first.run, second.run);
        assert_eq!((first.dead_letter, second.dead_letter), (Some(id(50)), None));
        assert_eq!(tx.dead_letters[0].replay, Some(first.run));
        assert_eq!(tx.queue.iter().map(|run| run.id).collect::<Vec<_>>(), [first.run, second.run]);
    }

    #[tokio::test]
    async fn a_run_that_did_not_fail_is_not_replayed() {
        for status in
            [RunStatus::Queued, RunStatus::Running, RunStatus::WaitingApproval, RunStatus::Succeeded]
        {
            let mut tx = ended(status);
            let refused = replay(&mut tx, replay_request()).await;
            assert!(matches!(refused, Err(RunsError::RunNotFailed)), "{status:?}: {refused:?}");
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_run_of_another_app_or_workspace_is_not_found() {
        let of_app = ReplaySource { app: id(9), ..replay_source() };
        for foreign in [
            (workspace(), id(50), RunStatus::Failed, of_app),
            (id(9), id(50), RunStatus::Failed, replay_source()),
            (workspace(), id(51), RunStatus::Failed, replay_source()),
        ] {
            let mut tx = FakeTx { ended_runs: vec![foreign], ..FakeTx::with_runnable_app() };
            let refused = replay(&mut tx, replay_request()).await;
            assert!(matches!(refused, Err(RunsError::RunNotFound)), "{refused:?}");
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn what_a_replay_needs_is_checked_before_the_dead_letter_is_resolved() {
        let failed = || FakeTx { dead_letters: vec![run_dead_letter(50)], ..ended(RunStatus::Failed) };
        let mut cannot_run = FakeTx { runnable_apps: Vec::new(), ..failed() };
        let refused = replay(&mut cannot_run, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::NotRunnable)), "{refused:?}");

        let mut used_up = FakeTx { holds_no_more: true, ..failed() };
        let refused =
            replay(&mut used_up, ReplayRequest { runs_per_month: Some(0), ..replay_request() }).await;
        assert!(matches!(refused, Err(RunsError::QuotaReached)), "{refused:?}");

        let mut without_version = FakeTx { versions: Vec::new(), ..failed() };
        let original = ReplayRequest { version: WhichVersion::Original, ..replay_request() };
        let refused = replay(&mut without_version, original).await;
        assert!(matches!(refused, Err(RunsError::NoOriginalVersion)), "{refused:?}");

        let mut without_input = failed();
        without_input.ended_runs[0].3.input = None;
        let refused = replay(&mut without_input, replay_request()).await;
        assert!(matches!(refused, Err(RunsError::PayloadGone)), "{refused:?}");

        let mut too_large = failed();
        let input = raw(&format!("\"{}\"", "x".repeat(crate::automations::MAX_INPUT)));
        assert_invalid(
            &replay(&mut too_large, ReplayRequest { input: Some(input), ..replay_request() }).await,
            &InvalidInput::ReplayInput,
        );

        for tx in [cannot_run, used_up, without_version, without_input, too_large] {
            assert_eq!((tx.dead_letters[0].state, tx.dead_letters[0].replay), (DeadLetterState::Open, None));
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&replay(&mut FakeTx::unavailable(), replay_request()).await);
    }
}
