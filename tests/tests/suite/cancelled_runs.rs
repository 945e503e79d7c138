//! Cancelling runs: queued, executing, waiting for a person, and on another node.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Database, Server, eventually, eventually_within};

/// An app that takes 25 seconds if it is asked to be slow, asks a person if it is asked to, and else ends at once.
const SOURCE: &str = "export default { async scheduled(event, env, ctx) { \
    if (event.data?.slow) await new Promise((resolve) => setTimeout(resolve, 25000)); \
    if (event.data?.ask) await ctx.approval({ title: 'Pay 500?' }) } }";

/// Far less than a slow run takes, and more than a loaded machine needs to start another.
const SOON: Duration = Duration::from_secs(10);

async fn wait_for_status(client: &Client, run: &str, status: &str) -> Result<Value> {
    eventually(&format!("the run is {status}"), async || {
        let run = client.get(&format!("/v1/runs/{run}")).await?.ok()?;
        (run["status"] == status).then_some(run.clone()).with_context(|| run.to_string())
    })
    .await
}

async fn cancel(client: &Client, run: &str) -> Result<tests::Reply> {
    client.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await
}

tests::on_both! {
    args: ["--no-rate-limits", "--workers", "1"];

    async fn an_executing_run_is_cancelled_and_leaves_its_slot(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, .. } = AutomationFixture::create(&server, SOURCE).await?;
        let ws = &workspace.id;
        let app = owner.create_app(ws, SOURCE).await?;
        let automation = owner.create_automation(ws, &app, "webhook", 5).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        let run = webhook.send(&json!({"slow": true})).await?.string_at("/runId")?;
        wait_for_status(&owner, &run, "running").await?;

        let cancelled = cancel(&owner, &run).await?.ok()?;
        assert_eq!((&cancelled["status"], &cancelled["errorCode"]), (&json!("failed"), &json!("cancelled")));
        assert!(cancelled["finishedAt"].is_string(), "{cancelled}");
        // The only slot is free again, long before the code would have ended.
        let next = webhook.send(&json!({})).await?.string_at("/runId")?;
        let next = owner.wait_for_run_within(SOON, &next).await?;
        assert_eq!(next["status"], "succeeded", "{next}");
        assert!(server.log().contains("run taken from this node"), "{}", server.log());

        let run_after = owner.get(&format!("/v1/runs/{run}")).await?.ok()?;
        assert_eq!((&run_after["status"], &run_after["attempt"]), (&json!("failed"), &json!(1)), "not retried");
        let letters = owner.get(&format!("/v1/workspaces/{ws}/dead-letters")).await?.ok()?;
        assert_eq!(letters["items"], json!([]));
        let events = owner.get(&format!("/v1/workspaces/{ws}/agent-events?since=0")).await?.ok()?;
        let items = events["items"].as_array().context("no items")?;
        let failed: Vec<_> = items.iter().filter(|item| item["kind"] == "run_failed").collect();
        assert_eq!(failed.len(), 1, "{events}");
        assert_eq!((&failed[0]["runId"], &failed[0]["code"]), (&json!(run), &json!("cancelled")), "{events}");
        let audit = owner.get(&format!("/v1/workspaces/{ws}/audit")).await?.ok()?;
        let entry = audit["items"].as_array().context("no items")?.iter().find(|item| item["action"] == "run.cancel");
        assert_eq!(entry.context("no entry")?["target"], json!(run));
        Ok(())
    }

    async fn a_queued_run_is_cancelled_before_it_starts(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let owner = &fixture.owner;
        let slow = owner.start_run(&fixture.automation, json!({"slow": true})).await?;
        wait_for_status(owner, &slow, "running").await?;
        let queued = owner.start_run(&fixture.automation, json!({})).await?;
        let cancelled = cancel(owner, &queued).await?.ok()?;
        assert_eq!((&cancelled["status"], &cancelled["attempt"]), (&json!("failed"), &json!(0)), "{cancelled}");
        cancel(owner, &slow).await?.assert_status(200);
        let health = owner.get(&format!("/v1/workspaces/{}/queue-health", fixture.workspace.id)).await?.ok()?;
        assert_eq!((&health["queued"], &health["running"]), (&json!(0), &json!(0)), "{health}");
        // As many as would alert if they had failed.
        for _ in 0..3 {
            let run = owner.start_run(&fixture.automation, json!({"slow": true})).await?;
            cancel(owner, &run).await?.assert_status(200);
        }
        let path = format!("/v1/workspaces/{}/agent-events?since=0", fixture.workspace.id);
        let events = owner.get(&path).await?.ok()?;
        let alerts = events["items"].as_array().context("no items")?.iter().filter(|item| item["kind"] == "alert");
        assert_eq!(alerts.count(), 0, "{events}");
        Ok(())
    }

    async fn a_run_that_waits_for_a_person_is_cancelled_with_its_question(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let owner = &fixture.owner;
        let run = owner.start_run(&fixture.automation, json!({"ask": true})).await?;
        wait_for_status(owner, &run, "waiting_approval").await?;
        let approvals = format!("/v1/runs/{run}/approvals");
        let question = owner.get(&approvals).await?.ok()?["items"][0].clone();
        assert_eq!(question["state"], "waiting");
        cancel(owner, &run).await?.assert_status(200);
        assert_eq!(owner.get(&approvals).await?.ok()?["items"][0]["state"], "expired");
        let answer = json!({"approvalId": question["id"], "approved": true});
        owner.post(&approvals, &answer).await?.assert_error(409, "approval_settled");
        let run = owner.get(&format!("/v1/runs/{run}")).await?.ok()?;
        assert_eq!(run["status"], "failed", "{run}");
        Ok(())
    }

    async fn the_limit_of_an_automation_lets_the_next_run_in(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let owner = &fixture.owner;
        let path = format!("/v1/automations/{}", fixture.automation);
        owner.patch(&path, &json!({"maxConcurrency": 1})).await?.assert_status(200);
        let slow = owner.start_run(&fixture.automation, json!({"slow": true})).await?;
        wait_for_status(owner, &slow, "running").await?;
        let next = owner.start_run(&fixture.automation, json!({})).await?;
        cancel(owner, &slow).await?.assert_status(200);
        assert_eq!(owner.wait_for_run_within(SOON, &next).await?["status"], "succeeded");
        Ok(())
    }

    async fn one_of_several_calls_cancels_and_a_run_that_has_ended_stays(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let owner = &fixture.owner;
        let done = owner.start_run(&fixture.automation, json!({})).await?;
        owner.wait_for_success(&done).await?;
        cancel(owner, &done).await?.assert_error(409, "run_ended");
        let run = owner.start_run(&fixture.automation, json!({"slow": true})).await?;
        let (one, two, three) = tokio::join!(cancel(owner, &run), cancel(owner, &run), cancel(owner, &run));
        let mut statuses = [one?.status.as_u16(), two?.status.as_u16(), three?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409]);
        cancel(owner, &run).await?.assert_error(409, "run_ended");
        Ok(())
    }

    async fn who_may_run_the_app_may_cancel_and_the_explanation_names_them(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let (owner, ws) = (&fixture.owner, &fixture.workspace.id);
        let access = json!({"sharing": "workspace", "people": []});
        owner.put(&format!("/v1/apps/{}/access", fixture.app), &access).await?.assert_status(200);
        let run = owner.start_run(&fixture.automation, json!({"slow": true})).await?;
        wait_for_status(owner, &run, "running").await?;

        let (member, viewer) = (owner.add_member(ws, "member").await?, owner.add_member(ws, "viewer").await?);
        let stranger = server.sign_in("stranger@example.test").await?;
        cancel(&stranger, &run).await?.assert_error(404, "run_not_found");
        cancel(&viewer, &run).await?.assert_error(403, "forbidden");
        let read = owner.create_token(ws, &["read"]).await?;
        cancel(&owner.with_bearer(&read), &run).await?.assert_error(403, "insufficient_scope");
        cancel(&server.client(), &run).await?.assert_error(401, "unauthorized");
        let write = member.create_token(ws, &["read", "write"]).await?;
        cancel(&member.with_bearer(&write), &run).await?.assert_status(200);

        let name = member.get("/v1/session").await?.string_at("/user/name")?;
        for (locale, what) in [("en", "was cancelled"), ("ru", "отменён"), ("kk", "бас тартылды")] {
            let path = format!("/v1/runs/{run}/explain?locale={locale}");
            let explanation = owner.get(&path).await?.ok()?;
            let text = |field: &str| explanation[field].as_str().unwrap_or_default().to_owned();
            assert!(text("what").contains(what) && text("why").contains(&name), "{explanation}");
        }
        let answer = owner.get(&format!("/v1/runs/{run}/ask")).await?.ok()?;
        assert_eq!((&answer["failureClass"], &answer["fix"]["kind"]), (&Value::Null, &json!("retry")), "{answer}");
        // It can be run after all.
        let replay = owner.post(&format!("/v1/runs/{run}/replay"), &json!({"input": {}})).await?;
        owner.wait_for_success(&replay.string_at("/runId")?).await?;
        Ok(())
    }
}

#[tokio::test]
async fn a_run_is_cancelled_through_a_node_that_does_not_execute_it() -> Result<()> {
    let options = Server::with(Database::Postgres).args(["--no-rate-limits", "--workers", "1"]);
    tests::on_server(options, async |first| {
        let second = first.start_another_node().await?;
        let fixture = AutomationFixture::create(&first, SOURCE).await?;
        // Each node has one slot, so that of two runs each executes one.
        let mut runs = Vec::new();
        for _ in 0..2 {
            let run = fixture.owner.start_run(&fixture.automation, json!({"slow": true})).await?;
            wait_for_status(&fixture.owner, &run, "running").await?;
            runs.push(run);
        }
        for run in &runs {
            cancel(&fixture.owner, run).await?.assert_status(200);
        }
        let is_stopped = |node: &Server| {
            let log = node.log();
            log.lines().any(|line| {
                line.contains("run taken from this node") && runs.iter().any(|run| line.contains(run))
            })
        };
        eventually_within(Duration::from_secs(3), "both nodes stop their run", async || {
            ensure!(is_stopped(&first) && is_stopped(&second), "{}\n{}", first.log(), second.log());
            Ok(())
        })
        .await
    })
    .await
}
