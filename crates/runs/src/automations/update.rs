//! Updating an automation.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::{Automation, AutomationStatus, Trigger};
use crate::{InvalidInput, RunsError, RunsTx};

/// Fields to change. `None` keeps the current value.
#[derive(Debug, Clone, Default)]
pub struct UpdateAutomation {
    /// Display name; 1 to 60 characters after trimming.
    pub name: Option<String>,
    /// Kind and settings of the trigger.
    pub trigger: Option<Trigger>,
    /// Status.
    pub status: Option<AutomationStatus>,
    /// Most runs that execute at once, 1 to 1,000; `Some(None)` removes the limit.
    pub max_concurrency: Option<Option<u16>>,
    /// Most retries of a failed run, 0 to 5.
    pub retries: Option<u8>,
}

/// Updates an automation of an app that the caller can edit.
///
/// # Errors
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::InvalidInput`] when a field is out of bounds, or the kind of trigger would change while the
///   automation has a webhook
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn update_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    id: AutomationId,
    input: UpdateAutomation,
) -> Result<Automation, RunsError> {
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, id).await?;
    let mut automation =
        found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;

    if let Some(name) = input.name {
        automation.name = name.trim().to_owned();
    }
    if let Some(status) = input.status {
        automation.status = status;
    }
    if let Some(max) = input.max_concurrency {
        automation.max_concurrency = max;
    }
    if let Some(retries) = input.retries {
        automation.retries = retries;
    }
    if let Some(trigger) = input.trigger {
        let changes_kind = automation.trigger.kind() != trigger.kind();
        if changes_kind && tx.webhook_for_update(workspace, id).await?.is_some() {
            return Err(InvalidInput::TriggerKind.into());
        }
        automation.trigger = trigger;
    }
    automation.check_limits()?;
    automation.next_run_at = automation.next_after(ctx.now);
    tx.update_automation(&automation).await?;
    let action = match input.status {
        Some(AutomationStatus::Paused) => "automation.pause",
        Some(AutomationStatus::Active) => "automation.activate",
        _ => "automation.update",
    };
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(automation.id).app(automation.app));
    Ok(automation)
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        automations::schedule::Schedule,
        testing::{
            FakeTx, assert_audited, assert_invalid, assert_store_failed, assert_untouched, automation,
            can_edit, editor_context, webhook,
        },
        webhooks::Proof,
    };

    fn hourly() -> Trigger {
        Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap())
    }

    async fn update(tx: &mut FakeTx, input: UpdateAutomation) -> Result<Automation, RunsError> {
        let ctx = editor_context();
        update_automation(tx, &ctx, &can_edit(&ctx), id(10), input).await
    }

    fn with_webhook(automation: &Automation) -> FakeTx {
        FakeTx {
            webhooks: vec![webhook(40, automation.id, Proof::None)],
            ..FakeTx::with_automation(automation)
        }
    }

    #[tokio::test]
    async fn only_the_given_fields_change() {
        let before = Automation { max_concurrency: Some(2), ..automation(10, Trigger::Manual) };
        let changes = [
            (
                UpdateAutomation { name: Some(" Daily ".to_owned()), ..UpdateAutomation::default() },
                Automation { name: "Daily".to_owned(), ..before.clone() },
            ),
            (
                UpdateAutomation { max_concurrency: Some(Some(7)), ..UpdateAutomation::default() },
                Automation { max_concurrency: Some(7), ..before.clone() },
            ),
            (
                UpdateAutomation { max_concurrency: Some(None), ..UpdateAutomation::default() },
                Automation { max_concurrency: None, ..before.clone() },
            ),
            (
                UpdateAutomation { retries: Some(5), ..UpdateAutomation::default() },
                Automation { retries: 5, ..before.clone() },
            ),
            (
                UpdateAutomation { trigger: Some(hourly()), ..UpdateAutomation::default() },
                Automation {
                    trigger: hourly(),
                    next_run_at: Some("2026-01-01T01:00:00Z".parse().unwrap()),
                    ..before.clone()
                },
            ),
            (UpdateAutomation::default(), before.clone()),
        ];
        for (input, expected) in changes {
            let mut tx = FakeTx::with_automation(&before);
            assert_eq!(update(&mut tx, input).await.unwrap(), expected);
            assert_eq!(tx.automations, [expected]);
            assert_audited(&tx.work, "automation.update", before.id, None);
        }
    }

    #[tokio::test]
    async fn a_schedule_has_a_next_run_only_while_it_is_active() {
        let mut tx = FakeTx::with_automation(&automation(10, hourly()));
        for (status, action, next_run_at) in [
            (AutomationStatus::Active, "automation.activate", Some("2026-01-01T01:00:00Z".parse().unwrap())),
            (AutomationStatus::Paused, "automation.pause", None),
            (AutomationStatus::Draft, "automation.update", None),
        ] {
            tx.work.audit.clear();
            let input = UpdateAutomation { status: Some(status), ..UpdateAutomation::default() };
            let updated = update(&mut tx, input).await.unwrap();
            assert_eq!((updated.status, updated.next_run_at), (status, next_run_at));
            assert_eq!(tx.automations, [updated]);
            assert_audited(&tx.work, action, tx.automations[0].id, None);
        }
    }

    #[tokio::test]
    async fn the_kind_of_trigger_is_fixed_while_there_is_a_webhook() {
        let before = automation(10, Trigger::Webhook);
        let to = |trigger| UpdateAutomation { trigger: Some(trigger), ..UpdateAutomation::default() };
        let mut tx = with_webhook(&before);
        for trigger in [Trigger::Form, Trigger::Manual, hourly()] {
            assert_invalid(&update(&mut tx, to(trigger)).await, &InvalidInput::TriggerKind);
        }
        assert_eq!(tx.automations, std::slice::from_ref(&before));
        assert_untouched(&tx);

        update(&mut tx, to(Trigger::Webhook)).await.unwrap();
        let mut tx = FakeTx::with_automation(&before);
        assert_eq!(update(&mut tx, to(Trigger::Form)).await.unwrap().trigger, Trigger::Form);
    }

    #[tokio::test]
    async fn a_field_out_of_bounds_changes_nothing() {
        let before = automation(10, Trigger::Manual);
        for (expected, input) in [
            (
                InvalidInput::AutomationName,
                UpdateAutomation { name: Some(" ".to_owned()), ..UpdateAutomation::default() },
            ),
            (
                InvalidInput::MaxConcurrency,
                UpdateAutomation { max_concurrency: Some(Some(0)), ..UpdateAutomation::default() },
            ),
            (InvalidInput::Retries, UpdateAutomation { retries: Some(6), ..UpdateAutomation::default() }),
        ] {
            let mut tx = FakeTx::with_automation(&before);
            assert_invalid(&update(&mut tx, input).await, &expected);
            assert_eq!(tx.automations, std::slice::from_ref(&before));
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn an_automation_of_another_app_or_workspace_is_not_found() {
        let own = automation(10, Trigger::Manual);
        for foreign in [Automation { app: id(9), ..own.clone() }, Automation { workspace: id(9), ..own }] {
            let mut tx = FakeTx::with_automation(&foreign);
            let input = UpdateAutomation { retries: Some(1), ..UpdateAutomation::default() };
            let refused = update(&mut tx, input).await;
            assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
            assert_eq!(tx.automations, [foreign]);
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&update(&mut FakeTx::unavailable(), UpdateAutomation::default()).await);
    }
}
