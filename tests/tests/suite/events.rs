//! Events of a workspace: live streams and the feed that agents poll.

use std::{process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{AutomationFixture, Browser, Client, Database, EventStream, StreamEvent, eventually};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
    time::Instant,
};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

const DOCS: &str = include_str!("../../../docs/events.md");

/// Returns the only example in a language.
fn documented_example(language: &str) -> Result<&'static str> {
    let (_, rest) = DOCS.split_once(&format!("```{language}\n")).context("no example")?;
    rest.split("\n```").next().context("no end")
}

/// An app that logs its input, in as many lines as the input asks for.
const SOURCE: &str = "export default { async scheduled(event) { \
    for (let i = 0; i < (event.data?.lines ?? 1); i++) console.log(`line ${i}`); \
    if (event.data?.fail) throw new Error('no') } }";

fn events_path(fixture: &AutomationFixture) -> String {
    format!("/v1/workspaces/{}/events", fixture.workspace.id)
}

fn feed_path(fixture: &AutomationFixture) -> String {
    format!("/v1/workspaces/{}/agent-events", fixture.workspace.id)
}

async fn open_stream(client: &Client, path: &str) -> Result<EventStream> {
    client.request(Method::GET, path).open_event_stream().await
}

async fn resume_stream(client: &Client, path: &str, last: u64) -> Result<EventStream> {
    client.request(Method::GET, path).header(LAST_EVENT_ID, &last.to_string())?.open_event_stream().await
}

/// Reads the next events with a name, and checks that none is missing.
async fn next_events_named(stream: &mut EventStream, name: &str, count: usize) -> Result<Vec<StreamEvent>> {
    let mut found = Vec::new();
    while found.len() < count {
        let event = stream.next_event().await?;
        if event.event.as_deref() == Some(name) {
            found.push(event);
        }
    }
    Ok(found)
}

/// Reads a stream to its end, ignoring its events.
async fn wait_for_end(mut stream: EventStream) -> Result<()> {
    while stream.next_block().await?.is_some() {}
    Ok(())
}

async fn feed_cursor(client: &Client, fixture: &AutomationFixture) -> Result<u64> {
    client.get(&feed_path(fixture)).await?.ok()?["cursor"].as_u64().context("no cursor")
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_stream_reports_runs_and_versions(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let mut stream = open_stream(&fixture.owner, &events_path(&fixture)).await?;
        let header = |name: &str| stream.headers.get(name).and_then(|value| value.to_str().ok());
        assert!(header("cache-control").is_some_and(|value| value.starts_with("no-store")));
        assert_eq!(header("x-accel-buffering"), Some("no"));
        let first = stream.next_block().await?.context("no first block")?;
        assert_eq!(first.id, Some(feed_cursor(&fixture.owner, &fixture).await?));
        assert!((1_000..5_000).contains(&first.retry.context("no retry time")?));
        assert_eq!(first.event, None, "no event has occurred");

        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        let events = next_events_named(&mut stream, "run", 3).await?;
        let data = &events[0].data;
        assert_eq!((&data["runId"], &data["status"]), (&json!(run), &json!("queued")));
        assert_eq!((&data["appId"], &data["appName"]), (&json!(fixture.app), &json!("An app of a test")));
        assert_eq!((&data["roadId"], &data["trigger"]), (&json!(manual), &json!("manual")));
        assert_eq!((&data["code"], &data["askedByAgent"]), (&Value::Null, &json!(false)));
        assert_eq!((&events[1].data["status"], &events[1].data["runId"]), (&json!("running"), &json!(run)));
        assert_eq!(events[2].data["status"], "succeeded");
        assert!(events[2].id > events[1].id && events[1].id > events[0].id && events[0].id > first.id);

        let version = json!({"files": {"main.js": SOURCE}});
        let created = fixture.owner.post(&format!("/v1/apps/{}/versions", fixture.app), &version).await?;
        let built = next_events_named(&mut stream, "build", 1).await?;
        assert_eq!((&built[0].data["versionId"], &built[0].data["versionNumber"]), (&json!(created.string_at("/id")?), &json!(2)));

        let token = fixture.owner.create_token(&fixture.workspace.id, &["write"]).await?;
        let run = fixture.owner.with_bearer(&token).start_run(&manual, json!({"fail": true})).await?;
        let events = next_events_named(&mut stream, "run", 3).await?;
        assert_eq!(events[0].data["askedByAgent"], true);
        assert_eq!((&events[2].data["status"], &events[2].data["code"]), (&json!("failed"), &json!("app_error")));
        assert_eq!(events[2].data["runId"], json!(run));
        Ok(())
    }

    async fn a_reader_that_reconnects_misses_nothing(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let mut stream = open_stream(&fixture.owner, &events_path(&fixture)).await?;
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        let seen = next_events_named(&mut stream, "run", 1).await?;
        drop(stream);
        fixture.owner.wait_for_success(&run).await?;
        let second = fixture.owner.start_run(&manual, Value::Null).await?;
        fixture.owner.wait_for_success(&second).await?;
        let mut stream = resume_stream(&fixture.owner, &events_path(&fixture), seen[0].id.context("no number")?).await?;
        let missed = next_events_named(&mut stream, "run", 5).await?;
        let reported: Vec<_> = missed.iter().map(|event| (event.data["runId"].clone(), event.data["status"].clone())).collect();
        let run_of = |run: &str, status: &str| (json!(run), json!(status));
        assert_eq!(reported, [
            run_of(&run, "running"), run_of(&run, "succeeded"),
            run_of(&second, "queued"), run_of(&second, "running"), run_of(&second, "succeeded"),
        ]);

        let bad = fixture.owner.request(Method::GET, &events_path(&fixture)).header(LAST_EVENT_ID, "x")?.send().await?;
        bad.assert_error(400, "invalid_request");

        // A gap is announced once, and the stream continues.
        server.execute_sql(&format!("DELETE FROM workspace_events WHERE seq <= {}", seen[0].id.unwrap_or_default() + 1)).await?;
        let mut stream = resume_stream(&fixture.owner, &events_path(&fixture), 1).await?;
        let resync = stream.next_event().await?;
        assert_eq!((resync.event.as_deref(), resync.id), (Some("resync"), Some(feed_cursor(&fixture.owner, &fixture).await?)));
        assert_eq!(resync.data, json!({"reason": "too_old"}));
        fixture.owner.start_run(&manual, Value::Null).await?;
        assert_eq!(stream.next_event().await?.data["status"], "queued");
        Ok(())
    }

    async fn requests_that_gates_and_webhooks_reject_are_reported(server: Server) -> Result<()> {
        let source = "export default { async scheduled() { await fetch('https://example.com/x?secret=1') }, \
            async fetch() { try { await fetch('https://example.org/') } catch {} return new Response('ok') } }";
        let fixture = AutomationFixture::create(&server, source).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "signed").await?;
        let mut stream = open_stream(&fixture.owner, &events_path(&fixture)).await?;
        let since = feed_cursor(&fixture.owner, &fixture).await?;
        let run = webhook.send(&json!({})).await?.string_at("/runId")?;
        let refused = next_events_named(&mut stream, "refusal", 1).await?.remove(0).data;
        assert_eq!((&refused["by"], &refused["code"]), (&json!("gate"), &json!("egress_denied")));
        assert_eq!((&refused["call"], &refused["runId"]), (&json!("GET example.com"), &json!(run)));
        assert!(!refused.to_string().contains("secret"), "{refused}");
        assert_eq!(next_events_named(&mut stream, "run", 1).await?[0].data["status"], "blocked");

        let app = fixture.owner.get(&format!("/v1/apps/{}", fixture.app)).await?.string_at("/url")?;
        let path = app.strip_prefix(server.base_url()).context("no app of this server")?;
        server.client().get(path).await?.assert_status(200);
        let refused = next_events_named(&mut stream, "refusal", 1).await?.remove(0).data;
        assert_eq!((&refused["call"], &refused["runId"]), (&json!("GET example.org"), &Value::Null));

        fixture.owner.patch(&format!("/v1/automations/{}", fixture.automation), &json!({"status": "paused"})).await?.ok()?;
        webhook.send(&json!(2)).await?.assert_error(409, "automation_paused");
        let refused = next_events_named(&mut stream, "refusal", 1).await?.remove(0).data;
        assert_eq!((&refused["by"], &refused["code"]), (&json!("webhook"), &json!("automation_paused")));
        assert_eq!(refused["roadId"], json!(fixture.automation));

        let feed = fixture.owner.get(&format!("{}?since={since}", feed_path(&fixture))).await?.ok()?;
        let reported: Vec<_> = feed["items"].as_array().context("no items")?.iter()
            .map(|item| (item["kind"].as_str().unwrap_or_default(), item["alert"].as_str(), item["runId"].as_str()))
            .collect();
        assert_eq!(reported, [
            ("alert", Some("blocked_call"), Some(run.as_str())),
            ("run_failed", None, Some(run.as_str())),
            ("alert", Some("blocked_call"), None),
            ("alert", Some("automation_failing"), None),
        ]);
        // Calls without a valid proof raise no alert.
        fixture.owner.patch(&format!("/v1/automations/{}", fixture.automation), &json!({"status": "active"})).await?.ok()?;
        let since = feed_cursor(&fixture.owner, &fixture).await?;
        webhook.signed_request("{")?.send().await?.assert_error(400, "invalid_body");
        let refused = next_events_named(&mut stream, "refusal", 1).await?.remove(0).data;
        assert_eq!(refused["code"], json!("invalid_body"), "the stream must report it");
        let feed = fixture.owner.get(&format!("{}?since={since}", feed_path(&fixture))).await?.ok()?;
        assert_eq!(feed["items"], json!([]), "{feed}");
        Ok(())
    }

    async fn an_app_that_keeps_failing_is_reported_once(server: Server) -> Result<()> {
        let source = "export default { async scheduled(event) { if (event.data.fail) throw new Error('no') } }";
        let fixture = AutomationFixture::create(&server, source).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "signed").await?;
        let mut stream = open_stream(&fixture.owner, &events_path(&fixture)).await?;
        let since = feed_cursor(&fixture.owner, &fixture).await?;
        let mut alerts = Vec::new();
        for (number, fail) in [true, true, false, true, true, true, true].into_iter().enumerate() {
            let run = webhook.send(&json!({ "number": number, "fail": fail })).await?.string_at("/runId")?;
            loop {
                let event = stream.next_event().await?;
                let name = event.event.unwrap_or_default();
                if name == "alert" {
                    alerts.push((event.data["alert"].clone(), event.data["runId"].clone(), event.data["code"].clone()));
                }
                if name == "run" && event.data["status"] != "queued" && event.data["status"] != "running" {
                    let status = if fail { "failed" } else { "succeeded" };
                    assert_eq!((&event.data["runId"], &event.data["status"]), (&json!(run), &json!(status)));
                    break;
                }
            }
            // An alert follows the end of the run that it is about, before the next run. The app has only this
            // automation.
            assert_eq!(alerts.len(), if number > 5 { 2 } else { 0 }, "{number}");
        }
        let (alert, run, code) = alerts.remove(0);
        assert_eq!((alert, code), (json!("app_failing"), json!("app_error")));
        assert_eq!(alerts.remove(0), (json!("automation_failing"), run.clone(), json!("app_error")));
        let feed = fixture.owner.get(&format!("{}?since={since}", feed_path(&fixture))).await?.ok()?;
        let items = feed["items"].as_array().context("no items")?;
        let alerts: Vec<_> = items.iter().filter(|item| item["kind"] == "alert").collect();
        assert_eq!(alerts.len(), 2);
        for (event, alert) in alerts.iter().zip(["app_failing", "automation_failing"]) {
            assert_eq!((&event["alert"], &event["runId"]), (&json!(alert), &run));
        }
        Ok(())
    }

    async fn a_stream_ends_when_its_reader_loses_access(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let share = async |sharing: &str| -> Result<()> {
            let access = json!({"sharing": sharing, "people": []});
            fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &access).await?.ok()?;
            Ok(())
        };
        share("private").await?;
        let member = fixture.owner.add_member(&fixture.workspace.id, "member").await?;
        let mut seen = open_stream(&member, &events_path(&fixture)).await?;
        let hidden = fixture.owner.start_run(&manual, Value::Null).await?;
        fixture.owner.wait_for_success(&hidden).await?;
        // Events that the reader may not see are skipped when they are read, shortly after they occurred.
        tokio::time::sleep(Duration::from_secs(1)).await;
        share("team").await?;
        // Rights are cached for a second.
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        let shown = fixture.owner.start_run(&manual, Value::Null).await?;
        let first = next_events_named(&mut seen, "run", 1).await?;
        assert_eq!(first[0].data["runId"], json!(shown), "the stream reported a private app");

        // After removal from the workspace and after sign-out, no more events arrive.
        let other = member.signed_out().sign_in(&format!("member.{}@people.test", fixture.workspace.id)).await?;
        let user = member.user_id().await?;
        let leaving = open_stream(&other, &events_path(&fixture)).await?;
        fixture.owner.delete(&format!("/v1/workspaces/{}/members/{user}", fixture.workspace.id)).await?.ok()?;
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        fixture.owner.start_run(&manual, Value::Null).await?;
        wait_for_end(seen).await?;
        wait_for_end(leaving).await?;
        member.get(&events_path(&fixture)).await?.assert_error(404, "workspace_not_found");

        let leaving = open_stream(&fixture.owner, &events_path(&fixture)).await?;
        let second = server.sign_in("owner@example.test").await?;
        fixture.owner.delete("/v1/session").await?.ok()?;
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        second.start_run(&manual, Value::Null).await?;
        wait_for_end(leaving).await
    }

    async fn a_quiet_stream_sends_keep_alive_comments(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let private = json!({"sharing": "private", "people": []});
        fixture.owner.put(&format!("/v1/apps/{}/access", fixture.app), &private).await?.ok()?;
        let member = fixture.owner.add_member(&fixture.workspace.id, "member").await?;
        let mut stream = open_stream(&member, &events_path(&fixture)).await?;
        let first = stream.next_block().await?.context("no first block")?;
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        fixture.owner.wait_for_success(&run).await?;
        let passed = feed_cursor(&fixture.owner, &fixture).await?;
        assert!(Some(passed) > first.id);
        // No event is for this reader, but the id advances all the same.
        let keep_alive = stream.next_block().await?.context("no keep-alive comment")?;
        assert_eq!((keep_alive.is_comment, keep_alive.event, keep_alive.id), (true, None, Some(passed)));
        Ok(())
    }

    async fn a_server_that_stops_closes_its_streams(mut server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let (first, second) = (open_stream(&fixture.owner, &events_path(&fixture)).await?, open_stream(&fixture.owner, &events_path(&fixture)).await?);
        let waiting = {
            let (owner, path) = (fixture.owner.clone(), format!("{}?wait=25", feed_path(&fixture)));
            tokio::spawn(async move { owner.get(&path).await })
        };
        tokio::time::sleep(Duration::from_millis(300)).await;
        let started_at = Instant::now();
        assert!(server.stop().await?.success());
        assert!(started_at.elapsed() < Duration::from_secs(6), "the server waited for its streams: {:?}", started_at.elapsed());
        wait_for_end(first).await?;
        wait_for_end(second).await?;
        assert_eq!(waiting.await??.ok()?["items"], json!([]));
        Ok(())
    }

    async fn streams_are_limited_per_person(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let mut streams = Vec::new();
        for _ in 0..16 {
            streams.push(open_stream(&fixture.owner, &events_path(&fixture)).await?);
        }
        let refused = fixture.owner.get(&events_path(&fixture)).await?;
        refused.assert_error(429, "too_many_streams");
        assert!(refused.header("retry-after").is_some());
        fixture.owner.get(&format!("{}?wait=1", feed_path(&fixture))).await?.assert_error(429, "too_many_streams");
        // A request that does not wait does not count against the limit, and each person has their own.
        fixture.owner.get(&feed_path(&fixture)).await?.assert_status(200);
        let member = fixture.owner.add_member(&fixture.workspace.id, "member").await?;
        open_stream(&member, &events_path(&fixture)).await?;
        streams.pop();
        eventually("the stream no longer counts", async || open_stream(&fixture.owner, &events_path(&fixture)).await.map(drop)).await
    }

    async fn an_agent_waits_for_the_events_it_asked_for(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let tokens = fixture.owner.register_agent("Agent").await?.sign_in(&fixture.owner, &fixture.workspace.id, "write").await?;
        let agent = fixture.owner.with_bearer(&tokens.access);
        let poll = async |query: String| -> Result<Value> { agent.get(&format!("{}{query}", feed_path(&fixture))).await?.ok() };
        let start = poll(String::new()).await?;
        assert_eq!((&start["items"], &start["gap"]), (&json!([]), &json!(false)));
        let since = start["cursor"].as_u64().context("no cursor")?;

        // Without an event, the request waits as long as it asked to.
        let started_at = Instant::now();
        assert_eq!(poll(format!("?since={since}&wait=1")).await?["items"], json!([]));
        assert!((1_000..5_000).contains(&started_at.elapsed().as_millis()));

        let waiting = {
            let (agent, path) = (agent.clone(), format!("{}?since={since}&wait=25", feed_path(&fixture)));
            tokio::spawn(async move { agent.get(&path).await })
        };
        tokio::time::sleep(Duration::from_millis(200)).await;
        let run = agent.start_run(&manual, Value::Null).await?;
        let page = waiting.await??.ok()?;
        let item = &page["items"][0];
        let at = item["at"].as_str().context("no time")?;
        assert!(at.ends_with('Z'), "{at}");
        let seq = item["seq"].as_u64().context("no number")?;
        assert_eq!(item, &json!({
            "seq": seq, "at": at, "kind": "run_finished", "alert": null, "appId": fixture.app,
            "appName": "An app of a test", "runId": run, "approvalId": null, "connectionId": null, "code": null,
            "askedByAgent": true,
        }));
        assert_eq!(page["cursor"], json!(seq));

        let failed = fixture.owner.start_run(&manual, json!({"fail": true})).await?;
        fixture.owner.wait_for_run(&failed).await?;
        let page = poll(format!("?since={seq}")).await?;
        let item = &page["items"][0];
        assert_eq!((&item["kind"], &item["runId"]), (&json!("run_failed"), &json!(failed)));
        assert_eq!((&item["code"], &item["askedByAgent"]), (&json!("app_error"), &json!(false)));
        assert_eq!(page["items"].as_array().map(Vec::len), Some(1));

        server.execute_sql(&format!("DELETE FROM workspace_events WHERE seq <= {seq}")).await?;
        let page = poll(format!("?since={since}&wait=25")).await?;
        assert_eq!((&page["gap"], &page["items"][0]["runId"]), (&json!(true), &json!(failed)));
        for bad in ["?wait=26", "?since=-1", "?since=x", "?wait=-1", "?after=1"] {
            agent.get(&format!("{}{bad}", feed_path(&fixture))).await?.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn the_tool_for_events_waits_too(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let tokens = fixture.owner.register_agent("Agent").await?.sign_in(&fixture.owner, &fixture.workspace.id, "read").await?;
        let agent = fixture.owner.with_bearer(&tokens.access);
        let call = async |arguments: Value| -> Result<Value> {
            Ok(agent.call_tool("wait_for_events", &arguments).await?.ok()?["result"].clone())
        };
        let start = call(json!({"wait": 0})).await?["structuredContent"].clone();
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        let page = call(json!({"since": start["cursor"]})).await?["structuredContent"].clone();
        assert_eq!((&page["items"][0]["kind"], &page["items"][0]["runId"]), (&json!("run_finished"), &json!(run)));
        assert_eq!(page["items"][0]["askedByAgent"], false);
        let again = call(json!({"since": page["cursor"], "wait": 0})).await?["structuredContent"].clone();
        assert_eq!((&again["items"], &again["cursor"]), (&json!([]), &page["cursor"]));
        assert_eq!(call(json!({"wait": 26})).await?["isError"], true);
        Ok(())
    }

    async fn the_log_of_an_app_is_streamed(server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let path = format!("/v1/apps/{}/logs/stream", fixture.app);
        let mut stream = open_stream(&fixture.owner, &path).await?;
        let start = stream.next_block().await?.and_then(|block| block.id).context("no number")?;
        let run = fixture.owner.start_run(&manual, json!({"lines": 450})).await?;
        // 200 lines at a time; only the last of them has the id.
        let parts = next_events_named(&mut stream, "log", 3).await?;
        let lengths: Vec<_> = parts.iter().map(|part| part.data["lines"].as_array().map(Vec::len)).collect();
        assert_eq!(lengths, [Some(200), Some(200), Some(50)]);
        let numbers: Vec<_> = parts.iter().map(|part| part.id.is_some()).collect();
        assert_eq!(numbers, [false, false, true]);
        let lines: Vec<Value> = parts.iter().filter_map(|part| part.data["lines"].as_array()).flatten().cloned().collect();
        let messages: Vec<_> = lines.iter().filter_map(|line| line["message"].as_str().map(str::to_owned)).collect();
        assert_eq!(messages, (0..450).map(|number| format!("line {number}")).collect::<Vec<_>>());
        // They equal the log.
        let log = fixture.owner.get(&format!("/v1/apps/{}/logs?limit=1", fixture.app)).await?.ok()?;
        assert_eq!(log["lines"][0], lines[449]);
        assert_eq!(lines[0]["runId"], json!(run));

        let second = fixture.owner.start_run(&manual, Value::Null).await?;
        assert_eq!(next_events_named(&mut stream, "log", 1).await?[0].data["lines"][0]["runId"], json!(second));
        let mut again = resume_stream(&fixture.owner, &path, parts[2].id.context("no number")?).await?;
        assert_eq!(next_events_named(&mut again, "log", 1).await?[0].data["lines"][0]["runId"], json!(second));
        let mut whole = resume_stream(&fixture.owner, &path, start).await?;
        assert_eq!(next_events_named(&mut whole, "log", 4).await?[3].data["lines"][0]["runId"], json!(second));
        let member = fixture.owner.add_member(&fixture.workspace.id, "member").await?;
        member.get(&path).await?.assert_error(404, "app_not_found");
        Ok(())
    }

    async fn a_browser_reconnects_by_itself(mut server: Server) -> Result<()> {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let browser = Browser::start().await?;
        // A page of the server. Its policy forbids scripts, but the driver may run one.
        browser.navigate_to(&format!("{}/healthz", server.base_url())).await?;
        let cookie = fixture.owner.cookie().context("no session")?.to_owned();
        browser.set_cookie(&cookie).await?;
        browser.execute_script(&format!(
            "window.seen = []; window.opened = 0; const workspace = '{}'; \
             const show = (id, status) => window.seen.push([Number(id), status]);\n{}\n\
             stream.onopen = () => window.opened++",
            fixture.workspace.id,
            documented_example("js")?
        )).await?;
        let seen = async |count: usize| -> Result<Vec<(u64, String)>> {
            eventually("the browser receives the event", async || {
                let seen: Vec<(u64, String)> = serde_json::from_value(browser.execute_script("return window.seen").await?)?;
                ensure!(seen.len() >= count, "{seen:?}");
                Ok(seen)
            }).await
        };
        eventually("the stream is open", async || {
            ensure!(browser.execute_script("return window.opened").await? == 1);
            Ok(())
        }).await?;
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        seen(3).await?;
        fixture.owner.wait_for_success(&run).await?;
        // The connection breaks, and events occur before the browser reconnects.
        server.kill()?;
        server.restart().await?;
        let second = fixture.owner.start_run(&manual, Value::Null).await?;
        fixture.owner.wait_for_success(&second).await?;
        let seen = seen(6).await?;
        let statuses: Vec<_> = seen.iter().map(|(_, status)| status.as_str()).collect();
        assert_eq!(statuses, ["queued", "running", "succeeded", "queued", "running", "succeeded"]);
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "{seen:?}");
        browser.close().await
    }
}

#[tokio::test]
async fn the_example_program_receives_runs() -> Result<()> {
    tests::on_database(Database::Sqlite, async |server| {
        let fixture = AutomationFixture::create(&server, SOURCE).await?;
        let manual =
            fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let mut program = Command::new("python3")
            .args(["-c", documented_example("python")?])
            .env("URL", server.base_url())
            .env("WS", &fixture.workspace.id)
            .env("TOKEN", fixture.owner.create_token(&fixture.workspace.id, &["read"]).await?)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(program.stdout.take().context("no output")?).lines();
        // It receives the events that occur once it listens.
        let mut runs = Vec::new();
        let first = loop {
            runs.push(fixture.owner.start_run(&manual, Value::Null).await?);
            match tokio::time::timeout(Duration::from_millis(500), lines.next_line()).await {
                Ok(line) => break line?.context("the program ended")?,
                Err(_) => ensure!(runs.len() < 40, "the program receives no event"),
            }
        };
        let position = runs.iter().position(|run| first == format!("run_finished {run}")).context(first)?;
        runs.push(fixture.owner.start_run(&manual, Value::Null).await?);
        for run in &runs[position + 1..] {
            let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await??;
            assert_eq!(line, Some(format!("run_finished {run}")));
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_stream_reports_events_of_another_node() -> Result<()> {
    tests::on_database(Database::Postgres, async |first| {
        let second = first.start_another_node().await?;
        let fixture = AutomationFixture::create(&first, SOURCE).await?;
        let manual =
            fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "manual", 0).await?;
        let elsewhere = fixture.owner.with_base_url(second.base_url());
        let mut stream = open_stream(&elsewhere, &events_path(&fixture)).await?;
        stream.next_block().await?;
        // Without a notification it would poll only after 15 seconds.
        let started_at = Instant::now();
        let run = fixture.owner.start_run(&manual, Value::Null).await?;
        let events = next_events_named(&mut stream, "run", 3).await?;
        assert!(started_at.elapsed() < Duration::from_secs(10), "{:?}", started_at.elapsed());
        assert_eq!(events[1].data["runId"], json!(run));
        Ok(())
    })
    .await
}
