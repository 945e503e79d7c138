//! Apps and their runs.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::{Client, Server, Workspace, eventually_within};

/// A run may wait for its turn on a loaded machine.
const RUN_DEADLINE: Duration = Duration::from_secs(30);

/// An app of somebody's workspace, and the automation by which a webhook starts it.
#[derive(Debug, Clone)]
pub struct AutomationFixture {
    /// Who made all of it.
    pub owner: Client,
    /// Where it is.
    pub workspace: Workspace,
    /// The app.
    pub app: String,
    /// The automation.
    pub automation: String,
}

impl AutomationFixture {
    /// Signs somebody in and makes an app of this source, and a road to it that tries nothing again.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create(server: &Server, source: &str) -> Result<Self> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, source).await?;
        let id = owner.create_automation(&workspace.id, &app, "webhook", 0).await?;
        Ok(Self { owner, workspace, app, automation: id })
    }
}

impl Client {
    /// Makes an app of one file, which may be started by hand or by a webhook and reaches nothing.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_app(&self, workspace: &str, source: &str) -> Result<String> {
        let body = json!({"name": "An app of a test", "files": {"main.js": source}});
        self.post(&format!("/v1/workspaces/{workspace}/apps"), &body).await?.string_at("/id")
    }

    /// Makes an automation of an app.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_automation(
        &self,
        workspace: &str,
        app: &str,
        trigger: &str,
        retries: u8,
    ) -> Result<String> {
        let body = json!({"name": "A road", "appId": app, "trigger": {"type": trigger}, "retries": retries});
        self.post(&format!("/v1/workspaces/{workspace}/automations"), &body).await?.string_at("/id")
    }

    /// Starts an automation by hand; the run.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn start_run(&self, automation: &str, input: Value) -> Result<String> {
        self.post(&format!("/v1/automations/{automation}/run"), &json!({"input": input}))
            .await?
            .string_at("/runId")
    }

    /// Makes an app of one file and starts it by hand once; the app and the run.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_and_run_app(&self, workspace: &str, source: &str) -> Result<(String, String)> {
        let app = self.create_app(workspace, source).await?;
        let automation = self.create_automation(workspace, &app, "manual", 0).await?;
        let run = self.start_run(&automation, Value::Null).await?;
        Ok((app, run))
    }

    /// Waits until a run has come to its end.
    ///
    /// # Errors
    ///
    /// When it does not in half a minute.
    pub async fn wait_for_run(&self, run: &str) -> Result<Value> {
        self.wait_for_run_within(RUN_DEADLINE, run).await
    }

    /// As [`wait_for_run`](Self::wait_for_run), with a deadline of its own.
    ///
    /// # Errors
    ///
    /// When the deadline passes.
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

    /// Waits until a run has succeeded.
    ///
    /// # Errors
    ///
    /// When it ends otherwise, or not in half a minute.
    pub async fn wait_for_success(&self, run: &str) -> Result<Value> {
        let run = self.wait_for_run(run).await?;
        if run["status"] != "succeeded" {
            bail!("the run did not succeed: {run}");
        }
        Ok(run)
    }

    /// What an app's log holds now, oldest first; of one run when it is named.
    ///
    /// # Errors
    ///
    /// When the server refuses.
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
    /// Who said it: `app`, `gate` or `platform`.
    pub source: String,
    /// The run it is of; empty for an answer over HTTP.
    pub run: String,
    /// What was said.
    pub message: String,
}
