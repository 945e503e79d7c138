//! Discarding a dead letter.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::DeadLetterId,
};

use super::get_open::get_open_dead_letter;
use crate::{RunsError, ports::DeadLettersTx};

/// Discards an open dead letter. Nothing runs.
///
/// # Errors
/// * [`RunsError::DeadLetterNotFound`] when the app has no such dead letter
/// * [`RunsError::DeadLetterResolved`] when it was replayed or discarded
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn discard_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(), RunsError> {
    get_open_dead_letter(tx, right, id).await?;
    let workspace = right.member().workspace();
    tx.resolve_dead_letter(workspace, id, ctx.now, ctx.caller.user(), None).await?;
    tx.audit(ctx.audit_entry("dead_letter.discard").workspace(workspace).target(id).app(right.app()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        dead_letters::{DeadLetterState, ReplaySource},
        testing::{
            FakeTx, StoredDeadLetter, assert_audited, assert_store_failed, assert_untouched,
            call_dead_letter, can_edit, editor_context, editor_id, replay_source, run_dead_letter,
        },
    };

    fn holding(dead_letter: StoredDeadLetter) -> FakeTx {
        FakeTx { dead_letters: vec![dead_letter], ..FakeTx::with_runnable_app() }
    }

    async fn discard(tx: &mut FakeTx) -> Result<(), RunsError> {
        let ctx = editor_context();
        discard_open_dead_letter(tx, &ctx, &can_edit(&ctx), id(50)).await
    }

    #[tokio::test]
    async fn a_discarded_dead_letter_starts_nothing() {
        for dead_letter in [run_dead_letter(50), call_dead_letter(50)] {
            let mut tx = holding(dead_letter);
            discard(&mut tx).await.unwrap();
            let [dead_letter] = &tx.dead_letters[..] else { panic!("{:?}", tx.dead_letters) };
            assert_eq!((dead_letter.state, dead_letter.replay), (DeadLetterState::Discarded, None));
            assert_eq!(dead_letter.resolved, Some((editor_context().now, Some(editor_id()))));
            assert!(tx.queue.is_empty() && tx.consumed_quota == 0);
            assert_audited(&tx.work, "dead_letter.discard", dead_letter.id, None);
        }
    }

    #[tokio::test]
    async fn a_resolved_dead_letter_is_not_discarded_again() {
        for state in [DeadLetterState::Discarded, DeadLetterState::Replayed] {
            let mut tx = holding(StoredDeadLetter { state, ..run_dead_letter(50) });
            let refused = discard(&mut tx).await;
            assert!(matches!(refused, Err(RunsError::DeadLetterResolved)), "{refused:?}");
            assert_eq!((tx.dead_letters[0].state, tx.dead_letters[0].resolved), (state, None));
            assert_untouched(&tx);
        }
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
            let refused = discard(&mut tx).await;
            assert!(matches!(refused, Err(RunsError::DeadLetterNotFound)), "{refused:?}");
            assert_eq!(tx.dead_letters[0].state, DeadLetterState::Open);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&discard(&mut FakeTx::unavailable()).await);
    }
}
