//! Calling tools, which needs the quota of the workspace's plan.

use kernel::{
    Context,
    authority::{AppRight, CanRun},
    id::AutomationId,
};
use runs::agent_tools::{CallTool, CalledTool};
use serde_json::{Map, Value};

use crate::{Application, Problem, unit};

impl Application {
    /// Starts the automation of a tool.
    ///
    /// # Errors
    /// Those of [`runs::agent_tools::call_tool`].
    pub async fn call_tool(
        &self,
        ctx: &Context,
        right: &AppRight<CanRun>,
        automation: AutomationId,
        input: Map<String, Value>,
    ) -> Result<CalledTool, Problem> {
        let workspace = self.store().workspace(right.member().workspace()).await?;
        let workspace = workspace.ok_or_else(|| Problem::not_found("workspace"))?;
        let call = CallTool { automation, input, runs_per_month: workspace.plan.limits().runs.grace_limit() };
        let called = self
            .transaction(unit!(|tx| runs::agent_tools::call_tool(tx, ctx, right, call.clone()).await))
            .await?;
        Ok(called)
    }
}
