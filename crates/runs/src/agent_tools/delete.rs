//! Withdrawing a tool.

use kernel::{
    Context,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use serde_json::json;

use super::AgentToolsTx;
use crate::RunsError;

/// Deletes the tool of an automation. The automation stays, and so do the runs that agents started.
///
/// # Errors
/// * [`RunsError::AgentToolNotFound`] when the app has no such automation, or it is not published
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_tool(
    tx: &mut dyn AgentToolsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    automation: AutomationId,
) -> Result<(), RunsError> {
    let workspace = right.member().workspace();
    let found = tx.agent_tool_for_update(workspace, automation).await?;
    let tool = found.filter(|found| found.app == right.app()).ok_or(RunsError::AgentToolNotFound)?;
    tx.delete_agent_tool(workspace, tool.id).await?;
    let detail = json!({ "automation": tool.automation, "name": tool.name.as_str() });
    let entry = ctx.audit_entry("agent_tool.delete").workspace(workspace).target(tool.id);
    tx.audit(entry.app(tool.app).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        Trigger,
        agent_tools::AgentTool,
        testing::{
            FakeTx, agent_tool, assert_audited, assert_store_failed, assert_untouched, automation, can_edit,
            editor_context,
        },
    };

    async fn delete(tx: &mut FakeTx) -> Result<(), RunsError> {
        let ctx = editor_context();
        delete_tool(tx, &ctx, &can_edit(&ctx), id(10)).await
    }

    #[tokio::test]
    async fn a_tool_is_deleted_once() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        tx.agent_tools = vec![agent_tool(70, id(10)), agent_tool(71, id(11))];
        let tool = tx.agent_tools[0].clone();
        delete(&mut tx).await.unwrap();
        assert_eq!(tx.agent_tools.iter().map(|tool| tool.id).collect::<Vec<_>>(), [id(71)]);
        assert_eq!(tx.automations.len(), 1, "the automation stays");
        let detail = json!({ "automation": tool.automation, "name": "tool_70" });
        assert_audited(&tx.work, "agent_tool.delete", tool.id, Some(&detail));
        let again = delete(&mut tx).await;
        assert!(matches!(again, Err(RunsError::AgentToolNotFound)), "{again:?}");
    }

    #[tokio::test]
    async fn a_tool_of_another_app_is_not_found() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        tx.agent_tools = vec![AgentTool { app: id(9), ..agent_tool(70, id(10)) }];
        let refused = delete(&mut tx).await;
        assert!(matches!(refused, Err(RunsError::AgentToolNotFound)), "{refused:?}");
        assert_untouched(&tx);
        assert_store_failed(&delete(&mut FakeTx::unavailable()).await);
    }
}
