//! Failed runs and refused calls that are kept, and run again.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Hook, Road, Server, Workspace, unix_time};

/// Fails when it is told to; says what it was given.
const MOODY: &str = "export default { async scheduled(event) { \
    if (event.data?.fail) throw new Error('as told'); \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`) } }";
const CALM: &str =
    "export default { async scheduled(event) { console.log(`calm ${JSON.stringify(event.data)}`) } }";

struct Stage {
    owner: Client,
    workspace: Workspace,
    app: String,
    road: String,
    hook: Hook,
}

impl Stage {
    async fn set(server: &Server) -> Result<Self> {
        let Road { owner, workspace, app, id: road } = Road::make(server, MOODY).await?;
        let hook = owner.set_hook(&road, "signed").await?;
        Ok(Self { owner, workspace, app, road, hook })
    }

    async fn letters(&self, query: &str) -> Result<Vec<Value>> {
        let path = format!("/v1/workspaces/{}/dead-letters?{query}", self.workspace.id);
        let list = self.owner.get(&path).await?.ok()?;
        Ok(list["items"].as_array().context("items")?.clone())
    }

    /// The letter of a call that failed; its id and its run.
    async fn failure(&self, input: Value) -> Result<(String, String)> {
        let run = self.hook.send(&input).await?.string("/runId")?;
        assert_eq!(self.owner.end_of(&run).await?["status"], "failed");
        let letters = self.letters("state=open").await?;
        let letter =
            letters.iter().find(|letter| letter["runId"] == json!(run)).context("no letter of the run")?;
        Ok((letter["id"].as_str().context("an id")?.to_owned(), run))
    }

    async fn replay(&self, letter: &str, body: Value) -> Result<Value> {
        self.owner.post(&format!("/v1/dead-letters/{letter}/replay"), &body).await?.ok()
    }

    async fn open(&self) -> Result<Value> {
        let health = self.owner.get(&format!("/v1/workspaces/{}/queue-health", self.workspace.id)).await?;
        Ok(health.ok()?["deadLettersOpen"].clone())
    }

    /// What the app said in a run that succeeded.
    async fn said(&self, run: &Value) -> Result<String> {
        let run = run.as_str().context("a run")?;
        self.owner.success_of(run).await?;
        Ok(self.owner.log_of(&self.app, Some(run)).await?[0].message.clone())
    }

    async fn publish(&self, source: &str) -> Result<()> {
        let version = json!({"files": {"main.js": source}});
        self.owner.post(&format!("/v1/apps/{}/versions", self.app), &version).await?.ok().map(drop)
    }
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_run_that_failed_for_good_is_kept(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        assert_eq!(stage.open().await?, 0);
        let (letter, run) = stage.failure(json!({"fail": true, "order": "қ".repeat(300)})).await?;
        assert_eq!(stage.open().await?, 1);
        let read = stage.owner.get(&format!("/v1/dead-letters/{letter}")).await?.ok()?;
        for (field, expected) in [
            ("kind", json!("run")), ("state", json!("open")), ("appId", json!(stage.app)), ("roadId", json!(stage.road)),
            ("roadName", json!("A road")), ("trigger", json!("webhook")), ("reason", json!("app_error")),
            ("runId", json!(run)), ("deliveryId", Value::Null), ("attempt", json!(1)), ("hasPayload", json!(true)),
            ("settledAt", Value::Null), ("settledByName", Value::Null), ("replayRunId", Value::Null),
            ("canManage", json!(true)), ("payload", json!({"fail": true, "order": "қ".repeat(300)})),
        ] {
            assert_eq!(read[field], expected, "{field} of {read}");
        }
        assert_eq!(read["version"]["isCurrent"], true);
        assert!(read["message"].as_str().is_some_and(|message| message.contains("as told")), "{read}");
        assert_eq!(read["preview"].as_str().map(|preview| preview.chars().count()), Some(200));
        let bytes = json!({"fail": true, "order": "қ".repeat(300)}).to_string().len();
        assert_eq!(read["payloadBytes"], json!(bytes));
        let listed = stage.letters("").await?;
        assert!(listed.len() == 1 && listed[0].get("payload").is_none(), "{listed:?}");
        for (query, count) in [
            (format!("appId={}", stage.app), 1), (format!("automationId={}", stage.road), 1), ("kind=run".to_owned(), 1),
            ("kind=delivery".to_owned(), 0), ("state=discarded".to_owned(), 0), ("trigger=schedule".to_owned(), 0),
        ] {
            assert_eq!(stage.letters(&query).await?.len(), count, "{query}");
        }
        // What a person starts by hand is theirs to start again, and what succeeds leaves nothing.
        let manual = stage.owner.start(&stage.road, json!({"fail": true})).await?;
        assert_eq!(stage.owner.end_of(&manual).await?["status"], "failed");
        stage.owner.success_of(&stage.hook.send(&json!(1)).await?.string("/runId")?).await?;
        assert_eq!(stage.open().await?, 1);
        Ok(())
    }

    async fn a_retried_run_leaves_one_letter_at_its_end(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        stage.owner.patch(&format!("/v1/automations/{}", stage.road), &json!({"retries": 1})).await?.ok()?;
        let (letter, _) = stage.failure(json!({"fail": true})).await?;
        let read = stage.owner.get(&format!("/v1/dead-letters/{letter}")).await?.ok()?;
        assert_eq!(read["attempt"], 2);
        assert_eq!(stage.open().await?, 1);
        Ok(())
    }

    async fn a_letter_is_run_again_once(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (letter, run) = stage.failure(json!({"fail": true})).await?;
        let replayed = stage.replay(&letter, json!({"payload": {"fixed": [1]}})).await?;
        assert_eq!((&replayed["deadLetterId"], &replayed["edited"], &replayed["held"]), (&json!(letter), &json!(true), &json!(false)));
        assert_eq!(replayed["version"]["number"], 1);
        assert_eq!(stage.said(&replayed["runId"]).await?, r#"webhook {"fixed":[1]}"#);
        let ran = stage.owner.get(&format!("/v1/runs/{}", replayed["runId"].as_str().unwrap_or_default())).await?.ok()?;
        assert_eq!((&ran["replayOf"], &ran["trigger"], &ran["roadId"]), (&json!(run), &json!("webhook"), &json!(stage.road)));
        let read = stage.owner.get(&format!("/v1/dead-letters/{letter}")).await?.ok()?;
        assert_eq!((&read["state"], &read["replayRunId"]), (&json!("replayed"), &replayed["runId"]));
        assert!(read["settledAt"].is_string() && read["settledByName"].is_string(), "{read}");
        for settle in ["replay", "discard"] {
            let again = stage.owner.post(&format!("/v1/dead-letters/{letter}/{settle}"), &json!({})).await?;
            again.assert_problem(409, "dead_letter_settled");
        }
        let audit = stage.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", stage.workspace.id)).await?;
        assert!(String::from_utf8_lossy(&audit.body).contains("dead_letter.replay"));
        Ok(())
    }

    async fn many_replays_at_once_start_one_run(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (letter, _) = stage.failure(json!({"fail": true})).await?;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (owner, path) = (stage.owner.clone(), format!("/v1/dead-letters/{letter}/replay"));
            calls.spawn(async move { owner.post(&path, &json!({"payload": 1})).await });
        }
        let mut started = 0;
        for reply in calls.join_all().await {
            let reply = reply?;
            if reply.status == 200 { started += 1 } else { reply.check_problem(409, Some("dead_letter_settled"))? }
        }
        assert_eq!(started, 1);
        Ok(())
    }

    async fn a_replay_runs_the_version_that_is_asked_for(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (first, _) = stage.failure(json!({"fail": true})).await?;
        let (second, run) = stage.failure(json!({"fail": 2})).await?;
        stage.publish(CALM).await?;
        let current = stage.replay(&first, json!({})).await?;
        assert_eq!(stage.said(&current["runId"]).await?, r#"calm {"fail":true}"#);
        assert_eq!((&current["edited"], &current["version"]["number"]), (&json!(false), &json!(2)));
        // By its run, as it was: it fails again, and is kept again.
        let original = stage.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"version": "original"})).await?.ok()?;
        assert_eq!((&original["deadLetterId"], &original["version"]["number"]), (&json!(second), &json!(1)));
        assert_eq!(original["version"]["isCurrent"], false);
        let again = original["runId"].as_str().context("a run")?;
        assert_eq!(stage.owner.end_of(again).await?["status"], "failed");
        let open = stage.letters("state=open").await?;
        assert!(open.len() == 1 && open[0]["runId"] == json!(again), "{open:?}");
        // The run itself may be replayed as often as one likes.
        let third = stage.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"input": {"n": 1}})).await?.ok()?;
        assert_eq!((&third["deadLetterId"], &third["edited"]), (&Value::Null, &json!(true)));
        assert_eq!(stage.said(&third["runId"]).await?, r#"calm {"n":1}"#);
        // Null is a payload, as a webhook may send it; what the run was given is what stands when nothing is said.
        let null = stage.owner.post(&format!("/v1/runs/{run}/replay"), &json!({"input": null})).await?.ok()?;
        assert_eq!((&null["edited"], stage.said(&null["runId"]).await?.as_str()), (&json!(true), "calm null"));
        let same = stage.owner.post(&format!("/v1/runs/{run}/replay"), &json!({})).await?.ok()?;
        assert_eq!((&same["edited"], stage.said(&same["runId"]).await?.as_str()), (&json!(false), r#"calm {"fail":2}"#));
        let fine = stage.owner.post(&format!("/v1/runs/{}/replay", third["runId"].as_str().unwrap_or_default()), &json!({})).await?;
        fine.assert_problem(409, "run_not_failed");
        Ok(())
    }

    async fn runs_and_letters_of_a_deleted_app_are_gone_with_it(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (letter, run) = stage.failure(json!({"fail": true})).await?;
        let runs = async || {
            let list = stage.owner.get(&format!("/v1/workspaces/{}/runs", stage.workspace.id)).await?.ok()?;
            let items = list["items"].as_array().context("items")?;
            anyhow::Ok(items.iter().filter(|item| item["id"] == json!(run)).count())
        };
        assert_eq!((runs().await?, stage.letters("").await?.len()), (1, 1));
        stage.owner.delete(&format!("/v1/apps/{}", stage.app)).await?.assert_status(200);
        // What cannot be looked at one by one is in no list, for admins either.
        for path in ["", "/explain", "/ask"] {
            stage.owner.get(&format!("/v1/runs/{run}{path}")).await?.assert_problem(404, "run_not_found");
        }
        let path = format!("/v1/dead-letters/{letter}");
        stage.owner.get(&path).await?.assert_problem(404, "dead_letter_not_found");
        assert_eq!((runs().await?, stage.letters("").await?.len()), (0, 0));
        Ok(())
    }

    async fn a_proven_call_that_could_not_run_is_kept(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let road = format!("/v1/automations/{}", stage.road);
        stage.owner.patch(&road, &json!({"status": "paused"})).await?.ok()?;
        stage.hook.send(&json!({"order": 17})).await?.assert_problem(409, "automation_paused");
        // Neither a stranger's call nor one that cannot be read is.
        stage.hook.call("application/json", "{}")?.send().await?.assert_problem(401, "bad_signature");
        stage.hook.signed("{")?.send().await?.assert_problem(409, "automation_paused");
        let letters = stage.letters("state=open").await?;
        let [letter] = letters.as_slice() else { anyhow::bail!("{letters:?}") };
        assert_eq!((&letter["kind"], &letter["reason"], &letter["runId"]), (&json!("delivery"), &json!("automation_paused"), &Value::Null));
        assert!(letter["deliveryId"].is_string() && letter["version"]["number"] == 1, "{letter}");
        assert_eq!(letter["preview"], r#"{"order":17}"#);
        // A pause does not hold back what somebody runs again.
        let replayed = stage.replay(letter["id"].as_str().context("an id")?, json!({"version": "original"})).await?;
        assert_eq!(stage.said(&replayed["runId"]).await?, r#"webhook {"order":17}"#);

        // The same call again is the same letter.
        let (time, key) = (unix_time(), http::HeaderName::from_static("idempotency-key"));
        for later in 0..3 {
            let call = stage.hook.signed_at(time + later, r#"{"order":18}"#)?.header(key.clone(), "order-18")?;
            call.send().await?.assert_problem(409, "automation_paused");
        }
        let letters = stage.letters("state=open").await?;
        assert!(letters.len() == 1 && letters[0]["attempt"] == 3, "{letters:?}");
        stage.owner.patch(&road, &json!({"status": "active"})).await?.ok()?;
        stage.owner.patch(&format!("{road}/webhook"), &json!({"enabled": false})).await?.ok()?;
        stage.hook.send(&json!(3)).await?.assert_problem(403, "hook_disabled");
        assert_eq!(stage.letters("state=open").await?[0]["reason"], "hook_disabled");
        Ok(())
    }

    /// A refused call runs once: as its sender's next try, or as the replay of its letter.
    async fn a_call_runs_once_though_it_is_sent_again_and_replayed(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let road = format!("/v1/automations/{}", stage.road);
        let key = http::HeaderName::from_static("idempotency-key");
        let mut later = unix_time();
        let mut send = async |name: &str| {
            later += 1;
            let call = stage.hook.signed_at(later, &format!(r#"{{"order":"{name}"}}"#))?;
            call.header(key.clone(), name)?.send().await
        };
        stage.owner.patch(&road, &json!({"status": "paused"})).await?.ok()?;
        for name in ["sent", "replayed"] {
            send(name).await?.assert_problem(409, "automation_paused");
        }
        let letters = stage.letters("state=open").await?;
        let id_of = |name: &str| {
            let of = letters.iter().find(|letter| letter["preview"] == format!(r#"{{"order":"{name}"}}"#));
            of.and_then(|letter| letter["id"].as_str()).context("a letter")
        };
        stage.owner.patch(&road, &json!({"status": "active"})).await?.ok()?;

        let run = send("sent").await?.assert_status(202).string("/runId")?;
        let replay = format!("/v1/dead-letters/{}/replay", id_of("sent")?);
        let refused = stage.owner.post(&replay, &json!({})).await?;
        refused.assert_problem(409, "call_accepted");
        let said: Value = refused.json()?;
        assert!(said["error"]["message"].as_str().is_some_and(|said| said.contains(&run)), "{refused}");
        let edited = stage.owner.post(&replay, &json!({"payload": {"order": "another"}})).await?;
        edited.assert_problem(409, "call_accepted");
        stage.owner.post(&replay.replace("/replay", "/discard"), &json!({})).await?.ok()?;

        let run = stage.replay(id_of("replayed")?, json!({})).await?["runId"].clone();
        assert_eq!(send("replayed").await?.string("/runId")?, run);
        assert_eq!(stage.said(&run).await?, r#"webhook {"order":"replayed"}"#);
        let runs = stage.owner.get(&format!("/v1/workspaces/{}/runs", stage.workspace.id)).await?.ok()?;
        assert_eq!(runs["items"].as_array().map(Vec::len), Some(2), "{runs}");
        Ok(())
    }

    async fn letters_are_settled_fifty_at_once(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let bulk = format!("/v1/workspaces/{}/dead-letters/bulk", stage.workspace.id);
        let (one, _) = stage.failure(json!({"fail": true})).await?;
        let (two, _) = stage.failure(json!({"fail": 2})).await?;
        let nothing = "dl_00000000000e00800000000000";
        let reply = stage.owner.post(&bulk, &json!({"action": "discard", "ids": [one, nothing, "x", one]})).await?.ok()?;
        let results = reply["results"].as_array().context("results")?;
        let oks: Vec<_> = results.iter().map(|result| (result["ok"] == true, result["error"]["code"].as_str().unwrap_or_default())).collect();
        let expected = [(true, ""), (false, "dead_letter_not_found"), (false, "dead_letter_not_found"), (false, "dead_letter_settled")];
        assert_eq!(oks, expected);
        let read = stage.owner.get(&format!("/v1/dead-letters/{one}")).await?.ok()?;
        assert_eq!((&read["state"], &read["replayRunId"]), (&json!("discarded"), &Value::Null));
        stage.publish(CALM).await?;
        let reply = stage.owner.post(&bulk, &json!({"action": "replay", "ids": [two]})).await?.ok()?;
        assert_eq!(stage.said(&reply["results"][0]["runId"]).await?, r#"calm {"fail":2}"#);
        assert_eq!(stage.open().await?, 0);
        for bad in [json!({"action": "replay", "ids": []}), json!({"action": "replay", "ids": vec!["x"; 51]}), json!({"action": "eat", "ids": ["x"]})] {
            stage.owner.post(&bulk, &bad).await?.assert_problem(400, "invalid_request");
        }
        stage.owner.post(&bulk, &json!({"action": "replay", "ids": vec!["x"; 50]})).await?.ok()?;
        Ok(())
    }

    async fn a_replay_needs_an_app_that_runs_and_an_editor(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (letter, run) = stage.failure(json!({"fail": true})).await?;
        let (path, app) = (format!("/v1/dead-letters/{letter}"), format!("/v1/apps/{}", stage.app));
        stage.owner.put(&format!("{app}/access"), &json!({"sharing": "team", "people": []})).await?.ok()?;
        let member = stage.owner.bring(&stage.workspace.id, "member").await?;
        assert_eq!(member.get(&path).await?.ok()?["canManage"], false);
        member.post(&format!("{path}/replay"), &json!({})).await?.assert_problem(403, "forbidden");
        member.post(&format!("/v1/runs/{run}/replay"), &json!({})).await?.assert_problem(403, "forbidden");
        let bulk = format!("/v1/workspaces/{}/dead-letters/bulk", stage.workspace.id);
        let reply = member.post(&bulk, &json!({"action": "discard", "ids": [letter]})).await?.ok()?;
        assert_eq!(reply["results"][0]["error"]["code"], "forbidden");
        let viewer = stage.owner.bring(&stage.workspace.id, "viewer").await?;
        viewer.get(&path).await?.assert_problem(404, "dead_letter_not_found");
        let list = viewer.get(&format!("/v1/workspaces/{}/dead-letters", stage.workspace.id)).await?.ok()?;
        assert_eq!(list["items"], json!([]));

        let token = stage.owner.with_bearer(&stage.owner.make_token(&stage.workspace.id, &["write"]).await?);
        token.post(&format!("{path}/discard"), &json!({})).await?.assert_problem(403, "console_only");
        stage.owner.patch(&app, &json!({"paused": true})).await?.ok()?;
        token.post(&format!("{path}/replay"), &json!({})).await?.assert_problem(409, "not_runnable");
        stage.owner.patch(&app, &json!({"paused": false})).await?.ok()?;
        let large = json!({"payload": "x".repeat(256 << 10)});
        token.post(&format!("{path}/replay"), &large).await?.assert_problem(400, "invalid_request");
        token.post(&format!("{path}/replay"), &json!({"version": "newest"})).await?.assert_problem(400, "invalid_request");
        token.post(&format!("{path}/replay"), &json!({"payload": 1})).await?.ok()?;
        Ok(())
    }

    async fn an_agent_finds_and_replays_a_letter(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let (letter, _) = stage.failure(json!({"fail": true})).await?;
        let agent = async |access: &str| -> Result<Client> {
            let tokens = stage.owner.register_agent("Agent").await?.sign_in(&stage.owner, &stage.workspace.id, access).await?;
            Ok(stage.owner.with_bearer(&tokens.access))
        };
        let call = async |agent: &Client, name: &str, arguments: Value| {
            agent.mcp("tools/call", &json!({"name": name, "arguments": arguments})).await
        };
        let reader = agent("read").await?;
        let list = call(&reader, "list_dead_letters", json!({})).await?.ok()?;
        assert_eq!(list["result"]["structuredContent"]["items"][0]["id"], json!(letter));
        let read = call(&reader, "get_dead_letter", json!({"deadLetterId": letter})).await?.ok()?;
        assert_eq!(read["result"]["structuredContent"]["payload"], json!({"fail": true}));
        call(&reader, "replay_dead_letter", json!({"deadLetterId": letter})).await?.assert_status(403);
        let writer = agent("write").await?;
        let replayed = call(&writer, "replay_dead_letter", json!({"deadLetterId": letter, "payload": {"by": "agent"}})).await?.ok()?;
        let run = &replayed["result"]["structuredContent"]["runId"];
        assert_eq!(stage.said(run).await?, r#"webhook {"by":"agent"}"#);
        Ok(())
    }
}
