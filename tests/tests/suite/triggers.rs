//! Triggers other than signed webhooks: public forms and the end of another run; and approvals.

use anyhow::{Context as _, Result};
use http::{HeaderName, Method, header};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Reply, eventually};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An app that fails if its input asks for it, and logs its input.
const FAILS_ON_REQUEST: &str = "export default { async scheduled(event) { \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`); if (event.data?.fail) throw new Error('as requested') } }";

async fn post_automation(owner: &Client, workspace: &str, app: &str, trigger: Value) -> Result<Reply> {
    let body = json!({"name": "An automation", "appId": app, "trigger": trigger, "retries": 0});
    owner.post(&format!("/v1/workspaces/{workspace}/automations"), &body).await
}

async fn list_runs(owner: &Client, workspace: &str, query: &str) -> Result<Vec<Value>> {
    let list = owner.get(&format!("/v1/workspaces/{workspace}/runs?{query}")).await?.ok()?;
    Ok(list["items"].as_array().context("no items")?.clone())
}

/// Waits until an automation has this many runs and all of them have ended.
async fn wait_for_runs(
    owner: &Client,
    workspace: &str,
    automation: &str,
    count: usize,
) -> Result<Vec<Value>> {
    eventually("its runs have ended", async || {
        let found = list_runs(owner, workspace, &format!("automationId={automation}")).await?;
        let ended = found.iter().filter(|run| run["finishedAt"].is_string()).count();
        (ended == count).then_some(found).with_context(|| format!("{ended} of {count} have ended"))
    })
    .await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_form_starts_its_automation(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, FAILS_ON_REQUEST).await?;
        let (owner, ws) = (&fixture.owner, fixture.workspace.id.as_str());
        let form = post_automation(owner, ws, &fixture.app, json!({"type": "form"})).await?.string_at("/id")?;
        let settings = format!("/v1/automations/{form}/webhook");
        let refused = owner.put(&settings, &json!({"mode": "signed"})).await?;
        refused.assert_error(400, "invalid_request");
        let address = owner.put(&settings, &json!({"mode": "form"})).await?.string_at("/address")?;
        let path = address.strip_prefix(server.base_url()).unwrap_or(&address).to_owned();
        let sent = server.client().request(Method::POST, &path)
            .body("application/x-www-form-urlencoded", "email=aru%40example.test&_gotcha=")?.send().await?;
        sent.assert_status(202);
        let run = owner.wait_for_success(&sent.string_at("/runId")?).await?;
        assert_eq!((&run["trigger"], &run["roadId"]), (&json!("form"), &json!(form)), "{run}");
        let log = owner.app_log(&fixture.app, run["id"].as_str()).await?;
        assert!(log[0].message.starts_with(r#"form {"#) && log[0].message.contains("aru@example.test"), "{log:?}");
        assert_eq!(list_runs(owner, ws, "trigger=form").await?.len(), 1);
        // A webhook in the mode `form` still is a webhook.
        let webhook = owner.put(&format!("/v1/automations/{}/webhook", fixture.automation), &json!({"mode": "form"})).await?;
        let address = webhook.string_at("/address")?;
        let path = address.strip_prefix(server.base_url()).unwrap_or(&address).to_owned();
        let sent = server.client().post(&path, &json!({"a": 1})).await?;
        assert_eq!(owner.wait_for_success(&sent.string_at("/runId")?).await?["trigger"], "webhook");
        Ok(())
    }

    async fn an_app_must_declare_its_triggers(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, FAILS_ON_REQUEST).await?;
        let owner = &fixture.owner;
        let form = post_automation(owner, &fixture.workspace.id, &fixture.app, json!({"type": "form"})).await?.string_at("/id")?;
        let address = owner.put(&format!("/v1/automations/{form}/webhook"), &json!({"mode": "form"})).await?.string_at("/address")?;
        let path = address.strip_prefix(server.base_url()).unwrap_or(&address).to_owned();
        let version = owner.get(&format!("/v1/apps/{}", fixture.app)).await?.string_at("/currentVersionId")?;
        let version = owner.get(&format!("/v1/apps/{}/versions/{version}", fixture.app)).await?.ok()?;
        for (triggers, status) in [(json!([{"type": "manual"}]), 409), (json!([{"type": "form"}]), 202)] {
            let mut manifest = version["manifest"].clone();
            manifest["triggers"] = triggers;
            let body = json!({"manifest": manifest, "files": version["files"]});
            owner.post(&format!("/v1/apps/{}/versions", fixture.app), &body).await?.ok()?;
            let sent = server.client().post(&path, &json!({"a": 1})).await?;
            assert_eq!(sent.status.as_u16(), status, "{sent}");
        }
        Ok(())
    }

    async fn scripts_of_allowed_sites_may_submit_a_form(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, FAILS_ON_REQUEST).await?;
        let owner = &fixture.owner;
        let settings = format!("/v1/automations/{}/webhook", fixture.automation);
        let body = json!({"mode": "form", "form": {"allowedSites": ["https://www.example.com"]}});
        let address = owner.put(&settings, &body).await?.string_at("/address")?;
        let path = address.strip_prefix(server.base_url()).unwrap_or(&address).to_owned();
        let visitor = server.client();
        let preflight = async |path: &str, origin: &str| -> Result<Reply> {
            visitor.request(Method::OPTIONS, path).header(header::ORIGIN, origin)?
                .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")?
                .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type")?.send().await
        };
        let reply = preflight(&path, "https://www.example.com").await?;
        reply.assert_status(204);
        assert_eq!(reply.header("access-control-allow-origin"), Some("https://www.example.com"));
        assert_eq!(reply.header("access-control-allow-methods"), Some("POST"));
        assert!(reply.header("access-control-allow-headers").is_some_and(|names| names.contains("content-type")));
        assert_eq!(reply.header("access-control-allow-credentials"), None);
        assert_eq!(reply.header("vary"), Some("Origin"));
        for (path, origin) in [
            (path.as_str(), "https://evil.example"), (path.as_str(), "null"),
            ("/v1/hooks/hook_00000000000e00800000000000", "https://www.example.com"), ("/v1/hooks/x", "https://www.example.com"),
        ] {
            let reply = preflight(path, origin).await?;
            reply.assert_status(204);
            assert_eq!(reply.header("access-control-allow-origin"), None, "{path} {origin}");
            assert_eq!(reply.header("access-control-allow-methods"), None, "{path} {origin}");
        }
        let send = async |origin: &str| -> Result<Reply> {
            visitor.request(Method::POST, &path).json(&json!({"a": 1}))?.header(header::ORIGIN, origin)?.send().await
        };
        let sent = send("https://www.example.com").await?;
        sent.assert_status(202);
        assert_eq!(sent.header("access-control-allow-origin"), Some("https://www.example.com"));
        let refused = send("https://evil.example").await?;
        refused.assert_error(403, "bad_origin");
        assert_eq!(refused.header("access-control-allow-origin"), None);

        // Other modes accept no calls from pages, whatever was listed before.
        owner.put(&settings, &json!({"mode": "none", "confirm": true})).await?.ok()?;
        assert_eq!(preflight(&path, "https://www.example.com").await?.header("access-control-allow-origin"), None);
        let sent = send("https://www.example.com").await?;
        sent.assert_status(202);
        assert_eq!(sent.header("access-control-allow-origin"), None);
        Ok(())
    }

    async fn the_end_of_a_run_triggers_other_automations(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, FAILS_ON_REQUEST).await?;
        let (owner, ws) = (&fixture.owner, fixture.workspace.id.as_str());
        post_automation(owner, ws, &fixture.app, json!({"type": "event", "event": "run_faild"})).await?.assert_error(400, "invalid_request");
        let failed = post_automation(owner, ws, &fixture.app, json!({"type": "event", "event": "run_failed"})).await?.string_at("/id")?;
        let finished = post_automation(owner, ws, &fixture.app, json!({"type": "event", "event": "run_finished"})).await?.string_at("/id")?;
        let good = owner.start_run(&fixture.automation, Value::Null).await?;
        owner.wait_for_success(&good).await?;
        wait_for_runs(owner, ws, &finished, 1).await?;
        let bad = owner.start_run(&fixture.automation, json!({"fail": true})).await?;
        assert_eq!(owner.wait_for_run(&bad).await?["status"], "failed");
        let started = wait_for_runs(owner, ws, &failed, 1).await?;
        wait_for_runs(owner, ws, &finished, 2).await?;
        assert_eq!((&started[0]["trigger"], &started[0]["status"]), (&json!("event"), &json!("succeeded")), "{started:?}");
        // The feed reports it from the start.
        let feed = owner.request(Method::GET, &format!("/v1/workspaces/{ws}/events")).header(LAST_EVENT_ID, "0")?;
        let mut feed = feed.open_event_stream().await?;
        let first = loop {
            let event = feed.next_event().await?;
            if event.data["runId"] == started[0]["id"] {
                break event;
            }
        };
        assert_eq!(first.data["status"], "queued", "{first:?}");
        let log = owner.app_log(&fixture.app, started[0]["id"].as_str()).await?;
        let event = log[0].message.strip_prefix("event ").context("no event")?;
        let event: Value = serde_json::from_str(event)?;
        for (field, expected) in [
            ("event", json!("run_failed")), ("runId", json!(bad)), ("appId", json!(fixture.app)),
            ("automationId", json!(fixture.automation)), ("trigger", json!("manual")), ("status", json!("failed")),
            ("errorCode", json!("app_error")),
        ] {
            assert_eq!(event[field], expected, "{field} of {event}");
        }
        // Runs that events started have ended too, but start nothing, so there are only three.
        assert_eq!(list_runs(owner, ws, "trigger=event").await?.len(), 3);
        // A paused automation is not triggered.
        for waiting in [&failed, &finished] {
            owner.patch(&format!("/v1/automations/{waiting}"), &json!({"status": "paused"})).await?.ok()?;
        }
        owner.wait_for_success(&owner.start_run(&fixture.automation, Value::Null).await?).await?;
        assert_eq!(list_runs(owner, ws, "trigger=event").await?.len(), 3);
        Ok(())
    }

    async fn a_run_waits_for_an_approval(server: Server) -> Result<()> {
        let source = "export default { async scheduled(event, env, ctx) { console.log('before'); \
            try { await ctx.approval({ title: 'Pay 500?', detail: 'To Tulpar.' }) } catch { console.log('caught') } \
            console.log('after') }, \
            async fetch(request, env, ctx) { try { await ctx.approval({ title: 'x' }) } catch (error) { return new Response(error.code) } } }";
        let fixture = AutomationFixture::create(&server, source).await?;
        let (owner, ws) = (&fixture.owner, fixture.workspace.id.as_str());
        let run = owner.start_run(&fixture.automation, Value::Null).await?;
        let path = format!("/v1/runs/{run}");
        let waits = eventually("the run waits", async || {
            let run = owner.get(&path).await?.ok()?;
            (run["status"] == "waiting_approval").then_some(run.clone()).with_context(|| run.to_string())
        }).await?;
        assert_eq!((&waits["steps"][0]["status"], &waits["steps"][0]["detail"]), (&json!("waiting"), &json!("Pay 500?")), "{waits}");
        assert_eq!(waits["finishedAt"], Value::Null);
        let token = owner.create_token(ws, &["read"]).await?;
        let told = owner.with_bearer(&token).get(&format!("/v1/workspaces/{ws}/agent-events?since=0")).await?.ok()?;
        let request_event = told["items"].as_array().context("no items")?.iter().find(|item| item["kind"] == "approval_needed");
        let request_event = request_event.with_context(|| told.to_string())?;
        assert_eq!(request_event["runId"], json!(run));
        assert!(request_event["approvalId"].as_str().is_some_and(|id| id.starts_with("apv_")), "{request_event}");
        let health = owner.get(&format!("/v1/workspaces/{ws}/queue-health")).await?.ok()?;
        assert_eq!((&health["waitingApproval"], &health["running"], &health["queued"]), (&json!(1), &json!(0), &json!(0)));
        let messages: Vec<_> = owner.app_log(&fixture.app, Some(&run)).await?.into_iter().map(|line| line.message).collect();
        assert_eq!(messages, ["before"], "code that asks is stopped, and cannot catch that");
        let told = owner.get(&format!("{path}/ask")).await?.ok()?;
        assert_eq!((&told["status"], &told["failureClass"]), (&json!("waiting_approval"), &Value::Null));
        assert_eq!(list_runs(owner, ws, "status=waiting_approval").await?.len(), 1);
        let approvals = format!("{path}/approvals");
        let items = owner.get(&approvals).await?.ok()?["items"].clone();
        assert_eq!((&items[0]["id"], &items[0]["title"]), (&request_event["approvalId"], &json!("Pay 500?")), "{items}");
        assert_eq!((&items[0]["detail"], &items[0]["state"]), (&json!("To Tulpar."), &json!("waiting")), "{items}");
        let yes = json!({"approvalId": items[0]["id"], "approved": true});
        let write = owner.create_token(ws, &["read", "write"]).await?;
        owner.with_bearer(&write).post(&approvals, &yes).await?.assert_error(403, "console_only");
        let other = owner.start_run(&fixture.automation, Value::Null).await?;
        owner.post(&format!("/v1/runs/{other}/approvals"), &yes).await?.assert_error(404, "approval_not_found");
        // Of two concurrent answers, one counts.
        let (one, two) = tokio::join!(owner.post(&approvals, &yes), owner.post(&approvals, &yes));
        let mut statuses = [one?.status.as_u16(), two?.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        owner.wait_for_success(&run).await?;
        let messages: Vec<_> = owner.app_log(&fixture.app, Some(&run)).await?.into_iter().map(|line| line.message).collect();
        assert_eq!(messages.iter().filter(|line| *line == "after").count(), 1, "{messages:?}");
        owner.post(&approvals, &yes).await?.assert_error(409, "approval_settled");
        // A visit cannot wait for an approval.
        let slug = owner.get(&format!("/v1/apps/{}", fixture.app)).await?.string_at("/slug")?;
        let page = server.client().get(&format!("/a/{slug}/")).await?;
        assert_eq!(page.assert_status(200).body, "approval_unavailable");
        Ok(())
    }

    async fn runs_of_invisible_apps_trigger_nothing(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, FAILS_ON_REQUEST).await?;
        let ws = fixture.workspace.id.as_str();
        let builder = fixture.owner.add_member(ws, "builder").await?;
        let their_app = builder.create_app(ws, FAILS_ON_REQUEST).await?;
        let listener = post_automation(&builder, ws, &their_app, json!({"type": "event", "event": "run_finished"})).await?.string_at("/id")?;
        // The owner's app is private, so the end of its run does not trigger the builder's automation.
        fixture.owner.wait_for_success(&fixture.owner.start_run(&fixture.automation, Value::Null).await?).await?;
        let share = json!({"sharing": "team", "people": []});
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &share).await?.ok()?;
        let seen = fixture.owner.start_run(&fixture.automation, Value::Null).await?;
        fixture.owner.wait_for_success(&seen).await?;
        let started = wait_for_runs(&builder, ws, &listener, 1).await?;
        let log = builder.app_log(&their_app, started[0]["id"].as_str()).await?;
        assert!(log[0].message.contains(&seen), "{log:?}");
        Ok(())
    }
}
