//! Webhooks of messaging bots and public forms, whose modes have no signature over the body.

use anyhow::{Context as _, Result};
use http::{HeaderName, header};
use serde_json::{Value, json};
use tests::{AutomationFixture, Client, Reply, Request, Server, Webhook, Workspace};

const BOT_TOKEN: HeaderName = HeaderName::from_static("x-telegram-bot-api-secret-token");
const SPEC_BOT_TOKEN: HeaderName = HeaderName::from_static("x-messenger-bot-secret-token");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const FORM: &str = "application/x-www-form-urlencoded";

/// An app that logs its input in one line.
const ECHO: &str = "export default { async scheduled(event) { \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`) } }";

struct Fixture {
    owner: Client,
    workspace: Workspace,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, workspace, app, automation } =
            AutomationFixture::create(server, ECHO).await?;
        Ok(Self { owner, workspace, app, automation })
    }

    fn webhook_path(&self) -> String {
        format!("/v1/automations/{}/webhook", self.automation)
    }

    async fn configure_form(&self, form: Value) -> Result<Webhook> {
        let webhook = self.owner.configure_webhook(&self.automation, "form").await?;
        self.owner.patch(&self.webhook_path(), &json!({"form": form})).await?.ok()?;
        Ok(webhook)
    }

    async fn received_data(&self, accepted: &Reply) -> Result<Value> {
        accepted.assert_status(202);
        let run = accepted.string_at("/runId")?;
        let ended = self.owner.wait_for_success(&run).await?;
        assert_eq!(ended["trigger"], "webhook");
        let log = self.owner.app_log(&self.app, Some(&run)).await?;
        let [line] = log.as_slice() else { anyhow::bail!("the log does not have exactly one line: {log:?}") };
        let data = line.message.strip_prefix("webhook ").with_context(|| line.message.clone())?;
        Ok(serde_json::from_str(data)?)
    }

    async fn count_runs(&self) -> Result<usize> {
        let path =
            format!("/v1/workspaces/{}/runs?automationId={}&limit=200", self.workspace.id, self.automation);
        let runs = self.owner.get(&path).await?.ok()?;
        Ok(runs["items"].as_array().context("no items")?.len())
    }

    /// Returns the statuses or codes of the last deliveries, newest first.
    async fn deliveries(&self) -> Result<Vec<String>> {
        let settings = self.owner.get(&self.webhook_path()).await?.ok()?;
        let deliveries = settings["deliveries"].as_array().context("no deliveries")?;
        let result =
            |delivery: &Value| delivery["code"].as_str().or(delivery["status"].as_str()).map(str::to_owned);
        deliveries.iter().map(|delivery| result(delivery).context("no status")).collect()
    }
}

/// Returns an update as the bot service sends it.
fn bot_update<'a>(webhook: &'a Webhook, id: u64, text: &str) -> Result<Request<'a>> {
    let body = json!({
        "update_id": id,
        "message": {"message_id": 1, "date": 1_732_190_000, "chat": {"id": 42, "type": "private"}, "text": text},
    });
    webhook.unsigned_request("application/json", body.to_string())?.header(BOT_TOKEN, &webhook.secret)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_update_of_a_bot_starts_one_run_however_often_it_is_sent(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "messenger").await?;
        assert!(webhook.secret.starts_with("qwt_"), "{}", webhook.secret);
        let first = bot_update(&webhook, 7, "Сәлем")?.send().await?;
        assert_eq!(fixture.received_data(&first).await?["message"]["text"], "Сәлем");
        assert_eq!(first.header("idempotent-replayed"), None);
        let again = bot_update(&webhook, 7, "Сәлем")?.send().await?;
        again.assert_status(202);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.string_at("/runId")?, first.string_at("/runId")?);
        assert_eq!(again.string_at("/deliveryId")?, first.string_at("/deliveryId")?);
        let next = bot_update(&webhook, 8, "Сәлем")?.send().await?;
        assert_ne!(next.string_at("/runId")?, first.string_at("/runId")?);
        // An update without an id is always new.
        for _ in 0..2 {
            webhook.unsigned_request("application/json", "{}")?.header(BOT_TOKEN, &webhook.secret)?.send().await?.assert_status(202);
        }
        assert_eq!(fixture.count_runs().await?, 4);
        Ok(())
    }

    async fn concurrent_copies_of_an_update_start_one_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "messenger").await?;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let webhook = webhook.clone();
            calls.spawn(async move { bot_update(&webhook, 9, "once")?.send().await });
        }
        let mut runs = std::collections::BTreeSet::new();
        for reply in calls.join_all().await {
            runs.insert(reply?.string_at("/runId")?);
        }
        assert_eq!((runs.len(), fixture.count_runs().await?), (1, 1));
        Ok(())
    }

    async fn the_token_of_a_bot_is_required_in_either_header(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.owner.configure_webhook(&fixture.automation, "messenger").await?;
        let call = |name: HeaderName, value: &str| webhook.unsigned_request("application/json", "{}")?.header(name, value);
        call(SPEC_BOT_TOKEN, &webhook.secret)?.send().await?.assert_status(202);
        call(BOT_TOKEN, &webhook.secret)?.send().await?.assert_status(202);
        for wrong in ["", "qwt_wrong", &webhook.secret.to_uppercase()] {
            call(BOT_TOKEN, wrong)?.send().await?.assert_error(401, "bad_token");
        }
        let other = HeaderName::from_static("x-service-token");
        call(other, &webhook.secret)?.send().await?.assert_error(401, "bad_token");
        webhook.unsigned_request("application/json", "{}")?.send().await?.assert_error(401, "bad_token");
        let both = call(BOT_TOKEN, &webhook.secret)?.header(SPEC_BOT_TOKEN, &webhook.secret)?;
        both.send().await?.assert_error(401, "bad_token");
        // A new token revokes the old one.
        let renewed = fixture.owner.rotate_webhook_secret(&fixture.automation).await?;
        call(BOT_TOKEN, &webhook.secret)?.send().await?.assert_error(401, "bad_token");
        bot_update(&renewed, 1, "x")?.send().await?.assert_status(202);
        Ok(())
    }

    async fn a_form_needs_no_secret_and_becomes_an_object(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let reply = fixture.owner.put(&fixture.webhook_path(), &json!({"mode": "form"})).await?;
        let shown = reply.ok()?;
        assert_eq!((&shown["secret"], &shown["hint"], &shown["perMinute"]), (&Value::Null, &Value::Null, &json!(20)));
        assert_eq!(shown["form"], json!({"hiddenField": "_gotcha", "allowedSites": [], "redirect": null}));
        let rotated = fixture.owner.post(&format!("{}/rotate", fixture.webhook_path()), &json!({})).await?;
        rotated.assert_error(409, "no_secret");
        let webhook = fixture.configure_form(json!({})).await?;
        let sent = webhook.unsigned_request(FORM, "name=Aru&tag=a&tag=b&note=x+y&_gotcha=")?.send().await?;
        let expected = json!({"name": "Aru", "tag": ["a", "b"], "note": "x y", "_gotcha": ""});
        assert_eq!(fixture.received_data(&sent).await?, expected);
        let sent = webhook.unsigned_request("application/json", r#"{"name":"Aru","age":31}"#)?.send().await?;
        assert_eq!(fixture.received_data(&sent).await?, json!({"name": "Aru", "age": 31}));
        assert_eq!(fixture.received_data(&webhook.unsigned_request(FORM, "")?.send().await?).await?, Value::Null);
        for no_form in ["[]", "\"x\"", "1"] {
            webhook.unsigned_request("application/json", no_form)?.send().await?.assert_error(400, "invalid_body");
        }
        webhook.unsigned_request("text/plain", "x")?.send().await?.assert_error(415, "unsupported_media_type");
        let first = webhook.unsigned_request(FORM, "a=1")?.header(KEY, "one")?.send().await?;
        let again = webhook.unsigned_request(FORM, "a=1")?.header(KEY, "one")?.send().await?;
        assert_eq!(again.string_at("/runId")?, first.string_at("/runId")?);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        Ok(())
    }

    async fn a_filled_honeypot_field_is_thanked_but_starts_no_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_form(json!({})).await?;
        let reply = webhook.unsigned_request(FORM, "name=Bot&_gotcha=buy")?.send().await?;
        assert_eq!(reply.assert_status(202).json::<Value>()?["status"], "accepted");
        assert!(reply.string_at("/runId")?.starts_with("run_") && reply.string_at("/deliveryId")?.starts_with("dlv_"));
        assert_eq!(fixture.count_runs().await?, 0);
        assert_eq!(fixture.deliveries().await?, ["honeypot"]);
        webhook.unsigned_request("application/json", r#"{"_gotcha":"x"}"#)?.send().await?.assert_status(202);
        assert_eq!(fixture.deliveries().await?, ["honeypot", "honeypot"]);
        // Another name for the hidden field.
        fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {"hiddenField": "website"}})).await?.ok()?;
        webhook.unsigned_request(FORM, "_gotcha=x")?.send().await?.assert_status(202);
        webhook.unsigned_request(FORM, "website=x")?.send().await?.assert_status(202);
        assert_eq!(fixture.count_runs().await?, 1);
        assert_eq!(fixture.deliveries().await?[..2], ["honeypot", "accepted"]);
        Ok(())
    }

    async fn a_submission_is_small_and_has_few_fields(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_form(json!({})).await?;
        let fields = |count: usize| (0..count).map(|number| format!("f{number}=x")).collect::<Vec<_>>().join("&");
        webhook.unsigned_request(FORM, fields(40))?.send().await?.assert_status(202);
        webhook.unsigned_request(FORM, format!("{}&_gotcha=", fields(40)))?.send().await?.assert_status(202);
        webhook.unsigned_request(FORM, fields(41))?.send().await?.assert_error(400, "invalid_body");
        let large = |size: usize| format!("a={}", "x".repeat(size - 2));
        webhook.unsigned_request(FORM, large(32 << 10))?.send().await?.assert_status(202);
        webhook.unsigned_request(FORM, large((32 << 10) + 1))?.send().await?.assert_error(413, "too_large");
        // No letter is replaced in silence.
        for field in [&b"a=\xff"[..], &b"a=%FF"[..]] {
            let sent = webhook.unsigned_request(FORM, field.to_vec())?.send().await?;
            sent.assert_error(400, "invalid_body");
        }
        Ok(())
    }

    async fn only_pages_of_allowed_sites_may_submit_a_form(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_form(json!({"allowedSites": ["https://WWW.Example.com:443", "http://localhost:3000"]})).await?;
        let settings = fixture.owner.get(&fixture.webhook_path()).await?.ok()?;
        assert_eq!(settings["form"]["allowedSites"], json!(["https://www.example.com", "http://localhost:3000"]));
        let from = async |origin: &str| webhook.unsigned_request(FORM, "a=1")?.header(header::ORIGIN, origin)?.send().await;
        from("https://www.example.com").await?.assert_status(202);
        from("http://localhost:3000").await?.assert_status(202);
        webhook.unsigned_request(FORM, "a=1")?.send().await?.assert_status(202);
        for other in ["https://evil.example", "null", "https://www.example.com:8443", "http://www.example.com"] {
            from(other).await?.assert_error(403, "bad_origin");
        }
        assert_eq!(fixture.deliveries().await?[0], "bad_origin");
        for bad in [
            json!(["x"]), json!(["https://a.example/path"]), json!(vec!["https://a.example"; 6]),
            // Patterns would be stored but never match.
            json!(["https://*.example"]), json!(["https://*"]), json!(["https://a.example:*"]), json!(["*://a.example"]),
            json!(["https://a.example", "https://b*.example"]),
        ] {
            let reply = fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {"allowedSites": bad}})).await?;
            reply.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn a_browser_is_redirected_or_thanked(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_form(json!({})).await?;
        let browse = async |body: &str| {
            let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
            webhook.unsigned_request(FORM, body)?.header(header::ACCEPT, accept)?.send().await
        };
        let thanked = browse("a=1").await?;
        thanked.assert_status(202);
        assert_eq!(thanked.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(String::from_utf8_lossy(&thanked.body).contains("Thank you"), "{thanked}");
        let redirect = "https://www.example.com/thanks?from=form#top";
        fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {"redirect": redirect}})).await?.ok()?;
        for body in ["a=1", "a=1&_gotcha=x"] {
            let redirected = browse(body).await?;
            assert_eq!((redirected.status.as_u16(), redirected.header("location")), (303, Some(redirect)), "{redirected}");
        }
        // Other clients get JSON.
        webhook.unsigned_request(FORM, "a=1")?.header(header::ACCEPT, "*/*")?.send().await?.string_at("/runId")?;
        fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {"redirect": null}})).await?.ok()?;
        browse("a=1").await?.assert_status(202);
        for bad in ["http://a.example", "javascript:alert(1)", "//a.example", "https://u@a.example"] {
            let reply = fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {"redirect": bad}})).await?;
            reply.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn entering_and_leaving_form_mode_needs_confirmation(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let signed = fixture.owner.configure_webhook(&fixture.automation, "signed").await?;
        let stray = json!({"mode": "signed", "form": {"hiddenField": "x"}});
        fixture.owner.put(&fixture.webhook_path(), &stray).await?.assert_error(400, "invalid_request");
        fixture.owner.patch(&fixture.webhook_path(), &json!({"form": {}})).await?.assert_error(400, "invalid_request");
        fixture.owner.put(&fixture.webhook_path(), &json!({"mode": "form"})).await?.assert_error(409, "confirmation_needed");
        signed.send(&json!(1)).await?.assert_status(202);
        let sites = json!({"mode": "form", "confirm": true, "form": {"allowedSites": ["https://a.example"]}});
        let shown = fixture.owner.put(&fixture.webhook_path(), &sites).await?.ok()?;
        assert_eq!((&shown["perMinute"], &shown["form"]["allowedSites"]), (&json!(20), &json!(["https://a.example"])));
        let back = fixture.owner.put(&fixture.webhook_path(), &json!({"mode": "token", "confirm": true})).await?.ok()?;
        assert_eq!((&back["perMinute"], &back["form"]), (&json!(60), &Value::Null));

        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", fixture.workspace.id)).await?.ok()?;
        let actions: Vec<_> = audit["items"].as_array().context("no items")?.iter().map(|row| row["action"].clone()).collect();
        assert!(!actions.contains(&json!("webhook.form")) && actions.contains(&json!("webhook.mode")), "{actions:?}");
        fixture.configure_form(json!({"hiddenField": "website"})).await?;
        let audit = fixture.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", fixture.workspace.id)).await?;
        assert!(String::from_utf8_lossy(&audit.body).contains("webhook.form"), "{audit}");
        Ok(())
    }

    async fn a_test_call_of_a_form_starts_a_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        fixture.configure_form(json!({"allowedSites": ["https://a.example"]})).await?;
        let sample = fixture.owner.post(&format!("{}/test", fixture.webhook_path()), &json!({"body": {"a": "b"}})).await?;
        fixture.owner.wait_for_success(&sample.string_at("/runId")?).await?;
        Ok(())
    }
}

mod limits {
    use super::*;

    tests::on_both! {
        async fn a_form_accepts_five_submissions_a_minute_from_one_address(server: Server) -> Result<()> {
            let fixture = Fixture::create(&server).await?;
            let webhook = fixture.configure_form(json!({})).await?;
            let mut accepted = 0;
            // One unit is restored every twelve seconds, which a slow machine may notice.
            let refused = loop {
                let reply = webhook.unsigned_request(FORM, format!("n={accepted}"))?.send().await?;
                if reply.status != 202 {
                    break reply;
                }
                accepted += 1;
                assert!(accepted <= 9, "{accepted} submissions were accepted although the limit is five a minute");
            };
            assert!(accepted >= 5, "{refused}");
            refused.assert_error(429, "rate_limited");
            assert!(refused.header("retry-after").is_some(), "{refused}");
            // Another form has its own limit.
            let automation = fixture.owner.create_automation(&fixture.workspace.id, &fixture.app, "webhook", 0).await?;
            let other = fixture.owner.configure_webhook(&automation, "form").await?;
            other.unsigned_request(FORM, "n=1")?.send().await?.assert_status(202);
            Ok(())
        }
    }
}
