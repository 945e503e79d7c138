//! Messaging bots and public forms: the modes of webhooks without a signature over the body.

use anyhow::{Context as _, Result};
use http::{HeaderName, header};
use serde_json::{Value, json};
use tests::{Client, Hook, Reply, Request, Road, Server, Workspace};

const BOT_TOKEN: HeaderName = HeaderName::from_static("x-telegram-bot-api-secret-token");
const SPEC_BOT_TOKEN: HeaderName = HeaderName::from_static("x-messenger-bot-secret-token");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const FORM: &str = "application/x-www-form-urlencoded";

/// Says what it was given, in one line.
const ECHO: &str = "export default { async scheduled(event) { \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`) } }";

struct Stage {
    owner: Client,
    workspace: Workspace,
    app: String,
    road: String,
}

impl Stage {
    async fn set(server: &Server) -> Result<Self> {
        let Road { owner, workspace, app, id: road } = Road::make(server, ECHO).await?;
        Ok(Self { owner, workspace, app, road })
    }

    fn settings(&self) -> String {
        format!("/v1/automations/{}/webhook", self.road)
    }

    async fn form(&self, form: Value) -> Result<Hook> {
        let hook = self.owner.set_hook(&self.road, "form").await?;
        self.owner.patch(&self.settings(), &json!({"form": form})).await?.ok()?;
        Ok(hook)
    }

    async fn given(&self, accepted: &Reply) -> Result<Value> {
        accepted.assert_status(202);
        let run = accepted.string("/runId")?;
        let ended = self.owner.success_of(&run).await?;
        assert_eq!(ended["trigger"], "webhook");
        let log = self.owner.log_of(&self.app, Some(&run)).await?;
        let [line] = log.as_slice() else { anyhow::bail!("not one line of log: {log:?}") };
        let data = line.message.strip_prefix("webhook ").with_context(|| line.message.clone())?;
        Ok(serde_json::from_str(data)?)
    }

    async fn count_runs(&self) -> Result<usize> {
        let path = format!("/v1/workspaces/{}/runs?automationId={}&limit=200", self.workspace.id, self.road);
        let runs = self.owner.get(&path).await?.ok()?;
        Ok(runs["items"].as_array().context("no items")?.len())
    }

    /// What the last deliveries say, newest first.
    async fn deliveries(&self) -> Result<Vec<String>> {
        let settings = self.owner.get(&self.settings()).await?.ok()?;
        let deliveries = settings["deliveries"].as_array().context("deliveries")?;
        let said =
            |delivery: &Value| delivery["code"].as_str().or(delivery["status"].as_str()).map(str::to_owned);
        deliveries.iter().map(|delivery| said(delivery).context("a status")).collect()
    }
}

/// An update as the bot's service sends it.
fn update<'a>(hook: &'a Hook, id: u64, text: &str) -> Result<Request<'a>> {
    let body = json!({
        "update_id": id,
        "message": {"message_id": 1, "date": 1_732_190_000, "chat": {"id": 42, "type": "private"}, "text": text},
    });
    hook.call("application/json", body.to_string())?.header(BOT_TOKEN, &hook.secret)
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_update_of_a_bot_starts_one_run_however_often_it_comes(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.owner.set_hook(&stage.road, "messenger").await?;
        assert!(hook.secret.starts_with("qwt_"), "{}", hook.secret);
        let first = update(&hook, 7, "Сәлем")?.send().await?;
        assert_eq!(stage.given(&first).await?["message"]["text"], "Сәлем");
        assert_eq!(first.header("idempotent-replayed"), None);
        let again = update(&hook, 7, "Сәлем")?.send().await?;
        again.assert_status(202);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.string("/runId")?, first.string("/runId")?);
        assert_eq!(again.string("/deliveryId")?, first.string("/deliveryId")?);
        let next = update(&hook, 8, "Сәлем")?.send().await?;
        assert_ne!(next.string("/runId")?, first.string("/runId")?);
        // What has no number is new each time.
        for _ in 0..2 {
            hook.call("application/json", "{}")?.header(BOT_TOKEN, &hook.secret)?.send().await?.assert_status(202);
        }
        assert_eq!(stage.count_runs().await?, 4);
        Ok(())
    }

    async fn the_same_update_at_once_starts_one_run(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.owner.set_hook(&stage.road, "messenger").await?;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let hook = hook.clone();
            calls.spawn(async move { update(&hook, 9, "once")?.send().await });
        }
        let mut runs = std::collections::BTreeSet::new();
        for reply in calls.join_all().await {
            runs.insert(reply?.string("/runId")?);
        }
        assert_eq!((runs.len(), stage.count_runs().await?), (1, 1));
        Ok(())
    }

    async fn a_bots_token_is_needed_under_either_name(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.owner.set_hook(&stage.road, "messenger").await?;
        let call = |name: HeaderName, value: &str| hook.call("application/json", "{}")?.header(name, value);
        call(SPEC_BOT_TOKEN, &hook.secret)?.send().await?.assert_status(202);
        call(BOT_TOKEN, &hook.secret)?.send().await?.assert_status(202);
        for wrong in ["", "qwt_wrong", &hook.secret.to_uppercase()] {
            call(BOT_TOKEN, wrong)?.send().await?.assert_problem(401, "bad_token");
        }
        let other = HeaderName::from_static("x-service-token");
        call(other, &hook.secret)?.send().await?.assert_problem(401, "bad_token");
        hook.call("application/json", "{}")?.send().await?.assert_problem(401, "bad_token");
        let both = call(BOT_TOKEN, &hook.secret)?.header(SPEC_BOT_TOKEN, &hook.secret)?;
        both.send().await?.assert_problem(401, "bad_token");
        // A new token ends the old one.
        let renewed = stage.owner.take_hook(&stage.road).await?;
        call(BOT_TOKEN, &hook.secret)?.send().await?.assert_problem(401, "bad_token");
        update(&renewed, 1, "x")?.send().await?.assert_status(202);
        Ok(())
    }

    async fn a_form_needs_no_secret_and_becomes_an_object(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let reply = stage.owner.put(&stage.settings(), &json!({"mode": "form"})).await?;
        let shown = reply.ok()?;
        assert_eq!((&shown["secret"], &shown["hint"], &shown["perMinute"]), (&Value::Null, &Value::Null, &json!(20)));
        assert_eq!(shown["form"], json!({"hiddenField": "_gotcha", "allowedSites": [], "redirect": null}));
        let rotated = stage.owner.post(&format!("{}/rotate", stage.settings()), &json!({})).await?;
        rotated.assert_problem(409, "no_secret");
        let hook = stage.form(json!({})).await?;
        let sent = hook.call(FORM, "name=Aru&tag=a&tag=b&note=x+y&_gotcha=")?.send().await?;
        let expected = json!({"name": "Aru", "tag": ["a", "b"], "note": "x y", "_gotcha": ""});
        assert_eq!(stage.given(&sent).await?, expected);
        let sent = hook.call("application/json", r#"{"name":"Aru","age":31}"#)?.send().await?;
        assert_eq!(stage.given(&sent).await?, json!({"name": "Aru", "age": 31}));
        assert_eq!(stage.given(&hook.call(FORM, "")?.send().await?).await?, Value::Null);
        for no_form in ["[]", "\"x\"", "1"] {
            hook.call("application/json", no_form)?.send().await?.assert_problem(400, "invalid_body");
        }
        hook.call("text/plain", "x")?.send().await?.assert_problem(415, "unsupported_media_type");
        let first = hook.call(FORM, "a=1")?.header(KEY, "one")?.send().await?;
        let again = hook.call(FORM, "a=1")?.header(KEY, "one")?.send().await?;
        assert_eq!(again.string("/runId")?, first.string("/runId")?);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        Ok(())
    }

    async fn a_program_that_fills_the_hidden_field_is_thanked_and_starts_nothing(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.form(json!({})).await?;
        let trapped = hook.call(FORM, "name=Bot&_gotcha=buy")?.send().await?;
        assert_eq!(trapped.assert_status(202).json::<Value>()?["status"], "accepted");
        assert!(trapped.string("/runId")?.starts_with("run_") && trapped.string("/deliveryId")?.starts_with("dlv_"));
        assert_eq!(stage.count_runs().await?, 0);
        assert_eq!(stage.deliveries().await?, ["honeypot"]);
        hook.call("application/json", r#"{"_gotcha":"x"}"#)?.send().await?.assert_status(202);
        assert_eq!(stage.deliveries().await?, ["honeypot", "honeypot"]);
        // Another name for it.
        stage.owner.patch(&stage.settings(), &json!({"form": {"hiddenField": "website"}})).await?.ok()?;
        hook.call(FORM, "_gotcha=x")?.send().await?.assert_status(202);
        hook.call(FORM, "website=x")?.send().await?.assert_status(202);
        assert_eq!(stage.count_runs().await?, 1);
        assert_eq!(stage.deliveries().await?[..2], ["honeypot", "accepted"]);
        Ok(())
    }

    async fn a_submission_is_small_and_has_few_fields(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.form(json!({})).await?;
        let fields = |count: usize| (0..count).map(|number| format!("f{number}=x")).collect::<Vec<_>>().join("&");
        hook.call(FORM, fields(40))?.send().await?.assert_status(202);
        hook.call(FORM, format!("{}&_gotcha=", fields(40)))?.send().await?.assert_status(202);
        hook.call(FORM, fields(41))?.send().await?.assert_problem(400, "invalid_body");
        let large = |size: usize| format!("a={}", "x".repeat(size - 2));
        hook.call(FORM, large(32 << 10))?.send().await?.assert_status(202);
        hook.call(FORM, large((32 << 10) + 1))?.send().await?.assert_problem(413, "too_large");
        // Bytes that are no UTF-8 are replaced, as browsers do.
        let sent = hook.call(FORM, b"a=\xff%FF".to_vec())?.send().await?;
        assert_eq!(stage.given(&sent).await?, json!({"a": "\u{fffd}\u{fffd}"}));
        Ok(())
    }

    async fn only_pages_of_listed_sites_may_send_it(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.form(json!({"allowedSites": ["https://WWW.Example.com:443", "http://localhost:3000"]})).await?;
        let settings = stage.owner.get(&stage.settings()).await?.ok()?;
        assert_eq!(settings["form"]["allowedSites"], json!(["https://www.example.com", "http://localhost:3000"]));
        let from = async |origin: &str| hook.call(FORM, "a=1")?.header(header::ORIGIN, origin)?.send().await;
        from("https://www.example.com").await?.assert_status(202);
        from("http://localhost:3000").await?.assert_status(202);
        hook.call(FORM, "a=1")?.send().await?.assert_status(202);
        for other in ["https://evil.example", "null", "https://www.example.com:8443", "http://www.example.com"] {
            from(other).await?.assert_problem(403, "bad_origin");
        }
        assert_eq!(stage.deliveries().await?[0], "bad_origin");
        for bad in [
            json!(["x"]), json!(["https://a.example/path"]), json!(vec!["https://a.example"; 6]),
            // Patterns would be kept and match nothing.
            json!(["https://*.example"]), json!(["https://*"]), json!(["https://a.example:*"]), json!(["*://a.example"]),
            json!(["https://a.example", "https://b*.example"]),
        ] {
            let reply = stage.owner.patch(&stage.settings(), &json!({"form": {"allowedSites": bad}})).await?;
            reply.assert_problem(400, "invalid_request");
        }
        Ok(())
    }

    async fn a_browser_is_led_on_or_thanked(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let hook = stage.form(json!({})).await?;
        let browse = async |body: &str| {
            let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
            hook.call(FORM, body)?.header(header::ACCEPT, accept)?.send().await
        };
        let thanked = browse("a=1").await?;
        thanked.assert_status(202);
        assert_eq!(thanked.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(String::from_utf8_lossy(&thanked.body).contains("Thank you"), "{thanked}");
        let redirect = "https://www.example.com/thanks?from=form#top";
        stage.owner.patch(&stage.settings(), &json!({"form": {"redirect": redirect}})).await?.ok()?;
        for body in ["a=1", "a=1&_gotcha=x"] {
            let led = browse(body).await?;
            assert_eq!((led.status.as_u16(), led.header("location")), (303, Some(redirect)), "{led}");
        }
        // Any other client is told in JSON.
        hook.call(FORM, "a=1")?.header(header::ACCEPT, "*/*")?.send().await?.string("/runId")?;
        stage.owner.patch(&stage.settings(), &json!({"form": {"redirect": null}})).await?.ok()?;
        browse("a=1").await?.assert_status(202);
        for bad in ["http://a.example", "javascript:alert(1)", "//a.example", "https://u@a.example"] {
            let reply = stage.owner.patch(&stage.settings(), &json!({"form": {"redirect": bad}})).await?;
            reply.assert_problem(400, "invalid_request");
        }
        Ok(())
    }

    async fn leaving_and_entering_the_mode_must_be_meant(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let signed = stage.owner.set_hook(&stage.road, "signed").await?;
        let stray = json!({"mode": "signed", "form": {"hiddenField": "x"}});
        stage.owner.put(&stage.settings(), &stray).await?.assert_problem(400, "invalid_request");
        stage.owner.patch(&stage.settings(), &json!({"form": {}})).await?.assert_problem(400, "invalid_request");
        stage.owner.put(&stage.settings(), &json!({"mode": "form"})).await?.assert_problem(409, "confirmation_needed");
        signed.send(&json!(1)).await?.assert_status(202);
        let sites = json!({"mode": "form", "confirm": true, "form": {"allowedSites": ["https://a.example"]}});
        let shown = stage.owner.put(&stage.settings(), &sites).await?.ok()?;
        assert_eq!((&shown["perMinute"], &shown["form"]["allowedSites"]), (&json!(20), &json!(["https://a.example"])));
        let back = stage.owner.put(&stage.settings(), &json!({"mode": "token", "confirm": true})).await?.ok()?;
        assert_eq!((&back["perMinute"], &back["form"]), (&json!(60), &Value::Null));

        let audit = stage.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", stage.workspace.id)).await?.ok()?;
        let actions: Vec<_> = audit["items"].as_array().context("items")?.iter().map(|row| row["action"].clone()).collect();
        assert!(!actions.contains(&json!("webhook.form")) && actions.contains(&json!("webhook.mode")), "{actions:?}");
        stage.form(json!({"hiddenField": "website"})).await?;
        let audit = stage.owner.get(&format!("/v1/workspaces/{}/audit?limit=200", stage.workspace.id)).await?;
        assert!(String::from_utf8_lossy(&audit.body).contains("webhook.form"), "{audit}");
        Ok(())
    }

    async fn a_sample_of_a_form_starts_a_run(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        stage.form(json!({"allowedSites": ["https://a.example"]})).await?;
        let sample = stage.owner.post(&format!("{}/test", stage.settings()), &json!({"body": {"a": "b"}})).await?;
        stage.owner.success_of(&sample.string("/runId")?).await?;
        Ok(())
    }
}

mod limits {
    use super::*;

    tests::on_both! {
        async fn a_form_takes_five_a_minute_from_one_address(server: Server) -> Result<()> {
            let stage = Stage::set(&server).await?;
            let hook = stage.form(json!({})).await?;
            let mut accepted = 0;
            // One flows back every twelve seconds, which a slow machine may see.
            let refused = loop {
                let reply = hook.call(FORM, format!("n={accepted}"))?.send().await?;
                if reply.status != 202 {
                    break reply;
                }
                accepted += 1;
                assert!(accepted <= 9, "{accepted} submissions of five a minute");
            };
            assert!(accepted >= 5, "{refused}");
            refused.assert_problem(429, "rate_limited");
            assert!(refused.header("retry-after").is_some(), "{refused}");
            // Another form has its own.
            let road = stage.owner.make_road(&stage.workspace.id, &stage.app, "webhook", 0).await?;
            let other = stage.owner.set_hook(&road, "form").await?;
            other.call(FORM, "n=1")?.send().await?.assert_status(202);
            Ok(())
        }
    }
}
