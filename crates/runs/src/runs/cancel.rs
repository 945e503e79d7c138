//! Cancelling a run.

use kernel::{
    Context,
    authority::{AppRight, CanRun},
    events::{Event, EventKind, RunStage},
    id::RunId,
};

use super::{CANCELLED, Cancellation};
use crate::{RunsError, RunsTx};

/// Cancels a run that is queued, executes or waits for an approval. It fails with the code [`CANCELLED`]: it is not
/// retried, becomes no dead letter, counts for no alert and starts no automation. The first of several calls cancels it.
///
/// # Errors
/// * [`RunsError::RunEnded`] when the run has ended
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn cancel_run(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanRun>,
    run: RunId,
) -> Result<(), RunsError> {
    let member = right.member();
    let workspace = member.workspace();
    let cancellation = Cancellation { workspace, run, at: ctx.now, by: member.user() };
    if !tx.cancel_run(&cancellation).await? {
        return Err(RunsError::RunEnded);
    }
    let stage = RunStage::Failed { code: CANCELLED.to_owned() };
    tx.publish(Event::of_app(workspace, right.app(), ctx.now, EventKind::Run { run, stage }));
    tx.audit(ctx.audit_entry("run.cancel").workspace(workspace).target(run).app(right.app()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::testing::{
        FakeTx, app, assert_store_failed, assert_untouched, can_run, editor_context, editor_id, workspace,
    };

    async fn cancel(tx: &mut FakeTx) -> Result<(), RunsError> {
        let ctx = editor_context();
        cancel_run(tx, &ctx, &can_run(&ctx), id(30)).await
    }

    fn with_unfinished_run() -> FakeTx {
        FakeTx { unfinished_runs: vec![(workspace(), id(30))], ..FakeTx::default() }
    }

    #[tokio::test]
    async fn a_cancelled_run_has_failed_for_those_who_follow_the_workspace() {
        let mut tx = with_unfinished_run();
        cancel(&mut tx).await.unwrap();
        let end = Cancellation { workspace: workspace(), run: id(30), at: at(60_000), by: editor_id() };
        assert_eq!(tx.cancellations, [end]);
        let stage = RunStage::Failed { code: "cancelled".to_owned() };
        let kind = EventKind::Run { run: id(30), stage };
        assert_eq!(tx.work.events, [Event::of_app(workspace(), app(), at(60_000), kind)]);
        assert_eq!(tx.work.audited_actions(), ["run.cancel"]);
        assert_eq!(tx.work.audit[0].target, Some(kernel::AuditTarget(end.run.to_string())));
    }

    #[tokio::test]
    async fn only_the_first_of_two_calls_cancels() {
        let mut tx = with_unfinished_run();
        cancel(&mut tx).await.unwrap();
        let second = cancel(&mut tx).await;
        assert!(matches!(second, Err(RunsError::RunEnded)), "{second:?}");
        assert_eq!((tx.cancellations.len(), tx.work.events.len(), tx.work.audit.len()), (1, 1, 1));
    }

    #[tokio::test]
    async fn a_run_that_has_ended_stays_as_it_is() {
        let mut tx = FakeTx { unfinished_runs: vec![(id(9), id(30))], ..FakeTx::default() };
        let refused = cancel(&mut tx).await;
        assert!(matches!(refused, Err(RunsError::RunEnded)), "{refused:?}");
        assert!(tx.cancellations.is_empty());
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&cancel(&mut FakeTx::unavailable()).await);
    }
}
