//! Deleting an automation.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use crate::{RunsError, RunsTx};

/// Deletes an automation with its webhook. Its queued runs fail; its other runs stay as a record.
///
/// # Errors
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: AutomationId,
) -> Result<(), RunsError> {
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, id).await?;
    let found = found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    tx.delete_automation(workspace, id, ctx.now).await?;
    let entry = ctx.audit_entry("automation.delete").workspace(workspace).target(id).app(right.app());
    tx.audit(entry.detail(serde_json::json!({ "name": found.name })));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        Automation, Trigger,
        automations::{StartRun, start_run},
        testing::{
            FakeTx, assert_audited, assert_store_failed, assert_untouched, automation, can_edit, can_run,
            editor_context, raw, webhook,
        },
        webhooks::Proof,
    };

    async fn delete(tx: &mut FakeTx) -> Result<(), RunsError> {
        let ctx = editor_context();
        delete_automation(tx, &ctx, &can_edit(&ctx), id(10)).await
    }

    #[tokio::test]
    async fn a_deleted_automation_takes_its_webhook_and_queued_runs_with_it() {
        let (deleted, kept) = (automation(10, Trigger::Webhook), automation(11, Trigger::Webhook));
        let mut tx = FakeTx::with_automation(&deleted);
        tx.automations.push(kept.clone());
        tx.webhooks = vec![webhook(40, deleted.id, Proof::None), webhook(41, kept.id, Proof::None)];
        let ctx = editor_context();
        let mut runs = Vec::new();
        for automation in [deleted.id, kept.id] {
            let input =
                StartRun { automation, input: raw("1"), run_at: None, runs_per_month: None, version: None };
            runs.push(start_run(&mut tx, &ctx, &can_run(&ctx), input).await.unwrap().run);
        }
        tx.work.audit.clear();

        delete(&mut tx).await.unwrap();
        assert_eq!(tx.automations, [kept]);
        assert_eq!(tx.webhooks.iter().map(|webhook| webhook.id).collect::<Vec<_>>(), [id(41)]);
        assert_eq!(tx.queue.iter().map(|run| run.id).collect::<Vec<_>>(), [runs[1]]);
        assert_eq!(tx.failed, [(runs[0], ctx.now)]);
        let detail = serde_json::json!({ "name": deleted.name });
        assert_audited(&tx.work, "automation.delete", deleted.id, Some(&detail));
    }

    #[tokio::test]
    async fn a_second_delete_finds_nothing() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        delete(&mut tx).await.unwrap();
        let second = delete(&mut tx).await;
        assert!(matches!(second, Err(RunsError::AutomationNotFound)), "{second:?}");
        assert_eq!(tx.work.audited_actions(), ["automation.delete"]);
    }

    #[tokio::test]
    async fn an_automation_of_another_app_or_workspace_stays() {
        let own = automation(10, Trigger::Manual);
        for foreign in [Automation { app: id(9), ..own.clone() }, Automation { workspace: id(9), ..own }] {
            let mut tx = FakeTx::with_automation(&foreign);
            let refused = delete(&mut tx).await;
            assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
            assert_eq!(tx.automations, [foreign]);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&delete(&mut FakeTx::unavailable()).await);
    }
}
