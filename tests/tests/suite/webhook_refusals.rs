//! Calls of webhooks that are refused despite a valid proof, their limits, and the deliveries that the console shows.

use anyhow::{Context as _, Result, bail, ensure};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Reply, Server, Webhook, Workspace, unix_time};

const SIGNATURE: HeaderName = HeaderName::from_static("service-signature");

const DOES_NOTHING: &str = "export default { async scheduled() {} }";

/// An app with an automation and its webhook.
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
            AutomationFixture::create(server, DOES_NOTHING).await?;
        let webhook = owner.configure_webhook(&automation, "signed").await?;
        Ok(Self { owner, workspace, app, automation, webhook })
    }

    /// Sends a signed call with a unique body.
    async fn call(&self, number: u32) -> Result<Reply> {
        self.webhook.send(&json!({"number": number})).await
    }

    fn webhook_path(&self) -> String {
        format!("/v1/automations/{}/webhook", self.automation)
    }

    async fn update_webhook(&self, change: Value) -> Result<()> {
        self.owner.patch(&self.webhook_path(), &change).await?.ok().map(drop)
    }

    /// Returns the last deliveries, newest first: the code or status of each, and true if it was a test.
    async fn deliveries(&self) -> Result<Vec<(String, bool)>> {
        let reply = self.owner.get(&self.webhook_path()).await?;
        let body = reply.ok()?;
        let deliveries = body["deliveries"].as_array().with_context(|| reply.to_string())?;
        deliveries
            .iter()
            .map(|delivery| {
                let result =
                    delivery["code"].as_str().or(delivery["status"].as_str()).context("no status")?;
                Ok((result.to_owned(), delivery["sample"].as_bool().context("no sample")?))
            })
            .collect()
    }
}

#[track_caller]
fn assert_retry_after(reply: &Reply) {
    let wait = reply.header("retry-after").and_then(|wait| wait.parse::<u64>().ok());
    assert!(wait.is_some_and(|wait| wait >= 1), "no Retry-After: {reply}");
}

/// Asserts a 429 with the time to wait and the limit that was exceeded.
fn assert_rate_limited(reply: &Reply) {
    assert_retry_after(reply.assert_error(429, "rate_limited"));
    let number = |name: &str| reply.header(name).and_then(|value| value.parse::<u64>().ok());
    assert_eq!(number("ratelimit-remaining"), Some(0), "{reply}");
    assert_eq!(number("ratelimit-reset"), number("retry-after"), "{reply}");
    assert!(number("ratelimit-limit").is_some_and(|limit| limit >= 1), "{reply}");
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_body_must_match_its_content_type_and_size_limit(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "none").await?;
        for kind in [
            "text/plain",
            "application/jsonp",
            "multipart/form-data; boundary=x",
        ] {
            let reply = webhook.unsigned_request(kind, "{}")?.send().await?;
            reply.check_error(415, Some("unsupported_media_type")).with_context(|| kind.to_owned())?;
        }
        for kind in ["application/cloudevents+json; charset=utf-8", "text/json", "application/vnd.api+json"] {
            webhook.unsigned_request(kind, r#"{"specversion": "1.0"}"#)?.send().await?.assert_status(202);
        }
        for coding in ["gzip", "br", "identity, gzip"] {
            let coded = webhook.unsigned_request("application/json", "{}")?.header(http::header::CONTENT_ENCODING, coding)?;
            let refused = coded.send().await?;
            refused.assert_error(415, "unsupported_media_type");
            assert!(String::from_utf8_lossy(&refused.body).contains("Content-Encoding"), "{refused}");
        }
        let untyped = webhook.unsigned_request("x/y", "{}")?.without_header(&http::header::CONTENT_TYPE);
        untyped.send().await?.assert_error(415, "unsupported_media_type");

        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for bad in ["{", "{} {}", "{'a': 1}", "nul", "[1,]", &nested(129), &"[".repeat(200_000)]
        {
            let reply = webhook.unsigned_request("application/json", bad)?.send().await?;
            reply
                .check_error(400, Some("invalid_body"))
                .with_context(|| bad.chars().take(40).collect::<String>())?;
        }
        webhook.unsigned_request("application/json", vec![b'"', 0xff, b'"'])?
            .send()
            .await?
            .assert_error(400, "invalid_body");
        let deep = webhook.unsigned_request("application/json", nested(128))?.send().await?;
        fixture.owner.wait_for_success(&deep.string_at("/runId")?).await?;

        let text = |size: usize| format!("\"{}\"", "a".repeat(size - 2));
        let largest = webhook.unsigned_request("application/json", text(256 << 10))?.send().await?;
        largest.assert_status(202);
        fixture.owner.wait_for_success(&largest.string_at("/runId")?).await?;
        webhook.unsigned_request("application/json", text((256 << 10) + 1))?.send().await?.assert_error(413, "too_large");
        Ok(())
    }

    async fn calls_that_prove_nothing_are_counted_and_not_listed(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = fixture.webhook_path();
        let read = || async { fixture.owner.get(&path).await };
        assert_eq!(read().await?.ok()?["refused"], Value::Null);
        let tag = read().await?.header("etag").map(str::to_owned);
        fixture.webhook.unsigned_request("application/json", "{}")?.send().await?.assert_error(401, "bad_signature");
        let refused = tests::eventually("the call is counted", async || {
            let refused = read().await?.ok()?["refused"].clone();
            ensure!(!refused.is_null(), "not yet");
            Ok(refused)
        })
        .await?;
        assert_eq!((&refused["calls"], &refused["code"]), (&json!(1), &json!("bad_signature")));
        assert_eq!(read().await?.ok()?["deliveries"], json!([]), "what proves nothing leaves no delivery");
        assert_eq!(read().await?.header("etag").map(str::to_owned), tag, "a count is no change of the settings");
        // A test of the console is no call of a sender.
        fixture.owner.post(&format!("{path}/test"), &json!({})).await?.ok()?;
        Ok(())
    }

    async fn a_webhook_that_is_off_accepts_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.update_webhook(json!({"enabled": false})).await?;
        fixture.call(1).await?.assert_error(403, "hook_disabled");
        // A sender without a valid proof does not learn that it is off.
        let unsigned = fixture.webhook.unsigned_request("application/json", "{}")?.send().await?;
        unsigned.assert_error(401, "bad_signature");
        fixture.update_webhook(json!({"enabled": true})).await?;
        fixture.call(2).await?.assert_status(202);
        Ok(())
    }

    async fn a_new_secret_revokes_the_old_one_at_once(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.call(1).await?.assert_status(202);
        let renewed = fixture.owner.rotate_webhook_secret(&fixture.automation).await?;
        assert_ne!(renewed.secret, fixture.webhook.secret);
        fixture.call(2).await?.assert_error(401, "bad_signature");
        renewed.send(&json!(3)).await?.assert_status(202);

        let same = fixture.owner.put(&fixture.webhook_path(), &json!({"mode": "signed"})).await?;
        assert_eq!(same.ok()?["secret"], Value::Null);
        renewed.send(&json!(4)).await?.assert_status(202);

        let other = json!({"mode": "token"});
        fixture.owner.put(&fixture.webhook_path(), &other).await?.assert_error(409, "confirmation_needed");
        renewed.send(&json!(5)).await?.assert_status(202);
        let token = fixture.owner.configure_webhook(&fixture.automation, "token").await?;
        assert_eq!(token.path, renewed.path, "the URL must not change");
        renewed.send(&json!(6)).await?.assert_error(401, "bad_token");

        // The secret is shown only once.
        let shown = fixture.owner.get(&fixture.webhook_path()).await?;
        let text = String::from_utf8_lossy(&shown.body).into_owned();
        assert!(!text.contains(&token.secret), "{shown}");
        let hint = shown.string_at("/hint")?;
        assert!(hint.starts_with("qwt_") && token.secret.ends_with(&hint[hint.len() - 4..]), "{hint}");
        Ok(())
    }

    async fn calls_of_a_paused_automation_or_app_are_conflicts(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (automation_path, app) = (format!("/v1/automations/{}", fixture.automation), format!("/v1/apps/{}", fixture.app));
        for status in ["paused", "draft"] {
            fixture.owner.patch(&automation_path, &json!({"status": status})).await?.ok()?;
            let refused = fixture.call(1).await?;
            assert_retry_after(refused.assert_error(409, "automation_paused"));
        }
        fixture.owner.patch(&automation_path, &json!({"status": "active"})).await?.ok()?;
        fixture.owner.patch(&app, &json!({"paused": true})).await?.ok()?;
        let refused = fixture.call(2).await?;
        assert_retry_after(refused.assert_error(409, "not_runnable"));
        fixture.owner.patch(&app, &json!({"paused": false})).await?.ok()?;
        fixture.call(3).await?.assert_status(202);
        // A refused call does not use its signature up.
        let time = unix_time();
        fixture.owner.patch(&automation_path, &json!({"status": "paused"})).await?.ok()?;
        fixture.webhook.signed_request_at(time, "[4]")?.send().await?.assert_error(409, "automation_paused");
        fixture.owner.patch(&automation_path, &json!({"status": "active"})).await?.ok()?;
        fixture.webhook.signed_request_at(time, "[4]")?.send().await?.assert_status(202);

        let draft = json!({"name": "A draft"});
        let draft = fixture.owner.post(&format!("/v1/workspaces/{}/apps", fixture.workspace.id), &draft).await?;
        let automation = fixture.owner.create_automation(&fixture.workspace.id, &draft.string_at("/id")?, "webhook", 0).await?;
        let webhook = fixture.owner.configure_webhook(&automation, "signed").await?;
        webhook.send(&json!(5)).await?.assert_error(409, "not_runnable");
        Ok(())
    }

    /// A repeated call is recognised whatever has happened to the webhook since it was accepted, and leaves no dead
    /// letter.
    async fn repeated_calls_are_recognised_while_the_webhook_cannot_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let (automation_path, app) = (format!("/v1/automations/{}", fixture.automation), format!("/v1/apps/{}", fixture.app));
        let version = |trigger: &str| {
            json!({
                "files": {"main.js": DOES_NOTHING},
                "manifest": {
                    "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                    "triggers": [{"type": trigger}],
                },
            })
        };
        let versions = format!("{app}/versions");
        let key = |key: &str, body: &str| {
            fixture.webhook.signed_request(body)?.header(HeaderName::from_static("idempotency-key"), key)
        };
        let first = key("order-1", "[1]")?.send().await?;
        first.assert_status(202);
        let time = unix_time();
        let recorded = fixture.webhook.signed_request_at(time, "[2]")?.send().await?;
        recorded.assert_status(202);
        fixture.owner.wait_for_success(&first.string_at("/runId")?).await?;
        fixture.owner.wait_for_success(&recorded.string_at("/runId")?).await?;

        for (what, code) in [
            ("switched off", "hook_disabled"),
            ("paused", "automation_paused"),
            ("app paused", "not_runnable"),
            ("undeclared", "trigger_not_declared"),
        ] {
            let is_off = what == "switched off";
            fixture.update_webhook(json!({"enabled": !is_off})).await?;
            let status = if what == "paused" { "paused" } else { "active" };
            fixture.owner.patch(&automation_path, &json!({"status": status})).await?.ok()?;
            fixture.owner.patch(&app, &json!({"paused": what == "app paused"})).await?.ok()?;
            let trigger = if what == "undeclared" { "manual" } else { "webhook" };
            fixture.owner.post(&versions, &version(trigger)).await?.ok()?;

            let again = key("order-1", "[1]")?.send().await?;
            again.assert_status(202);
            assert_eq!(again.string_at("/runId")?, first.string_at("/runId")?, "{what}");
            assert_eq!(again.header("idempotent-replayed"), Some("true"), "{what}: {again}");
            let replayed = fixture.webhook.signed_request_at(time, "[2]")?.send().await?;
            replayed.check_error(409, Some("replayed")).with_context(|| what.to_owned())?;
            // A new call is refused.
            let fresh = key(code, "[3]")?.send().await?;
            fresh.check_error(if code == "hook_disabled" { 403 } else { 409 }, Some(code))?;
        }
        let dead_letters = fixture.owner.get(&format!("/v1/workspaces/{}/dead-letters", fixture.workspace.id)).await?;
        let dead_letters = dead_letters.ok()?["items"].as_array().context("no items")?.len();
        assert_eq!(dead_letters, 4, "one for each new call, none for a repeated or replayed call");
        Ok(())
    }

    /// A test call is signed as a sender's, and is audited whatever its result.
    async fn a_test_call_is_signed_and_audited(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let test = format!("{}/test", fixture.webhook_path());
        let rows = async || -> Result<Vec<Value>> {
            let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", fixture.workspace.id)).await?;
            let rows = audit.ok()?["items"].as_array().context("no items")?.clone();
            Ok(rows.into_iter().filter(|row| row["action"] == "webhook.test").collect())
        };
        for (number, mode) in (1..).zip(["signed", "code_host", "token", "none"]) {
            if mode != "signed" {
                fixture.owner.configure_webhook(&fixture.automation, mode).await?;
            }
            let tested = fixture.owner.post(&test, &json!({"body": null})).await?;
            fixture.owner.wait_for_success(&tested.string_at("/runId")?).await?;
            let found = rows().await?;
            assert_eq!(found.len(), number, "{found:?}");
            assert_eq!(found[0]["detail"]["mode"], mode, "{found:?}");
            assert_eq!(found[0]["detail"]["hint"].is_string(), mode != "none", "{found:?}");
        }
        // Two tests in one second count as two, and a refused one is reported and audited.
        fixture.owner.configure_webhook(&fixture.automation, "signed").await?;
        for _ in 0..3 {
            fixture.owner.post(&test, &json!({})).await?.assert_status(200);
        }
        fixture.update_webhook(json!({"enabled": false})).await?;
        fixture.owner.post(&test, &json!({})).await?.assert_error(403, "hook_disabled");
        fixture.update_webhook(json!({"enabled": true})).await?;
        assert_eq!(rows().await?.len(), 8);
        assert_eq!(fixture.deliveries().await?[0], ("hook_disabled".to_owned(), true));
        // The test reports a secret that cannot be read. The revision changes, so that no cached state hides it.
        server.execute_sql("UPDATE webhooks SET secret_sealed = 'broken', revision = revision + 1").await?;
        fixture.owner.post(&test, &json!({})).await?.assert_error(503, "hook_unreadable");
        assert_eq!(rows().await?.len(), 9);
        Ok(())
    }

    async fn an_app_must_declare_the_trigger(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let version = |triggers: Value| {
            json!({
                "files": {"main.js": DOES_NOTHING},
                "manifest": {
                    "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
                    "triggers": triggers,
                },
            })
        };
        let path = format!("/v1/apps/{}/versions", fixture.app);
        fixture.owner.post(&path, &version(json!([{"type": "manual"}]))).await?.ok()?;
        fixture.call(1).await?.assert_error(409, "trigger_not_declared");
        fixture.owner.post(&path, &version(json!([{"type": "webhook"}]))).await?.ok()?;
        fixture.call(2).await?.assert_status(202);
        Ok(())
    }

    async fn the_run_quota_of_the_plan_is_enforced(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        server.run_admin(&["set-plan", &fixture.workspace.id, "free"]).await?;
        let mut accepted = 0;
        for batch in 0..30 {
            let mut calls = tokio::task::JoinSet::new();
            for number in 0..50 {
                let webhook = fixture.webhook.clone();
                calls.spawn(async move { webhook.send(&json!([batch, number])).await });
            }
            let mut refused = None;
            for reply in calls.join_all().await {
                let reply = reply?;
                if reply.status == 202 { accepted += 1 } else { refused = Some(reply) }
            }
            if let Some(refused) = refused {
                refused.assert_error(409, "quota_reached");
                assert_eq!(accepted, 1_100);
                assert_eq!(fixture.deliveries().await?[0].0, "quota_reached");
                return Ok(());
            }
        }
        bail!("{accepted} calls were accepted although the plan has 1,000 runs and a tenth of grace")
    }

    async fn the_console_shows_the_last_deliveries(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        for number in 0..9 {
            fixture.call(number).await?.assert_status(202);
        }
        // Calls without a valid proof are not recorded.
        fixture
            .webhook
            .unsigned_request("application/json", "{}")?
            .header(SIGNATURE, "t=1,v1=00")?
            .send()
            .await?
            .assert_status(401);
        assert_eq!(fixture.deliveries().await?, vec![("accepted".to_owned(), false); 9]);

        fixture.webhook.signed_request("{")?.send().await?.assert_error(400, "invalid_body");
        let test =
            fixture.owner.post(&format!("{}/test", fixture.webhook_path()), &json!({"body": {"a": 1}})).await?;
        fixture.owner.wait_for_success(&test.string_at("/runId")?).await?;
        fixture.update_webhook(json!({"enabled": false})).await?;
        fixture.call(100).await?.assert_error(403, "hook_disabled");

        let shown = fixture.deliveries().await?;
        let expected =
            [("hook_disabled", false), ("accepted", true), ("invalid_body", false), ("accepted", false)];
        for (found, (result, sample)) in shown.iter().zip(expected) {
            assert_eq!((found.0.as_str(), found.1), (result, sample), "{shown:?}");
        }
        assert_eq!(shown.len(), 10);
        Ok(())
    }

    async fn a_webhook_is_deleted_with_its_automation(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.owner.wait_for_success(&fixture.call(1).await?.string_at("/runId")?).await?;
        let automation = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "webhook", 0).await?;
        let other = fixture.owner.configure_webhook(&automation, "signed").await?;
        fixture.owner.delete(&format!("/v1/automations/{}", fixture.automation)).await?.assert_status(200);
        fixture.call(2).await?.assert_error(404, "hook_not_found");
        fixture.owner.wait_for_success(&other.send(&json!(3)).await?.string_at("/runId")?).await?;
        fixture.owner.delete(&format!("/v1/apps/{}", fixture.app)).await?.assert_status(200);
        other.send(&json!(4)).await?.assert_error(404, "hook_not_found");
        Ok(())
    }

    async fn neither_secrets_nor_bodies_are_logged(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.webhook.send(&json!({"private": "the-whole-herd"})).await?.assert_status(202);
        fixture.webhook.signed_request("{the-whole-herd")?.send().await?.assert_error(400, "invalid_body");
        let log = server.log();
        assert!(log.contains("/v1/hooks/{id}"), "the calls must be logged:\n{log}");
        for secret in [fixture.webhook.secret.as_str(), "the-whole-herd", &fixture.webhook.path] {
            assert!(!log.contains(secret), "the log contains {secret}");
        }
        Ok(())
    }

    async fn a_secret_that_cannot_be_unsealed_is_a_server_error(mut server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.call(1).await?.assert_status(202);
        // As if it were sealed with a lost master key.
        server.execute_static_sql("UPDATE webhooks SET secret_sealed = 'qs1.00000000' || substr(secret_sealed, 13)").await?;
        server.restart().await?;
        let webhook = fixture.webhook.with_base_url(server.base_url());
        webhook.send(&json!(2)).await?.assert_error(503, "hook_unreadable");
        Ok(())
    }

    async fn an_unknown_webhook_is_not_found(server: Server) -> Result<()> {
        let visitor = server.client();
        for id in ["hook_00000000000e00800000000000", "hook_", "x", "run_00000000000e00800000000000", "%00"] {
            let reply = visitor.post(&format!("/v1/hooks/{id}"), &json!({})).await?;
            reply.check_error(404, Some("hook_not_found")).with_context(|| id.to_owned())?;
        }
        visitor.get("/v1/hooks/x").await?.assert_error(405, "method_not_allowed");
        Ok(())
    }

    async fn cookies_and_origins_are_ignored(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let call = fixture
            .webhook
            .signed_request("[1]")?
            .header(http::header::ORIGIN, "https://evil.example.test")?
            .header(http::header::COOKIE, "qala_session=qss_made_up")?
            .header(http::header::AUTHORIZATION, "Bearer qat_made_up")?;
        call.send().await?.assert_status(202);
        let unproven = fixture.owner.request(Method::POST, &fixture.webhook.path).json(&json!({}))?;
        unproven.send().await?.assert_error(401, "bad_signature");
        Ok(())
    }
}

mod limits {
    use super::*;

    tests::on_both! {
        async fn only_calls_with_a_valid_proof_count_against_the_rate_limit(server: Server) -> Result<()> {
            let fixture = Fixture::create(&server).await?;
            fixture.update_webhook(json!({"perMinute": 2})).await?;
            for _ in 0..5 {
                let unproven = fixture.webhook.unsigned_request("application/json", "{}")?.send().await?;
                unproven.assert_error(401, "bad_signature");
            }
            let mut accepted = 0;
            // One unit is restored every half minute, which a slow machine may notice once.
            let refused = loop {
                let reply = fixture.call(accepted).await?;
                if reply.status != 202 {
                    break reply;
                }
                accepted += 1;
                assert!(accepted <= 4, "{accepted} calls were accepted although the limit is two a minute");
            };
            assert!(accepted >= 2, "{refused}");
            assert_rate_limited(&refused);
            // A sender without a valid proof does not learn of the limit.
            let unproven = fixture.webhook.unsigned_request("application/json", "{}")?.send().await?;
            unproven.assert_error(401, "bad_signature");
            Ok(())
        }

        async fn guessing_is_limited_before_a_call_is_checked(server: Server) -> Result<()> {
            let fixture = Fixture::create(&server).await?;
            let mut refused = 0;
            let slowed = loop {
                let guess = fixture.webhook.unsigned_request("application/json", "{}")?.header(SIGNATURE, "t=1,v1=00")?;
                let reply = guess.send().await?;
                if reply.status != 401 {
                    break reply;
                }
                refused += 1;
                assert!(refused <= 60, "no limit after {refused} guesses");
            };
            assert!(refused >= 20, "limited after {refused} guesses: {slowed}");
            assert_rate_limited(&slowed);
            let visitor = server.client();
            visitor.post("/v1/hooks/x", &json!({})).await?.assert_error(429, "rate_limited");
            // The limit is per address: a valid call has to wait too, and is accepted afterwards.
            let valid_call = tests::eventually("the sender is no longer limited", async || {
                let reply = fixture.call(1).await?;
                anyhow::ensure!(reply.status == 202, "{reply}");
                Ok(reply)
            });
            valid_call.await?.assert_status(202);
            Ok(())
        }
    }
}
