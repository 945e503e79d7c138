//! Helpers that create apps and automations, start runs and wait for them.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::{Client, Server, Workspace, eventually_within};

/// Generous, because a run may wait in the queue on a loaded machine.
const RUN_DEADLINE: Duration = Duration::from_secs(30);

/// An app and an automation with a webhook trigger, in a workspace of their own.
#[derive(Debug, Clone)]
pub struct AutomationFixture {
    pub owner: Client,
    pub workspace: Workspace,
    /// Id of the app.
    pub app: String,
    /// Id of the automation.
    pub automation: String,
}

impl AutomationFixture {
    /// Signs the owner in, and creates a workspace, an app of this source and an automation without retries.
    pub async fn create(server: &Server, source: &str) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, source).await?;
        let automation = owner.create_automation(&workspace.id, &app, "webhook", 0).await?;
        Ok(Self { owner, workspace, app, automation })
    }
}

impl Client {
    /// Creates an app of one file, which allows manual and webhook triggers and no hosts. Returns its id.
    pub async fn create_app(&self, workspace: &str, source: &str) -> Result<String> {
        let body = json!({"name": "An app of a test", "files": {"main.js": source}});
        self.post(&format!("/v1/workspaces/{workspace}/apps"), &body).await?.string_at("/id")
    }

    /// Creates an automation of an app and returns its id.
    pub async fn create_automation(
        &self,
        workspace: &str,
        app: &str,
        trigger: &str,
        retries: u8,
    ) -> Result<String> {
        let body =
            json!({"name": "An automation", "appId": app, "trigger": {"type": trigger}, "retries": retries});
        self.post(&format!("/v1/workspaces/{workspace}/automations"), &body).await?.string_at("/id")
    }

    /// Starts an automation by hand and returns the id of the run.
    pub async fn start_run(&self, automation: &str, input: Value) -> Result<String> {
        self.post(&format!("/v1/automations/{automation}/run"), &json!({"input": input}))
            .await?
            .string_at("/runId")
    }

    /// Creates an app of one file and starts it by hand once. Returns the ids of the app and of the run.
    pub async fn create_and_run_app(&self, workspace: &str, source: &str) -> Result<(String, String)> {
        let app = self.create_app(workspace, source).await?;
        let automation = self.create_automation(workspace, &app, "manual", 0).await?;
        let run = self.start_run(&automation, Value::Null).await?;
        Ok((app, run))
    }

    /// Waits until a run has ended, for at most half a minute.
    pub async fn wait_for_run(&self, run: &str) -> Result<Value> {
        self.wait_for_run_within(RUN_DEADLINE, run).await
    }

    /// Like [`wait_for_run`](Self::wait_for_run), with another deadline.
    pub async fn wait_for_run_within(&self, deadline: Duration, run: &str) -> Result<Value> {
        let path = format!("/v1/runs/{run}");
        eventually_within(deadline, "the run ends", async || {
            let run = self.get(&path).await?.ok()?;
            match run["status"].as_str() {
                Some("succeeded" | "failed" | "blocked") => Ok(run),
                _ => bail!("{run}"),
            }
        })
        .await
    }

    /// Waits until a run has ended, and fails unless it succeeded.
    pub async fn wait_for_success(&self, run: &str) -> Result<Value> {
        let run = self.wait_for_run(run).await?;
        if run["status"] != "succeeded" {
            bail!("the run did not succeed: {run}");
        }
        Ok(run)
    }

    /// Returns the lines of an app's log, oldest first; only those of `run`, if given.
    pub async fn app_log(&self, app: &str, run: Option<&str>) -> Result<Vec<LogLine>> {
        let filter = run.map(|run| format!("&runId={run}")).unwrap_or_default();
        let reply = self.get(&format!("/v1/apps/{app}/logs?limit=500{filter}")).await?;
        let body = reply.ok()?;
        let lines = body["lines"].as_array().with_context(|| format!("no lines: {reply}"))?;
        let text = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let lines = lines.iter().rev().map(|line| LogLine {
            source: text(line, "source"),
            run: text(line, "runId"),
            message: text(line, "message"),
        });
        Ok(lines.collect())
    }
}

/// A line of an app's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// `app`, `gate` or `platform`.
    pub source: String,
    /// Id of the run; empty for a visit.
    pub run: String,
    pub message: String,
}
