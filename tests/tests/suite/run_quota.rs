//! Starts of runs when the runs of the month are used up.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Reply, Server, eventually};

/// An app that fails if its input asks for it, and logs its trigger.
const FAILS_ON_REQUEST: &str = "export default { async scheduled(event) { \
    console.log(event.trigger); if (event.data?.fail) throw new Error('as requested') } }";

struct Fixture {
    owner: Client,
    workspace: String,
    manual: String,
    failed_run: String,
}

impl Fixture {
    /// Creates a workspace with the plan `free` whose runs of the month are used up, as far as a tenth more goes.
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, workspace, app, automation: _ } =
            AutomationFixture::create(server, FAILS_ON_REQUEST).await?;
        let manual = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        for trigger in [
            json!({"type": "event", "event": "run_finished"}),
            json!({"type": "schedule", "cron": "* * * * *"}),
        ] {
            let automation = json!({"name": "Follower", "appId": app, "trigger": trigger});
            let path = format!("/v1/workspaces/{}/automations", workspace.id);
            owner.post(&path, &automation).await?.ok()?;
        }
        let fixture = Self { owner, workspace: workspace.id, manual, failed_run: String::new() };
        server.run_admin(&["set-plan", &fixture.workspace, "free"]).await?;
        let failed_run = fixture.start(json!({"fail": true})).await?.string_at("/runId")?;
        assert_eq!(fixture.owner.wait_for_run(&failed_run).await?["status"], "failed");
        // The run that its end started.
        fixture.wait_for("event", "succeeded", 1).await?;
        server.execute_static_sql("UPDATE workspace_usage SET runs = 1099").await?;
        Ok(Self { failed_run, ..fixture })
    }

    async fn start(&self, input: Value) -> Result<Reply> {
        self.owner.post(&format!("/v1/automations/{}/run", self.manual), &json!({"input": input})).await
    }

    /// Waits until the workspace has so many runs of a trigger with a status.
    async fn wait_for(&self, trigger: &str, status: &str, count: usize) -> Result<Vec<Value>> {
        let path = format!("/v1/workspaces/{}/runs?trigger={trigger}&status={status}", self.workspace);
        eventually("the runs are there", async || {
            let list = self.owner.get(&path).await?.ok()?;
            let found = list["items"].as_array().context("no items")?.clone();
            (found.len() == count).then_some(found).with_context(|| format!("{list} instead of {count}"))
        })
        .await
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn runs_beyond_the_quota_wait_for_a_larger_plan(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        // The last of the month starts; what its end starts is held.
        let last = fixture.start(json!({})).await?.ok()?;
        assert_eq!(last.get("held"), None, "{last}");
        fixture.owner.wait_for_success(last["runId"].as_str().context("no id")?).await?;
        let by_event = fixture.wait_for("event", "queued", 1).await?;

        let held = fixture.start(json!({})).await?.ok()?;
        assert_eq!(held["held"], true, "{held}");
        let replay = format!("/v1/runs/{}/replay", fixture.failed_run);
        let replayed = fixture.owner.post(&replay, &json!({"input": {}})).await?.ok()?;
        assert_eq!(replayed["held"], true, "{replayed}");
        server.execute_static_sql("UPDATE automations SET next_run_at = next_run_at - 60000 WHERE next_run_at IS NOT NULL").await?;
        let on_schedule = fixture.wait_for("schedule", "queued", 1).await?;
        // A held run can be cancelled like any that waits.
        let third = fixture.start(json!({})).await?.string_at("/runId")?;
        fixture.owner.post(&format!("/v1/runs/{third}/cancel"), &json!({})).await?.ok()?;

        server.run_admin(&["set-plan", &fixture.workspace, "maker"]).await?;
        let mut expected = Vec::from([&by_event[0], &on_schedule[0]].map(|run| run["id"].clone()));
        expected.extend([&held, &replayed].map(|run| run["runId"].clone()));
        for run in expected {
            fixture.owner.wait_for_run(run.as_str().context("no id")?).await?;
        }
        assert_eq!(fixture.owner.get(&format!("/v1/runs/{third}")).await?.ok()?["errorCode"], "cancelled");
        Ok(())
    }

    async fn what_waited_for_a_week_fails_and_can_be_replayed(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        server.execute_static_sql("UPDATE workspace_usage SET runs = 1100").await?;
        let held = fixture.start(json!({})).await?.string_at("/runId")?;
        server.execute_static_sql("UPDATE run_queue SET available_at = available_at - 604800000").await?;
        let dropped = fixture.owner.wait_for_run(&held).await?;
        assert_eq!((&dropped["status"], &dropped["errorCode"]), (&json!("failed"), &json!("quota_reached")), "{dropped}");
        let explained = fixture.owner.get(&format!("/v1/runs/{held}/explain")).await?.ok()?;
        assert!(explained["why"].to_string().contains("used up what its plan allows"), "{explained}");
        server.run_admin(&["set-plan", &fixture.workspace, "sovereign"]).await?;
        let replayed = fixture.owner.post(&format!("/v1/runs/{held}/replay"), &json!({})).await?;
        fixture.owner.wait_for_success(&replayed.string_at("/runId")?).await?;
        Ok(())
    }
}
