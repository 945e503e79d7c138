//! Creating an automation.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};

use super::{Automation, AutomationStatus, Trigger};
use crate::{RunsError, RunsTx};

/// Fields of a new automation.
#[derive(Debug, Clone)]
pub struct CreateAutomation {
    /// Display name; 1 to 60 characters after trimming.
    pub name: String,
    /// Kind and settings of the trigger.
    pub trigger: Trigger,
    /// Most runs that execute at once, 1 to 1,000; `None` for no limit.
    pub max_concurrency: Option<u16>,
    /// Most retries of a failed run, 0 to 5.
    pub retries: u8,
}

/// Creates an automation of an app that the caller can edit. It is active at once.
///
/// # Errors
/// * [`RunsError::InvalidInput`] when a field is out of bounds
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_automation(
    tx: &mut dyn RunsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    input: CreateAutomation,
) -> Result<Automation, RunsError> {
    let mut automation = Automation {
        id: ctx.new_id(),
        workspace: right.member().workspace(),
        app: right.app(),
        name: input.name.trim().to_owned(),
        trigger: input.trigger,
        status: AutomationStatus::Active,
        max_concurrency: input.max_concurrency,
        retries: input.retries,
        next_run_at: None,
        created_by: right.member().user(),
        created_at: ctx.now,
    };
    automation.check_limits()?;
    automation.next_run_at = automation.next_after(ctx.now);
    tx.insert_automation(&automation).await?;
    let entry = ctx.audit_entry("automation.create").workspace(automation.workspace).target(automation.id);
    tx.audit(entry.app(automation.app));
    Ok(automation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        InvalidInput,
        automations::schedule::Schedule,
        testing::{
            FakeTx, app, assert_audited, assert_invalid, assert_store_failed, assert_untouched, can_edit,
            editor_context, editor_id, workspace,
        },
    };

    fn hourly() -> Trigger {
        Trigger::Schedule(Schedule::parse("0 * * * *", None).unwrap())
    }

    fn valid() -> CreateAutomation {
        CreateAutomation {
            name: " Nightly ".to_owned(),
            trigger: hourly(),
            max_concurrency: Some(3),
            retries: 5,
        }
    }

    async fn create(tx: &mut FakeTx, input: CreateAutomation) -> Result<Automation, RunsError> {
        let ctx = editor_context();
        create_automation(tx, &ctx, &can_edit(&ctx), input).await
    }

    #[tokio::test]
    async fn a_new_automation_is_active_and_belongs_to_the_app() {
        let mut tx = FakeTx::default();
        let created = create(&mut tx, valid()).await.unwrap();
        let expected = Automation {
            id: created.id,
            workspace: workspace(),
            app: app(),
            name: "Nightly".to_owned(),
            trigger: hourly(),
            status: AutomationStatus::Active,
            max_concurrency: Some(3),
            retries: 5,
            next_run_at: Some("2026-01-01T01:00:00Z".parse().unwrap()),
            created_by: editor_id(),
            created_at: editor_context().now,
        };
        assert_eq!(created, expected);
        assert_eq!(tx.automations, [expected]);
        assert_audited(&tx.work, "automation.create", created.id, None);
    }

    #[tokio::test]
    async fn only_a_schedule_has_a_next_run() {
        for trigger in
            [Trigger::Webhook, Trigger::Form, Trigger::Manual, Trigger::Event("run_failed".to_owned())]
        {
            let mut tx = FakeTx::default();
            let created = create(&mut tx, CreateAutomation { trigger, ..valid() }).await.unwrap();
            assert_eq!(created.next_run_at, None);
        }
    }

    #[tokio::test]
    async fn a_field_at_its_bound_is_accepted_and_beyond_it_refused() {
        let named = |name: &str| CreateAutomation { name: name.to_owned(), ..valid() };
        let limited = |max: u16| CreateAutomation { max_concurrency: Some(max), ..valid() };
        for accepted in [named("a"), named(&"ы".repeat(60)), limited(1), limited(1000)] {
            create(&mut FakeTx::default(), accepted).await.unwrap();
        }
        for (expected, refused) in [
            (InvalidInput::AutomationName, named(" ")),
            (InvalidInput::AutomationName, named(&"a".repeat(61))),
            (InvalidInput::AutomationName, named("a\nb")),
            (InvalidInput::MaxConcurrency, limited(0)),
            (InvalidInput::MaxConcurrency, limited(1001)),
            (InvalidInput::Retries, CreateAutomation { retries: 6, ..valid() }),
        ] {
            let mut tx = FakeTx::default();
            assert_invalid(&create(&mut tx, refused).await, &expected);
            assert!(tx.automations.is_empty());
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        let mut tx = FakeTx::unavailable();
        assert_store_failed(&create(&mut tx, valid()).await);
        assert_untouched(&tx);
    }
}
