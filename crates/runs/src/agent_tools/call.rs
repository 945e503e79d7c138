//! Calling a tool.

use kernel::{
    Context,
    authority::{AppRight, CanRun},
    id::AutomationId,
};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::{AgentToolState, AgentToolsTx, ToolName};
use crate::{
    InvalidInput, RunsError,
    automations::{StartRun, StartedRun, start_run},
};

/// A call of the tool of an automation.
#[derive(Debug, Clone)]
pub struct CallTool {
    /// Automation.
    pub automation: AutomationId,
    /// Arguments.
    pub input: Map<String, Value>,
    /// Most runs of the workspace in a month; `None` for no limit.
    pub runs_per_month: Option<u64>,
}

/// A run that a call started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledTool {
    /// Name of the tool.
    pub name: ToolName,
    /// Run.
    pub started: StartedRun,
}

/// Starts the automation of a tool with arguments that its schema allows. The run has the version whose permissions were
/// reviewed, even if another becomes current before it starts.
///
/// # Errors
/// * [`RunsError::AgentToolNotFound`] when the app has no such automation, or it is not published
/// * [`RunsError::ToolNotLive`] when it is turned off, paused, or its permissions have to be reviewed
/// * [`RunsError::InvalidInput`] when the arguments do not match the schema or are too large
/// * [`RunsError::QuotaReached`] when the runs of the month are used up, and no more may wait
/// * [`RunsError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn call_tool(
    tx: &mut dyn AgentToolsTx,
    ctx: &Context,
    right: &AppRight<CanRun>,
    call: CallTool,
) -> Result<CalledTool, RunsError> {
    let workspace = right.member().workspace();
    let missing = || RunsError::AgentToolNotFound;
    let found = tx.automation_for_update(workspace, call.automation).await?;
    let automation = found.filter(|found| found.app == right.app()).ok_or_else(missing)?;
    let tool = tx.agent_tool_for_update(workspace, automation.id).await?.ok_or_else(missing)?;
    let app = tx.tool_app(workspace, automation.app).await?.ok_or_else(missing)?;
    let state = tool.state(&app, automation.trigger.kind(), automation.status);
    let (AgentToolState::Live, Some((version, _))) = (state, app.current) else {
        return Err(RunsError::ToolNotLive(state));
    };
    tool.input_schema.validate(&call.input).map_err(InvalidInput::from)?;
    let start = StartRun {
        automation: automation.id,
        input: to_input(&call.input),
        run_at: None,
        runs_per_month: call.runs_per_month,
        version: Some(version),
    };
    let started = start_run(tx, ctx, right, start).await?;
    tx.record_tool_call(tool.id, ctx.now).await?;
    Ok(CalledTool { name: tool.name, started })
}

/// Returns the arguments as JSON. A map of JSON values always serializes.
fn to_input(arguments: &Map<String, Value>) -> Box<RawValue> {
    to_raw_value(arguments).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;
    use serde_json::json;

    use super::*;
    use crate::{
        Automation, AutomationStatus, Trigger,
        agent_tools::{AgentTool, InputSchema, PermissionsHash},
        testing::{
            FakeTx, agent_tool, assert_store_failed, assert_untouched, automation, can_run, editor_context,
            version,
        },
    };

    fn published(change: impl FnOnce(&mut AgentTool)) -> FakeTx {
        let mut tx = FakeTx::with_automation(&automation(10, Trigger::Webhook));
        let mut tool = agent_tool(70, id(10));
        change(&mut tool);
        tx.agent_tools = vec![tool];
        tx
    }

    async fn call(tx: &mut FakeTx, input: Value) -> Result<CalledTool, RunsError> {
        let ctx = editor_context();
        let Value::Object(input) = input else { panic!("{input}") };
        let call = CallTool { automation: id(10), input, runs_per_month: Some(1) };
        call_tool(tx, &ctx, &can_run(&ctx), call).await
    }

    #[tokio::test]
    async fn a_call_starts_the_reviewed_version_and_is_counted() {
        let mut tx = published(|_| {});
        let called = call(&mut tx, json!({"order": 7})).await.unwrap();
        assert_eq!((called.name.as_str(), called.started.is_on_hold), ("tool_70", false));
        let [run] = &tx.queue[..] else { panic!("{:?}", tx.queue) };
        assert_eq!((run.id, run.automation), (called.started.run, Some(id(10))));
        assert_eq!((run.version, run.input.get()), (Some(version(2).id), r#"{"order":7}"#));
        assert_eq!(tx.tool_calls, [(id(70), editor_context().now)]);
        assert_eq!(tx.work.audited_actions(), ["run.start"]);
        // The runs of the month are used up: the next one waits.
        assert!(call(&mut tx, json!({})).await.unwrap().started.is_on_hold);
    }

    #[tokio::test]
    async fn only_a_live_tool_is_called() {
        let not_live = [
            (published(|tool| tool.is_enabled = false), AgentToolState::Off),
            (
                published(|tool| tool.reviewed_hash = PermissionsHash("before".to_owned())),
                AgentToolState::NeedsReview,
            ),
        ];
        let mut paused = published(|_| {});
        paused.automations[0].status = AutomationStatus::Paused;
        let mut event = published(|_| {});
        event.automations[0].trigger = Trigger::Event("run_failed".to_owned());
        let others = [(paused, AgentToolState::Paused), (event, AgentToolState::NeedsReview)];
        for (mut tx, expected) in not_live.into_iter().chain(others) {
            let refused = call(&mut tx, json!({})).await;
            assert!(
                matches!(refused, Err(RunsError::ToolNotLive(state)) if state == expected),
                "{refused:?}"
            );
            assert_untouched(&tx);
            assert!(tx.tool_calls.is_empty());
        }
    }

    #[tokio::test]
    async fn arguments_that_the_schema_does_not_allow_start_nothing() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let mut tx = published(|tool| tool.input_schema = InputSchema::parse(schema).unwrap());
        let refused = call(&mut tx, json!({"n": "7"})).await;
        assert!(
            matches!(&refused, Err(RunsError::InvalidInput(InvalidInput::ToolInput(error))) if error.path == "n"),
            "{refused:?}"
        );
        assert_untouched(&tx);
        call(&mut tx, json!({"n": 7})).await.unwrap();
    }

    #[tokio::test]
    async fn a_tool_of_another_app_or_workspace_is_not_found() {
        let own = automation(10, Trigger::Manual);
        for foreign in [Automation { app: id(9), ..own.clone() }, Automation { workspace: id(9), ..own }] {
            let mut tx = published(|_| {});
            tx.automations = vec![foreign];
            let refused = call(&mut tx, json!({})).await;
            assert!(matches!(refused, Err(RunsError::AgentToolNotFound)), "{refused:?}");
            assert_untouched(&tx);
        }
        assert_store_failed(&call(&mut FakeTx::unavailable(), json!({})).await);
    }
}
