//! Starting automations and calling tools, which need the quota of the workspace's plan.

use chrono::{DateTime, Utc};
use kernel::{
    Context,
    authority::{AppRight, CanRun},
    id::{AutomationId, WorkspaceId},
};
use runs::{
    agent_tools::{CallTool, CalledTool},
    automations::{StartRun, StartedRun},
};
use serde_json::{Map, Value, value::RawValue};

use crate::{Application, Problem, unit};

impl Application {
    /// Starts an automation by hand.
    ///
    /// # Errors
    /// Those of [`runs::automations::start_run`].
    pub async fn start_automation(
        &self,
        ctx: &Context,
        right: &AppRight<CanRun>,
        automation: AutomationId,
        input: Box<RawValue>,
        run_at: Option<DateTime<Utc>>,
    ) -> Result<StartedRun, Problem> {
        let runs_per_month = self.runs_per_month(right.member().workspace()).await?;
        let start = StartRun { automation, input, run_at, runs_per_month, version: None };
        let started = self
            .transaction(unit!(|tx| runs::automations::start_run(tx, ctx, right, start.clone()).await))
            .await?;
        Ok(started)
    }

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
        let runs_per_month = self.runs_per_month(right.member().workspace()).await?;
        let call = CallTool { automation, input, runs_per_month };
        let called = self
            .transaction(unit!(|tx| runs::agent_tools::call_tool(tx, ctx, right, call.clone()).await))
            .await?;
        Ok(called)
    }

    /// Returns the most runs of a workspace in a month, with what it may have beyond its limit; `None` for no limit.
    pub(crate) async fn runs_per_month(&self, workspace: WorkspaceId) -> Result<Option<u64>, Problem> {
        let workspace = self.store().workspace(workspace).await?;
        let workspace = workspace.ok_or_else(|| Problem::not_found("workspace"))?;
        Ok(workspace.plan.limits().runs.grace_limit())
    }
}
