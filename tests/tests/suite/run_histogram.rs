//! Runs by time: the range of the list, and the histogram.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client};

/// An app whose runs succeed or fail as their input says.
const CODE: &str =
    "export default { async scheduled(event) { if (event.data.fails) throw new Error('as asked'); } }";

async fn ids(owner: &Client, path: &str) -> Result<Vec<String>> {
    let list = owner.get(path).await?.ok()?;
    let items = list["items"].as_array().context("no items")?;
    Ok(items.iter().filter_map(|item| item["id"].as_str().map(str::to_owned)).collect())
}

fn sum(histogram: &Value, member: &str) -> u64 {
    let bars = histogram["bars"].as_array().into_iter().flatten();
    bars.filter_map(|bar| bar[member].as_u64()).sum()
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn runs_are_listed_and_counted_within_a_range(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, CODE).await?;
        let first = owner.start_run(&automation, json!({"fails": false})).await?;
        owner.wait_for_success(&first).await?;
        let second = owner.start_run(&automation, json!({"fails": true})).await?;
        let ended = owner.wait_for_run(&second).await?;
        let accepted_at = ended["acceptedAt"].as_str().context("no time")?;
        let (list, count) = (format!("/v1/workspaces/{}/runs", workspace.id), format!("/v1/workspaces/{}/runs/histogram", workspace.id));
        assert_eq!(ids(&owner, &format!("{list}?automationId={automation}&from={accepted_at}")).await?, std::slice::from_ref(&second));
        assert_eq!(ids(&owner, &format!("{list}?automationId={automation}&to={accepted_at}")).await?, std::slice::from_ref(&first));
        assert_eq!(ids(&owner, &format!("{list}?automationId={automation}&byAgent=false")).await?, [second, first]);
        assert_eq!(ids(&owner, &format!("{list}?byAgent=true")).await?.len(), 0);
        // Times beyond those of ids are before or after every run.
        assert_eq!(ids(&owner, &format!("{list}?automationId={automation}&from=1600-01-01T00:00:00Z&to=9999-12-31T00:00:00Z")).await?.len(), 2);

        let all = owner.get(&format!("{count}?automationId={automation}")).await?.ok()?;
        assert_eq!((sum(&all, "succeeded"), sum(&all, "failed"), sum(&all, "unfinished")), (1, 1, 0), "{all}");
        assert_eq!((&all["barSeconds"], &all["completeFrom"]), (&json!(3600), &all["from"]), "{all}");
        let failed = owner.get(&format!("{count}?appId={app}&status=failed")).await?.ok()?;
        assert_eq!((sum(&failed, "succeeded"), sum(&failed, "failed")), (0, 1), "{failed}");
        let before = owner.get(&format!("{count}?to={accepted_at}&automationId={automation}")).await?.ok()?;
        assert_eq!((sum(&before, "succeeded"), sum(&before, "failed")), (1, 0), "{before}");
        assert_eq!(owner.get(&format!("{count}?to=1990-01-01T00:00:00Z")).await?.ok()?["bars"], json!([]));
        // A person who does not see the app sees none of its runs.
        let private = json!({"sharing": "private", "people": []});
        owner.put(&format!("/v1/apps/{app}/access"), &private).await?.ok()?;
        let viewer = owner.add_member(&workspace.id, "viewer").await?;
        let hidden = viewer.get(&format!("{count}?appId={app}")).await?.ok()?;
        assert_eq!(hidden["bars"], json!([]));
        Ok(())
    }

    async fn the_latest_runs_of_each_automation_are_listed(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, CODE).await?;
        let path = format!("/v1/workspaces/{}/automations/latest-runs", workspace.id);
        let busy = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        let only = owner.start_run(&automation, json!({"fails": true})).await?;
        owner.wait_for_run(&only).await?;
        let mut started = Vec::new();
        for _ in 0..14 {
            let run = owner.start_run(&busy, json!({"fails": false})).await?;
            owner.wait_for_success(&run).await?;
            started.insert(0, run);
        }
        let all = owner.get(&path).await?.ok()?;
        let runs = |index: usize| all["items"][index]["runs"].as_array().cloned().unwrap_or_default();
        assert_eq!((&all["items"][0]["automationId"], &all["items"][1]["automationId"]), (&json!(busy), &json!(automation)));
        let newest: Vec<&str> = runs(0).iter().filter_map(|run| run["id"].as_str()).map(|id| started.iter().find(|run| *run == id).map_or("", |run| run)).collect();
        assert_eq!(newest, started[..12]);
        assert!(runs(0).iter().all(|run| run["status"] == "succeeded" && run["acceptedAt"].is_string()), "{all}");
        assert_eq!((runs(1).len(), &runs(1)[0]["id"], &runs(1)[0]["status"]), (1, &json!(only), &json!("failed")));
        let first = owner.get(&format!("{path}?limit=1")).await?.ok()?;
        let next = first["nextCursor"].as_str().context("no cursor")?;
        let second = owner.get(&format!("{path}?limit=1&cursor={next}")).await?.ok()?;
        assert_eq!(second["items"], json!([all["items"][1]]));
        assert_eq!(all["nextCursor"], Value::Null);
        let unused = owner.create_automation(&workspace.id, &app, "manual", 0).await?;
        let with_unused = owner.get(&path).await?.ok()?;
        assert_eq!(with_unused["items"][0], json!({"automationId": unused, "runs": []}));
        for query in ["limit=0", "limit=201", "cursor=x", "status=failed"] {
            owner.get(&format!("{path}?{query}")).await?.assert_error(400, "invalid_request");
        }
        // A person who does not see the app sees none of its automations.
        owner.put(&format!("/v1/apps/{app}/access"), &json!({"sharing": "private", "people": []})).await?.ok()?;
        let viewer = owner.add_member(&workspace.id, "viewer").await?;
        let seen = viewer.get(&path).await?.ok()?.to_string();
        for hidden in [&automation, &busy, &unused] {
            assert!(!seen.contains(hidden), "{seen}");
        }
        Ok(())
    }

    async fn a_range_that_cannot_be_counted_is_refused(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let count = format!("/v1/workspaces/{workspace}/runs/histogram");
        for query in [
            "from=yesterday",
            "from=2026-01-01",
            "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
            "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
            "from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
            "to=-262143-01-01T00:00:00Z",
            "from=-262143-01-01T00:00:00Z&to=%2B262142-12-31T00:00:00Z",
            "status=lost",
            "appId=run_1",
            "byAgent=perhaps",
            "bars=10",
        ] {
            let refused = owner.get(&format!("{count}?{query}")).await?;
            refused.check_error(400, Some("invalid_request")).context(query)?;
        }
        for query in ["from=yesterday", "byAgent=1x", "to="] {
            let refused = owner.get(&format!("/v1/workspaces/{workspace}/runs?{query}")).await?;
            refused.check_error(400, Some("invalid_request")).context(query)?;
        }
        Ok(())
    }
}
