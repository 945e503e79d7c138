//! Schedules and delayed runs.

use anyhow::{Context as _, Result};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

const SOURCE: &str = "export default { async scheduled(event) { console.log(event.scheduledTime) } }";

tests::on_both! {
    async fn a_schedule_has_a_policy_for_missed_occurrences(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, SOURCE).await?;
        let path = format!("/v1/workspaces/{}/automations", workspace.id);
        let automation = |trigger: Value| json!({"name": "Nightly", "appId": app, "trigger": trigger});
        let plain = json!({"type": "schedule", "cron": "0 0 1 1 *"});
        let created = owner.post(&path, &automation(plain)).await?.ok()?;
        let expected = json!({
            "type": "schedule", "cron": "0 0 1 1 *", "timezone": "UTC",
            "catchUp": "last", "catchUpMinutes": 10080, "overlap": "allow",
        });
        assert_eq!(created["trigger"], expected);
        let chosen = json!({
            "type": "schedule", "cron": "0 0 1 1 *", "timezone": "Asia/Almaty",
            "catchUp": "all", "catchUpMinutes": 43200, "overlap": "skip",
        });
        let id = created["id"].as_str().context("no id")?;
        let changed = owner.patch(&format!("/v1/automations/{id}"), &json!({"trigger": chosen})).await?.ok()?;
        assert_eq!(changed["trigger"], chosen);
        assert_eq!(owner.get(&format!("/v1/automations/{id}")).await?.ok()?["trigger"], chosen);
        let ledger = owner.get(&format!("/v1/automations/{id}/occurrences")).await?.ok()?;
        assert_eq!(ledger, json!({"items": [], "nextCursor": null}));
        for bad in [
            json!({"type": "schedule", "cron": "0 0 1 1 *", "catchUp": "some"}),
            json!({"type": "schedule", "cron": "0 0 1 1 *", "catchUpMinutes": 0}),
            json!({"type": "schedule", "cron": "0 0 1 1 *", "catchUpMinutes": 43201}),
            json!({"type": "schedule", "cron": "0 0 1 1 *", "overlap": "queue"}),
            json!({"type": "manual", "catchUp": "last"}),
            json!({"type": "webhook", "overlap": "skip"}),
        ] {
            owner.post(&path, &automation(bad.clone())).await?.check_error(400, Some("invalid_request")).with_context(|| bad.to_string())?;
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the server uses the clock of the machine")]
    async fn a_delayed_run_starts_at_its_time(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        let app = owner.create_app(&workspace.id, SOURCE).await?;
        let automation = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        let path = format!("/v1/automations/{automation}/run");
        let at = Utc::now() + TimeDelta::seconds(3);
        let run = owner.post(&path, &json!({"runAt": at})).await?.string_at("/runId")?;
        assert_eq!(owner.get(&format!("/v1/runs/{run}")).await?.ok()?["status"], "queued");
        let ended = owner.wait_for_success(&run).await?;
        let started: DateTime<Utc> = ended["startedAt"].as_str().context("no start")?.parse()?;
        assert!(started.timestamp_millis() >= at.timestamp_millis(), "{started} is before {at}");
        let logged_at: i64 = owner.app_log(&app, Some(&run)).await?[0].message.parse()?;
        assert_eq!(logged_at, at.timestamp_millis());
        // A time in the past starts at once; a time too far in the future is rejected.
        let past = owner.post(&path, &json!({"runAt": "2020-01-01T00:00:00Z"})).await?.string_at("/runId")?;
        owner.wait_for_success(&past).await?;
        let far = Utc::now() + TimeDelta::days(31);
        owner.post(&path, &json!({"runAt": far})).await?.assert_error(400, "invalid_request");
        owner.patch(&format!("/v1/automations/{automation}"), &json!({"maxConcurrency": 1})).await?.ok()?;
        owner.post(&path, &json!({"runAt": Utc::now() + TimeDelta::days(1)})).await?.assert_error(400, "invalid_request");
        Ok(())
    }
}
