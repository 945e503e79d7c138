//! Turning a tool on and off.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use serde_json::json;

use super::{AgentTool, AgentToolState, AgentToolsTx};
use crate::RunsError;

/// Turns the tool of an automation on or off.
///
/// # Errors
/// * [`RunsError::AgentToolNotFound`] when the app has no such automation, or it is not published
/// * [`RunsError::PermissionsChanged`] when it would be turned on and the app may do something else than was reviewed
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn set_tool_enabled(
    tx: &mut dyn AgentToolsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    automation: AutomationId,
    is_enabled: bool,
) -> Result<(AgentTool, AgentToolState), RunsError> {
    let workspace = right.member().workspace();
    let missing = || RunsError::AgentToolNotFound;
    let found = tx.automation_for_update(workspace, automation).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or_else(missing)?;
    let mut tool = tx.agent_tool_for_update(workspace, automation.id).await?.ok_or_else(missing)?;
    let app = tx.tool_app(workspace, right.app()).await?.ok_or_else(missing)?;
    tool.is_enabled = is_enabled;
    let state = tool.state(&app, automation.trigger.kind(), automation.status);
    if state == AgentToolState::NeedsReview {
        return Err(RunsError::PermissionsChanged);
    }
    tx.upsert_agent_tool(&tool).await?;
    let action = if is_enabled { "agent_tool.enable" } else { "agent_tool.disable" };
    let detail = json!({ "automation": tool.automation, "name": tool.name.as_str() });
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(tool.id).app(tool.app).detail(detail));
    Ok((tool, state))
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        Trigger,
        agent_tools::PermissionsHash,
        testing::{
            FakeTx, agent_tool, assert_audited, assert_store_failed, assert_untouched, automation, can_edit,
            editor_context,
        },
    };

    async fn set(tx: &mut FakeTx, is_enabled: bool) -> Result<AgentToolState, RunsError> {
        let ctx = editor_context();
        let set = set_tool_enabled(tx, &ctx, &can_edit(&ctx), id(10), is_enabled).await;
        set.map(|(_, state)| state)
    }

    #[tokio::test]
    async fn a_tool_is_turned_off_and_on() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Webhook));
        tx.agent_tools = vec![agent_tool(70, id(10))];
        let detail = json!({ "automation": tx.agent_tools[0].automation, "name": "tool_70" });
        for (is_enabled, state, action) in [
            (false, AgentToolState::Off, "agent_tool.disable"),
            (true, AgentToolState::Live, "agent_tool.enable"),
        ] {
            tx.work.audit.clear();
            assert_eq!(set(&mut tx, is_enabled).await.unwrap(), state);
            assert_eq!(tx.agent_tools[0].is_enabled, is_enabled);
            assert_audited(&tx.work, action, tx.agent_tools[0].id, Some(&detail));
        }
    }

    #[tokio::test]
    async fn a_tool_whose_permissions_moved_can_only_be_turned_off() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let reviewed_hash = PermissionsHash("before".to_owned());
        tx.agent_tools = vec![AgentTool { is_enabled: false, reviewed_hash, ..agent_tool(70, id(10)) }];
        let refused = set(&mut tx, true).await;
        assert!(matches!(refused, Err(RunsError::PermissionsChanged)), "{refused:?}");
        assert!(!tx.agent_tools[0].is_enabled);
        assert_untouched(&tx);
        assert_eq!(set(&mut tx, false).await.unwrap(), AgentToolState::Off);
    }

    #[tokio::test]
    async fn what_is_not_published_is_not_found() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let refused = set(&mut tx, true).await;
        assert!(matches!(refused, Err(RunsError::AgentToolNotFound)), "{refused:?}");
        assert_untouched(&tx);
        assert_store_failed(&set(&mut FakeTx::unavailable(), true).await);
    }
}
