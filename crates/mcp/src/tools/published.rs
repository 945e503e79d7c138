//! `run_…`: the tools that people published. They start an automation, and return what it returned.

use std::sync::Arc;

use application::{Application, Problem, ProblemKind};
use kernel::{
    Context,
    authority::{AppRight, CanRun},
    caller::Scope,
    id::AutomationId,
};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use runs::agent_tools::{ListedTool, ToolName};
use serde_json::json;

use super::{Reply, run_outcome::wait_for_outcome};

/// Beginning of the names of published tools. No other tool has such a name.
const PREFIX: &str = "run_";
/// Scope that a token needs to call published tools, and to see them in the list.
pub(super) const SCOPE: Scope = Scope::Write;
/// Most published tools in a list, unless the client asks for all: clients of models take about 40 in total.
const MAX_LISTED: usize = 30;

/// Returns the name of a published tool, if it is one.
pub(super) fn published_name(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// Returns the tools that the caller can call now, the one that was called last first; at most 30 unless `all` of them are
/// wanted.
pub(super) async fn list(app: &Application, ctx: &Context, all: bool) -> Result<Vec<Tool>, Problem> {
    let member = super::authorize_member(app, ctx).await?;
    let found =
        app.store().agent_tools(member.workspace(), member.user(), member.visibility(), ctx.now).await?;
    let callable = found.into_iter().filter(|listed| listed.is_callable_by(&member));
    let limit = if all { usize::MAX } else { MAX_LISTED };
    Ok(callable.take(limit).map(definition).collect())
}

fn definition(listed: ListedTool) -> Tool {
    let ListedTool { tool, .. } = listed;
    let annotations = ToolAnnotations::with_title(tool.title.clone())
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true);
    let schema: Arc<JsonObject> = Arc::new(tool.input_schema.as_json().clone());
    Tool::new(format!("{PREFIX}{}", tool.name), tool.description, schema)
        .with_title(tool.title)
        .with_annotations(annotations)
}

/// Starts the automation of a tool, and waits for the end of the run.
pub(super) async fn call(
    app: &Application,
    ctx: &Context,
    name: &str,
    arguments: JsonObject,
) -> Result<Reply, Problem> {
    let (automation, right) = find(app, ctx, name).await?;
    let called = app.call_tool(ctx, &right, automation, arguments).await.map_err(|problem| {
        // It was withdrawn in this moment.
        if problem.kind == ProblemKind::NotFound { not_live() } else { problem }
    })?;
    let content = json!({ "automationId": automation, "toolName": called.name.as_str() });
    wait_for_outcome(app, ctx, &right, called.started, content).await
}

/// Returns the automation of a tool, and the right to run it. Whatever the caller cannot call is not live for them.
async fn find(
    app: &Application,
    ctx: &Context,
    name: &str,
) -> Result<(AutomationId, AppRight<CanRun>), Problem> {
    let member = super::authorize_member(app, ctx).await?;
    let name = ToolName::parse(name).map_err(|_| not_live())?;
    let automation = app.store().automation_of_tool(member.workspace(), &name).await?.ok_or_else(not_live)?;
    match app.automation(ctx, &automation.to_string()).await {
        Ok((automation, access)) => Ok((automation, access.require().map_err(|_| not_live())?)),
        Err(problem) if problem.kind == ProblemKind::NotFound => Err(not_live()),
        Err(problem) => Err(problem),
    }
}

fn not_live() -> Problem {
    Problem::conflict("tool_not_live", "There is no live tool of this name that you can run.")
        .hint("List the tools again, and use one that is live.")
}
