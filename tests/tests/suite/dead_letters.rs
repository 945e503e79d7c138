//! Dead letters: failed runs and refused calls are kept, and can be replayed or discarded.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Server, Webhook, Workspace, unix_time};

/// An app that fails if its input asks for it, and logs its input.
const FAILS_ON_REQUEST: &str = "export default { async scheduled(event) { \
    if (event.data?.fail) throw new Error('as requested'); \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`) } }";
const ALWAYS_SUCCEEDS: &str =
    "export default { async scheduled(event) { console.log(`calm ${JSON.stringify(event.data)}`) } }";

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
    automation: String,
    webhook: Webhook,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, workspace, app, automation } =
            AutomationFixture::create(server, FAILS_ON_REQUEST).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        Ok(Self { owner, workspace, app, automation, webhook })
    }

    async fn list_dead_letters(&self, query: &str) -> Result<Vec<Value>> {
        let path = format!("/v1/workspaces/{}/dead-letters?{query}", self.workspace.id);
        let list = self.owner.get(&path).await?.ok()?;
        Ok(list["items"].as_array().context("no items")?.clone())
    }

    /// Creates a dead letter by a call whose run fails. Returns the ids of the dead letter and of the run.
    async fn create_dead_letter(&self, input: Value) -> Result<(String, String)> {
        let run = self.webhook.send(&input).await?.string_at("/runId")?;
        assert_eq!(self.owner.wait_for_run(&run).await?["status"], "failed");
        let dead_letters = self.list_dead_letters("state=open").await?;
        let dead_letter = dead_letters
            .iter()
            .find(|dead_letter| dead_letter["runId"] == json!(run))
            .context("no dead letter of the run")?;
        Ok((dead_letter["id"].as_str().context("no id")?.to_owned(), run))
    }

    async fn replay(&self, dead_letter: &str, body: Value) -> Result<Value> {
        self.owner.post(&format!("/v1/dead-letters/{dead_letter}/replay"), &body).await?.ok()
    }

    async fn open_count(&self) -> Result<Value> {
        let health = self.owner.get(&format!("/v1/workspaces/{}/queue-health", self.workspace.id)).await?;
        Ok(health.ok()?["deadLettersOpen"].clone())
    }

    /// Returns the message that the app logged in a successful run.
    async fn logged_message(&self, run: &Value) -> Result<String> {
        let run = run.as_str().context("no run")?;
        self.owner.wait_for_success(run).await?;
        Ok(self.owner.app_log(&self.app, Some(run)).await?[0].message.clone())
    }

    async fn publish_version(&self, source: &str) -> Result<()> {
        let version = json!({"files": {"main.js": source}});
        self.owner.post(&format!("/v1/apps/{}/versions", self.app), &version).await?.ok().map(drop)
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_run_that_failed_for_good_is_kept(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        assert_eq!(fixture.open_count().await?, 0);
        let (dead_letter, run) = fixture.create_dead_letter(json!({"fail": true, "order": "қ".repeat(300)})).await?;
        assert_eq!(fixture.open_count().await?, 1);
        let read = fixture.owner.get(&format!("/v1/dead-letters/{dead_letter}")).await?.ok()?;
        for (field, expected) in [
            ("kind", json!("run")), ("state", json!("open")), ("appId", json!(fixture.app)), ("roadId", json!(fixture.automation)),
            ("roadName", json!("An automation")), ("trigger", json!("webhook")), ("reason", json!("app_error")),
            ("runId", json!(run)), ("deliveryId", Value::Null), ("attempt", json!(1)), ("hasPayload", json!(true)),
            ("settledAt", Value::Null), ("settledByName", Value::Null), ("replayRunId", Value::Null),
            ("canManage", json!(true)), ("payload", json!({"fail": true, "order": "қ".repeat(300)})),
        ] {
            assert_eq!(read[field], expected, "{field} of {read}");
        }
        assert_eq!(read["version"]["isCurrent"], true);
        assert!(read["message"].as_str().is_some_and(|message| message.contains("as requested")), "{read}");
        assert_eq!(read["preview"].as_str().map(|preview| preview.chars().count()), Some(200));
        let bytes = json!({"fail": true, "order": "қ".repeat(300)}).to_string().len();
        assert_eq!(read["payloadBytes"], json!(bytes));
        let listed = fixture.list_dead_letters("").await?;
        assert!(listed.len() == 1 && listed[0].get("payload").is_none(), "{listed:?}");
        for (query, count) in [
            (format!("appId={}", fixture.app), 1), (format!("automationId={}", fixture.automation), 1), ("kind=run".to_owned(), 1),
            ("kind=delivery".to_owned(), 0), ("state=discarded".to_owned(), 0), ("trigger=schedule".to_owned(), 0),
        ] {
            assert_eq!(fixture.list_dead_letters(&query).await?.len(), count, "{query}");
        }
        // Neither a failed run that a person started nor a successful run leaves a dead letter.
        let manual = fixture.owner.start_run(&fixture.automation, json!({"fail": true})).await?;
        assert_eq!(fixture.owner.wait_for_run(&manual).await?["status"], "failed");
        fixture.owner.wait_for_success(&fixture.webhook.send(&json!(1)).await?.string_at("/runId")?).await?;
        assert_eq!(fixture.open_count().await?, 1);
        Ok(())
    }

    async fn a_retried_run_leaves_one_dead_letter(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.owner.patch(&format!("/v1/automations/{}", fixture.automation), &json!({"retries": 1})).await?.ok()?;
        let (dead_letter, _) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let read = fixture.owner.get(&format!("/v1/dead-letters/{dead_letter}")).await?.ok()?;
        assert_eq!(read["attempt"], 2);
        assert_eq!(fixture.open_count().await?, 1);
        Ok(())
    }

    async fn a_dead_letter_is_replayed_once(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (dead_letter, run) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let replayed = fixture.replay(&dead_letter, json!({"payload": {"fixed": [1]}})).await?;
        assert_eq!((&replayed["deadLetterId"], &replayed["edited"], &replayed["held"]), (&json!(dead_letter), &json!(true), &json!(false)));
        assert_eq!(replayed["version"]["number"], 1);
        assert_eq!(fixture.logged_message(&replayed["runId"]).await?, r#"webhook {"fixed":[1]}"#);
        let ran = fixture.owner.get(&format!("/v1/runs/{}", replayed["runId"].as_str().unwrap_or_default())).await?.ok()?;
        assert_eq!((&ran["replayOf"], &ran["trigger"], &ran["roadId"]), (&json!(run), &json!("webhook"), &json!(fixture.automation)));
        let read = fixture.owner.get(&format!("/v1/dead-letters/{dead_letter}")).await?.ok()?;
        assert_eq!((&read["state"], &read["replayRunId"]), (&json!("replayed"), &replayed["runId"]));
        assert!(read["settledAt"].is_string() && read["settledByName"].is_string(), "{read}");
        for settle in ["replay", "discard"] {
            let again = fixture.owner.post(&format!("/v1/dead-letters/{dead_letter}/{settle}"), &json!({})).await?;
            again.assert_error(409, "dead_letter_settled");
        }
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", fixture.workspace.id)).await?;
        assert!(String::from_utf8_lossy(&audit.body).contains("dead_letter.replay"));
        Ok(())
    }

    async fn concurrent_replays_start_one_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (dead_letter, _) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (owner, path) = (fixture.owner.clone(), format!("/v1/dead-letters/{dead_letter}/replay"));
            calls.spawn(async move { owner.post(&path, &json!({"payload": 1})).await });
        }
        let mut started = 0;
        for reply in calls.join_all().await {
            let reply = reply?;
            if reply.status == 200 { started += 1 } else { reply.check_error(409, Some("dead_letter_settled"))? }
        }
        assert_eq!(started, 1);
        Ok(())
    }

    async fn a_replay_runs_the_requested_version(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (first, _) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let (second, run) = fixture.create_dead_letter(json!({"fail": 2})).await?;
        fixture.publish_version(ALWAYS_SUCCEEDS).await?;
        let current = fixture.replay(&first, json!({})).await?;
        assert_eq!(fixture.logged_message(&current["runId"]).await?, r#"calm {"fail":true}"#);
        assert_eq!((&current["edited"], &current["version"]["number"]), (&json!(false), &json!(2)));
        // A replay of the run with its original version fails again, and leaves another dead letter.
        let original = fixture.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"version": "original"})).await?.ok()?;
        assert_eq!((&original["deadLetterId"], &original["version"]["number"]), (&json!(second), &json!(1)));
        assert_eq!(original["version"]["isCurrent"], false);
        let again = original["runId"].as_str().context("no run")?;
        assert_eq!(fixture.owner.wait_for_run(again).await?["status"], "failed");
        let open = fixture.list_dead_letters("state=open").await?;
        assert!(open.len() == 1 && open[0]["runId"] == json!(again), "{open:?}");
        // A run may be replayed any number of times.
        let third = fixture.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"input": {"n": 1}})).await?.ok()?;
        assert_eq!((&third["deadLetterId"], &third["edited"]), (&Value::Null, &json!(true)));
        assert_eq!(fixture.logged_message(&third["runId"]).await?, r#"calm {"n":1}"#);
        // `null` is a valid input; by default the replay has the input of the run.
        let null = fixture.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"input": null})).await?.ok()?;
        assert_eq!((&null["edited"], fixture.logged_message(&null["runId"]).await?.as_str()), (&json!(true), "calm null"));
        let same = fixture.owner.post(&format!("/v1/runs/{run}/replay"), &json!({})).await?.ok()?;
        assert_eq!((&same["edited"], fixture.logged_message(&same["runId"]).await?.as_str()), (&json!(false), r#"calm {"fail":2}"#));
        let fine = fixture.owner.post(&format!("/v1/runs/{}/replay", third["runId"].as_str().unwrap_or_default()), &json!({})).await?;
        fine.assert_error(409, "run_not_failed");
        Ok(())
    }

    async fn runs_and_dead_letters_are_deleted_with_their_app(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (dead_letter, run) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let runs = async || {
            let list = fixture.owner.get(&format!("/v1/workspaces/{}/runs", fixture.workspace.id)).await?.ok()?;
            let items = list["items"].as_array().context("no items")?;
            anyhow::Ok(items.iter().filter(|item| item["id"] == json!(run)).count())
        };
        assert_eq!((runs().await?, fixture.list_dead_letters("").await?.len()), (1, 1));
        fixture.owner.delete(&format!("/v1/apps/{}", fixture.app)).await?.assert_status(200);
        // Runs that cannot be read individually are in no list, not even for admins.
        for path in ["", "/explain", "/ask"] {
            fixture.owner.get(&format!("/v1/runs/{run}{path}")).await?.assert_error(404, "run_not_found");
        }
        let path = format!("/v1/dead-letters/{dead_letter}");
        fixture.owner.get(&path).await?.assert_error(404, "dead_letter_not_found");
        assert_eq!((runs().await?, fixture.list_dead_letters("").await?.len()), (0, 0));
        Ok(())
    }

    async fn a_call_with_a_valid_proof_that_could_not_run_is_kept(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let automation_path = format!("/v1/automations/{}", fixture.automation);
        fixture.owner.patch(&automation_path, &json!({"status": "paused"})).await?.ok()?;
        fixture.webhook.send(&json!({"order": 17})).await?.assert_error(409, "automation_paused");
        // Calls without a proof and calls that cannot be parsed are not kept.
        fixture.webhook.unsigned_request("application/json", "{}")?.send().await?.assert_error(401, "bad_signature");
        fixture.webhook.signed_request("{")?.send().await?.assert_error(409, "automation_paused");
        let dead_letters = fixture.list_dead_letters("state=open").await?;
        let [dead_letter] = dead_letters.as_slice() else { anyhow::bail!("{dead_letters:?}") };
        assert_eq!((&dead_letter["kind"], &dead_letter["reason"], &dead_letter["runId"]), (&json!("delivery"), &json!("automation_paused"), &Value::Null));
        assert!(dead_letter["deliveryId"].is_string() && dead_letter["version"]["number"] == 1, "{dead_letter}");
        assert_eq!(dead_letter["preview"], r#"{"order":17}"#);
        // A pause does not hold back replays.
        let replayed = fixture.replay(dead_letter["id"].as_str().context("no id")?, json!({"version": "original"})).await?;
        assert_eq!(fixture.logged_message(&replayed["runId"]).await?, r#"webhook {"order":17}"#);

        // A repeated call leaves only one dead letter.
        let (time, key) = (unix_time(), http::HeaderName::from_static("idempotency-key"));
        for later in 0..3 {
            let call = fixture.webhook.signed_request_at(time + later, r#"{"order":18}"#)?.header(key.clone(), "order-18")?;
            call.send().await?.assert_error(409, "automation_paused");
        }
        let dead_letters = fixture.list_dead_letters("state=open").await?;
        assert!(dead_letters.len() == 1 && dead_letters[0]["attempt"] == 3, "{dead_letters:?}");
        fixture.owner.patch(&automation_path, &json!({"status": "active"})).await?.ok()?;
        fixture.owner.patch(&format!("{automation_path}/webhook"), &json!({"enabled": false})).await?.ok()?;
        fixture.webhook.send(&json!(3)).await?.assert_error(403, "hook_disabled");
        assert_eq!(fixture.list_dead_letters("state=open").await?[0]["reason"], "hook_disabled");
        Ok(())
    }

    /// A refused call runs once: by its sender's next retry, or by the replay of its dead letter.
    async fn a_call_that_is_both_retried_and_replayed_runs_once(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let automation_path = format!("/v1/automations/{}", fixture.automation);
        let key = http::HeaderName::from_static("idempotency-key");
        let mut later = unix_time();
        let mut send = async |name: &str| {
            later += 1;
            let call = fixture.webhook.signed_request_at(later, &format!(r#"{{"order":"{name}"}}"#))?;
            call.header(key.clone(), name)?.send().await
        };
        fixture.owner.patch(&automation_path, &json!({"status": "paused"})).await?.ok()?;
        for name in ["sent", "replayed"] {
            send(name).await?.assert_error(409, "automation_paused");
        }
        let dead_letters = fixture.list_dead_letters("state=open").await?;
        let id_of = |name: &str| {
            let dead_letter = dead_letters.iter().find(|dead_letter| dead_letter["preview"] == format!(r#"{{"order":"{name}"}}"#));
            dead_letter.and_then(|dead_letter| dead_letter["id"].as_str()).context("no dead letter")
        };
        fixture.owner.patch(&automation_path, &json!({"status": "active"})).await?.ok()?;

        let run = send("sent").await?.assert_status(202).string_at("/runId")?;
        let replay = format!("/v1/dead-letters/{}/replay", id_of("sent")?);
        let refused = fixture.owner.post(&replay, &json!({})).await?;
        refused.assert_error(409, "call_accepted");
        let body: Value = refused.json()?;
        assert!(body["error"]["message"].as_str().is_some_and(|message| message.contains(&run)), "{refused}");
        let edited = fixture.owner.post(&replay, &json!({"payload": {"order": "another"}})).await?;
        edited.assert_error(409, "call_accepted");
        fixture.owner.post(&replay.replace("/replay", "/discard"), &json!({})).await?.ok()?;

        let run = fixture.replay(id_of("replayed")?, json!({})).await?["runId"].clone();
        assert_eq!(send("replayed").await?.string_at("/runId")?, run);
        assert_eq!(fixture.logged_message(&run).await?, r#"webhook {"order":"replayed"}"#);
        let runs = fixture.owner.get(&format!("/v1/workspaces/{}/runs", fixture.workspace.id)).await?.ok()?;
        assert_eq!(runs["items"].as_array().map(Vec::len), Some(2), "{runs}");
        Ok(())
    }

    async fn up_to_fifty_dead_letters_are_resolved_at_once(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let bulk = format!("/v1/workspaces/{}/dead-letters/bulk", fixture.workspace.id);
        let (one, _) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let (two, _) = fixture.create_dead_letter(json!({"fail": 2})).await?;
        let nothing = "dl_00000000000e00800000000000";
        let reply = fixture.owner.post(&bulk, &json!({"action": "discard", "ids": [one, nothing, "x", one]})).await?.ok()?;
        let results = reply["results"].as_array().context("no results")?;
        let oks: Vec<_> = results.iter().map(|result| (result["ok"] == true, result["error"]["code"].as_str().unwrap_or_default())).collect();
        let expected = [(true, ""), (false, "dead_letter_not_found"), (false, "dead_letter_not_found"), (false, "dead_letter_settled")];
        assert_eq!(oks, expected);
        let read = fixture.owner.get(&format!("/v1/dead-letters/{one}")).await?.ok()?;
        assert_eq!((&read["state"], &read["replayRunId"]), (&json!("discarded"), &Value::Null));
        fixture.publish_version(ALWAYS_SUCCEEDS).await?;
        let reply = fixture.owner.post(&bulk, &json!({"action": "replay", "ids": [two]})).await?.ok()?;
        assert_eq!(fixture.logged_message(&reply["results"][0]["runId"]).await?, r#"calm {"fail":2}"#);
        assert_eq!(fixture.open_count().await?, 0);
        for bad in [json!({"action": "replay", "ids": []}), json!({"action": "replay", "ids": vec!["x"; 51]}), json!({"action": "eat", "ids": ["x"]})] {
            fixture.owner.post(&bulk, &bad).await?.assert_error(400, "invalid_request");
        }
        fixture.owner.post(&bulk, &json!({"action": "replay", "ids": vec!["x"; 50]})).await?.ok()?;
        Ok(())
    }

    async fn a_replay_needs_an_active_app_and_an_editor(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (dead_letter, run) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let (path, app) = (format!("/v1/dead-letters/{dead_letter}"), format!("/v1/apps/{}", fixture.app));
        fixture.owner.put(&format!("{app}/access"), &json!({"sharing": "team", "people": []})).await?.ok()?;
        let member = fixture.owner.add_member(&fixture.workspace.id, "member").await?;
        assert_eq!(member.get(&path).await?.ok()?["canManage"], false);
        member.post(&format!("{path}/replay"), &json!({})).await?.assert_error(403, "forbidden");
        member.post(&format!("/v1/runs/{run}/replay"), &json!({})).await?.assert_error(403, "forbidden");
        let bulk = format!("/v1/workspaces/{}/dead-letters/bulk", fixture.workspace.id);
        let reply = member.post(&bulk, &json!({"action": "discard", "ids": [dead_letter]})).await?.ok()?;
        assert_eq!(reply["results"][0]["error"]["code"], "forbidden");
        let viewer = fixture.owner.add_member(&fixture.workspace.id, "viewer").await?;
        viewer.get(&path).await?.assert_error(404, "dead_letter_not_found");
        let list = viewer.get(&format!("/v1/workspaces/{}/dead-letters", fixture.workspace.id)).await?.ok()?;
        assert_eq!(list["items"], json!([]));

        let token = fixture.owner.with_bearer(&fixture.owner.create_token(&fixture.workspace.id, &["write"]).await?);
        token.post(&format!("{path}/discard"), &json!({})).await?.assert_error(403, "console_only");
        let discard = json!({"action": "discard", "ids": [dead_letter]});
        token.post(&bulk, &discard).await?.assert_error(403, "console_only");
        assert_eq!(fixture.owner.get(&path).await?.ok()?["state"], "open");
        fixture.owner.patch(&app, &json!({"paused": true})).await?.ok()?;
        token.post(&format!("{path}/replay"), &json!({})).await?.assert_error(409, "not_runnable");
        fixture.owner.patch(&app, &json!({"paused": false})).await?.ok()?;
        let large = json!({"payload": "x".repeat(256 << 10)});
        token.post(&format!("{path}/replay"), &large).await?.assert_error(400, "invalid_request");
        token.post(&format!("{path}/replay"), &json!({"version": "newest"})).await?.assert_error(400, "invalid_request");
        token.post(&format!("{path}/replay"), &json!({"payload": 1})).await?.ok()?;
        Ok(())
    }

    async fn an_agent_finds_and_replays_a_dead_letter(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (dead_letter, _) = fixture.create_dead_letter(json!({"fail": true})).await?;
        let agent = async |access: &str| -> Result<Client> {
            let tokens = fixture.owner.register_agent("Agent").await?.sign_in(&fixture.owner, &fixture.workspace.id, access).await?;
            Ok(fixture.owner.with_bearer(&tokens.access))
        };
        let call = async |agent: &Client, name: &str, arguments: Value| {
            agent.mcp("tools/call", &json!({"name": name, "arguments": arguments})).await
        };
        let reader = agent("read").await?;
        let list = call(&reader, "list_dead_letters", json!({})).await?.ok()?;
        assert_eq!(list["result"]["structuredContent"]["items"][0]["id"], json!(dead_letter));
        let read = call(&reader, "get_dead_letter", json!({"deadLetterId": dead_letter})).await?.ok()?;
        assert_eq!(read["result"]["structuredContent"]["payload"], json!({"fail": true}));
        call(&reader, "replay_dead_letter", json!({"deadLetterId": dead_letter})).await?.assert_status(403);
        let writer = agent("write").await?;
        let replayed = call(&writer, "replay_dead_letter", json!({"deadLetterId": dead_letter, "payload": {"by": "agent"}})).await?.ok()?;
        let run = &replayed["result"]["structuredContent"]["runId"];
        assert_eq!(fixture.logged_message(run).await?, r#"webhook {"by":"agent"}"#);
        Ok(())
    }
}
