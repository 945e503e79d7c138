//! Publishing an automation as a tool.

use kernel::{
    Context, StoreError,
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use serde_json::json;

use super::{
    AgentTool, AgentToolState, AgentToolsTx, DESCRIPTION_CHARS, InputSchema, MAX_TITLE_CHARS, MAX_TOOLS,
    PermissionsHash, ToolName,
};
use crate::{InvalidInput, RunsError};

/// Fields of a tool.
#[derive(Debug, Clone)]
pub struct PublishTool {
    /// Name, unique in the workspace.
    pub name: ToolName,
    /// Title; 1 to 60 characters after trimming.
    pub title: String,
    /// Description; 8 to 400 characters after trimming.
    pub description: String,
    /// Arguments of a call.
    pub input_schema: InputSchema,
    /// Permissions that the person has read.
    pub reviewed_hash: PermissionsHash,
    /// False to publish it turned off.
    pub is_enabled: bool,
}

/// Publishes an automation as a tool, or replaces what was published of it.
///
/// # Errors
/// * [`RunsError::InvalidInput`] when the title or the description is out of bounds
/// * [`RunsError::AutomationNotFound`] when the app has no such automation
/// * [`RunsError::ToolBlocked`] when the automation cannot be started with an input now
/// * [`RunsError::PermissionsChanged`] when the app may do something else than the person has read
/// * [`RunsError::TooManyTools`] when the workspace has as many as it may
/// * [`RunsError::ToolNameTaken`] when another tool of the workspace has the name
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn publish_tool(
    tx: &mut dyn AgentToolsTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    automation: AutomationId,
    input: PublishTool,
) -> Result<(AgentTool, AgentToolState), RunsError> {
    let title = check_text(&input.title, 1..=MAX_TITLE_CHARS, InvalidInput::ToolTitle)?;
    let description = check_text(&input.description, DESCRIPTION_CHARS, InvalidInput::ToolDescription)?;
    let workspace = right.member().workspace();
    let found = tx.automation_for_update(workspace, automation).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or(RunsError::AutomationNotFound)?;
    let app = tx.tool_app(workspace, right.app()).await?.ok_or(RunsError::AutomationNotFound)?;
    let trigger = automation.trigger.kind();
    if let Some(block) = app.block(trigger, automation.status) {
        return Err(RunsError::ToolBlocked(block));
    }
    if app.current.as_ref().is_none_or(|(_, hash)| *hash != input.reviewed_hash) {
        return Err(RunsError::PermissionsChanged);
    }
    let known = tx.agent_tool_for_update(workspace, automation.id).await?;
    if known.is_none() && tx.count_agent_tools(workspace).await? >= MAX_TOOLS {
        return Err(RunsError::TooManyTools);
    }
    let (id, published_at) =
        known.as_ref().map_or_else(|| (ctx.new_id(), ctx.now), |known| (known.id, known.published_at));
    let tool = AgentTool {
        id,
        workspace,
        app: right.app(),
        automation: automation.id,
        name: input.name,
        title,
        description,
        input_schema: input.input_schema,
        is_enabled: input.is_enabled,
        reviewed_hash: input.reviewed_hash,
        reviewed_at: ctx.now,
        reviewed_by: right.member().user(),
        published_at,
    };
    tx.upsert_agent_tool(&tool).await.map_err(|error| match error {
        StoreError::Duplicate => RunsError::ToolNameTaken,
        other => other.into(),
    })?;
    let action = if known.is_some() { "agent_tool.update" } else { "agent_tool.publish" };
    let detail =
        json!({ "automation": tool.automation, "name": tool.name.as_str(), "enabled": tool.is_enabled });
    tx.audit(ctx.audit_entry(action).workspace(workspace).target(tool.id).app(tool.app).detail(detail));
    let state = tool.state(&app, trigger, automation.status);
    Ok((tool, state))
}

/// Returns the trimmed text if it has as many characters as it may, none of them a control character.
fn check_text(
    text: &str,
    bounds: std::ops::RangeInclusive<usize>,
    error: InvalidInput,
) -> Result<String, RunsError> {
    let text = text.trim();
    if !bounds.contains(&text.chars().count()) || !kernel::text::is_visible_line(text) {
        return Err(error.into());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        Automation, AutomationStatus, Trigger,
        agent_tools::ToolBlock,
        testing::{
            FakeTx, agent_tool, assert_audited, assert_invalid, assert_store_failed, assert_untouched,
            automation, can_edit, editor_context, editor_id, permissions_hash,
        },
    };

    fn input() -> PublishTool {
        PublishTool {
            name: ToolName::parse("nightly_report").unwrap(),
            title: " Nightly report ".to_owned(),
            description: "Sends the report of the day.".to_owned(),
            input_schema: InputSchema::any(),
            reviewed_hash: permissions_hash(),
            is_enabled: true,
        }
    }

    async fn publish(tx: &mut FakeTx, input: PublishTool) -> Result<(AgentTool, AgentToolState), RunsError> {
        let ctx = editor_context();
        publish_tool(tx, &ctx, &can_edit(&ctx), id(10), input).await
    }

    #[tokio::test]
    async fn an_automation_is_published_and_replaced() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let (tool, state) = publish(&mut tx, input()).await.unwrap();
        let ctx = editor_context();
        assert_eq!((tool.title.as_str(), state), ("Nightly report", AgentToolState::Live));
        assert_eq!((tool.reviewed_at, tool.reviewed_by, tool.published_at), (ctx.now, editor_id(), ctx.now));
        assert_eq!(tx.agent_tools, std::slice::from_ref(&tool));
        let detail = json!({ "automation": tool.automation, "name": "nightly_report", "enabled": true });
        assert_audited(&tx.work, "agent_tool.publish", tool.id, Some(&detail));

        let name = ToolName::parse("daily").unwrap();
        let (second, state) =
            publish(&mut tx, PublishTool { name, is_enabled: false, ..input() }).await.unwrap();
        assert_eq!((second.id, second.name.as_str(), state), (tool.id, "daily", AgentToolState::Off));
        assert_eq!(tx.agent_tools, [second]);
        assert_eq!(tx.work.audited_actions(), ["agent_tool.publish", "agent_tool.update"]);
    }

    #[tokio::test]
    async fn permissions_that_nobody_read_are_not_published() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        let other = PermissionsHash("other".to_owned());
        let refused = publish(&mut tx, PublishTool { reviewed_hash: other, ..input() }).await;
        assert!(matches!(refused, Err(RunsError::PermissionsChanged)), "{refused:?}");
        assert!(tx.agent_tools.is_empty());
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn what_does_not_run_is_not_published() {
        let event = Trigger::Event("run_failed".to_owned());
        let paused = Automation { status: AutomationStatus::Paused, ..automation(10, Trigger::Manual) };
        for (automation, expected) in
            [(automation(10, event), ToolBlock::NoInputPath), (paused, ToolBlock::NotRunnable)]
        {
            let mut tx = FakeTx::with_automation(&automation);
            let refused = publish(&mut tx, input()).await;
            assert!(
                matches!(refused, Err(RunsError::ToolBlocked(block)) if block == expected),
                "{refused:?}"
            );
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_name_belongs_to_one_tool_and_a_workspace_has_a_bounded_number() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        tx.agent_tools = vec![AgentTool { name: input().name, ..agent_tool(70, id(11)) }];
        let refused = publish(&mut tx, input()).await;
        assert!(matches!(refused, Err(RunsError::ToolNameTaken)), "{refused:?}");

        tx.agent_tools = (0..MAX_TOOLS)
            .map(|number| AgentTool {
                name: ToolName::parse(&format!("tool_{number}")).unwrap(),
                ..agent_tool(70 + u128::from(number), id(1000 + u128::from(number)))
            })
            .collect();
        let refused = publish(&mut tx, input()).await;
        assert!(matches!(refused, Err(RunsError::TooManyTools)), "{refused:?}");
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn texts_are_bounded() {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Manual));
        for title in ["", " ", "a\nb", &"é".repeat(61)] {
            let refused = publish(&mut tx, PublishTool { title: title.to_owned(), ..input() }).await;
            assert_invalid(&refused, &InvalidInput::ToolTitle);
        }
        for description in ["1234567", &"x".repeat(401), "12345678\u{7}"] {
            let refused =
                publish(&mut tx, PublishTool { description: description.to_owned(), ..input() }).await;
            assert_invalid(&refused, &InvalidInput::ToolDescription);
        }
        assert_untouched(&tx);
    }

    #[tokio::test]
    async fn an_automation_of_another_app_or_workspace_is_not_found() {
        let own = automation(10, Trigger::Manual);
        for foreign in [Automation { app: id(9), ..own.clone() }, Automation { workspace: id(9), ..own }] {
            let mut tx = FakeTx::with_automation(&foreign);
            let refused = publish(&mut tx, input()).await;
            assert!(matches!(refused, Err(RunsError::AutomationNotFound)), "{refused:?}");
            assert_untouched(&tx);
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_returned() {
        assert_store_failed(&publish(&mut FakeTx::unavailable(), input()).await);
    }
}
