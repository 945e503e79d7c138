//! Calls of webhooks: proofs of the sender, input of the run, and idempotency keys.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use http::{HeaderName, Method};
use serde_json::{Value, json};
use tests::{
    AutomationFixture, Client, Reply, Request, Server, Webhook, hub_signature, service_signature, unix_time,
};

const SIGNATURE: HeaderName = HeaderName::from_static("service-signature");
const HUB_SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");
const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const TOKEN: HeaderName = HeaderName::from_static("x-service-token");
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Payloads as GitHub's documentation shows them, pretty-printed, because the signature is over the bytes.
const PUSH: &str = include_str!("../../fixtures/push.json");
const PING: &str = include_str!("../../fixtures/ping.json");

/// An app that logs its input in one line.
const ECHO: &str = "export default { async scheduled(event) { \
    console.log(`${event.trigger} ${JSON.stringify(event.data)}`) } }";

/// An app that logs its input, with an automation and its webhook.
struct Fixture {
    owner: Client,
    app: String,
    automation: String,
}

impl Fixture {
    async fn create(server: &Server) -> Result<Self> {
        let AutomationFixture { owner, app, automation, .. } =
            AutomationFixture::create(server, ECHO).await?;
        Ok(Self { owner, app, automation })
    }

    async fn configure_webhook(&self, mode: &str) -> Result<Webhook> {
        self.owner.configure_webhook(&self.automation, mode).await
    }

    /// Returns the input of the run that an accepted call started.
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
        let workspace = self.owner.get("/v1/session").await?.string_at("/workspaceId")?;
        let path = format!("/v1/workspaces/{workspace}/runs?automationId={}&limit=200", self.automation);
        let runs = self.owner.get(&path).await?.ok()?;
        Ok(runs["items"].as_array().context("no items")?.len())
    }
}

fn assert_replay_of(first: &Reply, repeat: &Reply) -> Result<()> {
    repeat.assert_status(202);
    assert_eq!(repeat.header("idempotent-replayed"), Some("true"), "{repeat}");
    assert_eq!(first.header("idempotent-replayed"), None, "{first}");
    assert_eq!(repeat.string_at("/runId")?, first.string_at("/runId")?);
    assert_eq!(repeat.string_at("/deliveryId")?, first.string_at("/deliveryId")?);
    Ok(())
}

/// Returns a delivery of GitHub with all of its headers.
fn github_delivery<'a>(webhook: &'a Webhook, event: &str, id: &str, body: &str) -> Result<Request<'a>> {
    let signature = hub_signature(&webhook.secret, body.as_bytes());
    webhook
        .unsigned_request("application/json", body)?
        .header(HUB_SIGNATURE, &signature)?
        .header(EVENT, event)?
        .header(DELIVERY, id)?
        .header(http::header::USER_AGENT, "GitHub-Hookshot/044aadd")
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_signed_call_starts_a_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        assert!(webhook.secret.starts_with("qws_"), "{}", webhook.secret);
        let body = json!({"order": 17, "note": "қымыз 🐄", "exact": 12.50});
        let accepted = webhook.send(&body).await?;
        assert_eq!(accepted.ok()?["status"], "accepted");
        assert_eq!(fixture.received_data(&accepted).await?, body);
        Ok(())
    }

    async fn a_wrong_signature_starts_nothing(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        let now = unix_time().to_string();
        let good = service_signature(&webhook.secret, &now, b"{}");
        let hex = good.split_once("v1=").context("no signature")?.1.to_owned();
        let other = service_signature("qws_somebodyelses", &now, b"{}");
        for signature in [
            other.as_str(),
            "",
            "nonsense",
            &format!("t={now}"),
            &format!("v1={hex}"),
            &format!("t={now},v0={hex}"),
            &format!("t={now},v1={}", hex.to_uppercase()),
            &format!("t={now},v1={}", &hex[..63]),
            &format!("t={now},t={now},v1={hex}"),
            &format!("t=NaN,v1={hex}"),
            &format!("t=0{now},v1={hex}"),
        ] {
            let reply = webhook.unsigned_request("application/json", "{}")?.header(SIGNATURE, signature)?.send().await?;
            reply.check_error(401, Some("bad_signature")).with_context(|| signature.to_owned())?;
        }
        // The signature is over the bytes, so the same JSON in other bytes does not match.
        let reply = webhook.unsigned_request("application/json", "{ }")?.header(SIGNATURE, &good)?.send().await?;
        reply.assert_error(401, "bad_signature");
        webhook.unsigned_request("application/json", "{}")?.send().await?.assert_error(401, "bad_signature");
        let twice =
            webhook.unsigned_request("application/json", "{}")?.header(SIGNATURE, &good)?.append_header(SIGNATURE, &good)?;
        twice.send().await?.assert_error(401, "bad_signature");
        assert_eq!(fixture.count_runs().await?, 0);
        // None of these calls used the valid signature up.
        webhook.unsigned_request("application/json", "{}")?.header(SIGNATURE, &good)?.send().await?.assert_status(202);
        Ok(())
    }

    async fn a_signature_expires_after_five_minutes_and_is_accepted_once(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        let now = unix_time();
        for stale in [now - 310, now + 310, 0] {
            webhook.signed_request_at(stale, "{}")?.send().await?.assert_error(401, "stale_timestamp");
        }
        for fresh in [now - 280, now + 280, now] {
            webhook.signed_request_at(fresh, "{}")?.send().await?.assert_status(202);
            webhook.signed_request_at(fresh, "{}")?.send().await?.assert_error(409, "replayed");
        }
        assert_eq!(fixture.count_runs().await?, 3);
        Ok(())
    }

    async fn one_valid_signature_of_several_suffices(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        let now = unix_time();
        let forms: [fn(&str) -> String; 3] = [
            |hex| format!("v1={:0>64},v1={hex}", 0),
            |hex| format!("v1={hex},v1=potato"),
            |hex| format!("v0=anything,v2={:0>64},v1={hex},v3=x", 0),
        ];
        for (number, form) in (0..).zip(forms) {
            let time = (now + number).to_string();
            let good = service_signature(&webhook.secret, &time, b"[1]");
            let hex = good.split_once("v1=").context("no signature")?.1;
            let signature = format!("t={time},{}", form(hex));
            let reply = webhook.unsigned_request("application/json", "[1]")?.header(SIGNATURE, &signature)?.send().await?;
            reply.assert_status(202);
        }
        Ok(())
    }

    async fn a_github_push_starts_one_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("code_host").await?;
        let id = "7f3c2a10-c60e-11f0-9d2b-5e1a0c44f0aa";
        let first = github_delivery(&webhook, "push", id, PUSH)?.send().await?;
        let received = fixture.received_data(&first).await;
        // A push is longer than a log line may be, so the line is truncated and only its start is compared.
        assert!(received.is_err());
        let run = first.string_at("/runId")?;
        let log = fixture.owner.app_log(&fixture.app, Some(&run)).await?;
        assert!(
            log[0].message.starts_with(r#"webhook {"ref":"refs/heads/main","before":"0b5a7e91"#),
            "{log:?}"
        );

        assert_replay_of(&first, &github_delivery(&webhook, "push", id, PUSH)?.send().await?)?;
        let another = github_delivery(&webhook, "push", "8a000000-c60e-11f0-9d2b-5e1a0c44f0aa", PUSH)?.send().await?;
        assert_ne!(another.string_at("/runId")?, run);
        assert_eq!(fixture.count_runs().await?, 2);
        Ok(())
    }

    async fn a_github_ping_and_form_start_runs(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("code_host").await?;
        let ping = github_delivery(&webhook, "ping", "00000000-0000-11f0-8000-000000000001", PING)?.send().await?;
        assert_eq!(fixture.received_data(&ping).await?, serde_json::from_str::<Value>(PING)?);

        // The form that GitHub sends with `application/x-www-form-urlencoded`.
        let form = "payload=%7B%22zen%22%3A%22Speak+like+a+human.%22%7D";
        let signed = webhook
            .unsigned_request("application/x-www-form-urlencoded", form)?
            .header(HUB_SIGNATURE, &hub_signature(&webhook.secret, form.as_bytes()))?
            .header(DELIVERY, "00000000-0000-11f0-8000-000000000002")?;
        let received = fixture.received_data(&signed.send().await?).await?;
        assert_eq!(received, json!({"zen": "Speak like a human."}));
        Ok(())
    }

    async fn a_wrong_github_signature_is_rejected(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("code_host").await?;
        let good = hub_signature(&webhook.secret, PUSH.as_bytes());
        for signature in [
            hub_signature("qws_somebodyelses", PUSH.as_bytes()),
            good.to_uppercase(),
            good.trim_start_matches("sha256=").to_owned(),
            good.replace("sha256=", "sha1="),
            format!("{good},{good}"),
            hub_signature(&webhook.secret, PUSH.trim_end().as_bytes()),
        ] {
            let call = github_delivery(&webhook, "push", "x", PUSH)?.header(HUB_SIGNATURE, &signature)?;
            call.send().await?.assert_error(401, "bad_signature");
        }
        let unsigned = github_delivery(&webhook, "push", "x", PUSH)?.without_header(&HUB_SIGNATURE);
        unsigned.send().await?.assert_error(401, "bad_signature");
        // A signature of another mode is rejected.
        webhook.signed_request(PUSH)?.send().await?.assert_error(401, "bad_signature");
        assert_eq!(fixture.count_runs().await?, 0);
        Ok(())
    }

    async fn a_token_is_a_sufficient_proof_in_token_mode(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("token").await?;
        assert!(webhook.secret.starts_with("qwt_"), "{}", webhook.secret);
        for _ in 0..2 {
            let call = webhook.unsigned_request("application/json", "{}")?.header(TOKEN, &webhook.secret)?;
            call.send().await?.assert_status(202);
        }
        for wrong in ["", "qwt_wrong", &webhook.secret[..webhook.secret.len() - 1], &webhook.secret.to_uppercase()] {
            let call = webhook.unsigned_request("application/json", "{}")?.header(TOKEN, wrong)?;
            call.send().await?.check_error(401, Some("bad_token")).with_context(|| wrong.to_owned())?;
        }
        webhook.unsigned_request("application/json", "{}")?.send().await?.assert_error(401, "bad_token");
        let twice =
            webhook.unsigned_request("application/json", "{}")?.header(TOKEN, &webhook.secret)?.append_header(TOKEN, "qwt_x")?;
        twice.send().await?.assert_error(401, "bad_token");
        assert_eq!(fixture.count_runs().await?, 2);
        Ok(())
    }

    async fn turning_the_proof_off_needs_confirmation(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let path = format!("/v1/automations/{}/webhook", fixture.automation);
        fixture.owner.put(&path, &json!({"mode": "none"})).await?.assert_error(409, "confirmation_needed");
        fixture.owner.get(&path).await?.assert_error(404, "webhook_not_found");
        let webhook = fixture.configure_webhook("none").await?;
        assert_eq!(webhook.secret, "");
        assert_eq!(
            fixture.received_data(&webhook.unsigned_request("application/json", "[true]")?.send().await?).await?,
            json!([true])
        );
        let rotate = fixture.owner.request(Method::POST, &format!("{path}/rotate")).send().await?;
        rotate.assert_error(409, "no_secret");
        Ok(())
    }

    async fn bodies_become_the_input_of_the_app(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("none").await?;
        for (content_type, body, expected) in [
            ("application/json", "null", json!(null)),
            ("Application/JSON; charset=utf-8", " [1, {\"a\": \"b\"}] ", json!([1, {"a": "b"}])),
            ("application/json", "", json!(null)),
            (
                "application/x-www-form-urlencoded",
                "a=1&b=x+y&a=2&c=%D2%9B",
                json!({"a": ["1", "2"], "b": "x y", "c": "қ"}),
            ),
            ("application/x-www-form-urlencoded", "", json!(null)),
        ] {
            let accepted = webhook.unsigned_request(content_type, body)?.send().await?;
            assert_eq!(fixture.received_data(&accepted).await?, expected, "{content_type} {body}");
        }
        let nothing = webhook.unsigned_request("x/y", "")?.without_header(&http::header::CONTENT_TYPE).send().await?;
        assert_eq!(fixture.received_data(&nothing).await?, json!(null));
        Ok(())
    }

    async fn a_repeated_idempotency_key_starts_no_second_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        let now = unix_time();
        let call = async |time: u64, key: &str, body: &str| {
            webhook.signed_request_at(time, body)?.header(KEY, key)?.send().await
        };
        let first = call(now, "order-1", "[1]").await?;
        // The same bytes again, then a new signature, then another body: the key decides.
        assert_replay_of(&first, &call(now, "order-1", "[1]").await?)?;
        assert_replay_of(&first, &call(now + 1, "order-1", "[1]").await?)?;
        assert_replay_of(&first, &call(now + 2, "order-1", "[2]").await?)?;
        let other = call(now + 3, "order-2", "[1]").await?;
        assert_ne!(other.string_at("/runId")?, first.string_at("/runId")?);
        for unusable in ["", "two words", &"k".repeat(256)] {
            call(now, unusable, "[3]").await?.assert_error(400, "invalid_idempotency_key");
        }
        call(now + 4, &"k".repeat(255), "[4]").await?.assert_status(202);
        let twice = webhook.signed_request("[5]")?.header(KEY, "a")?.append_header(KEY, "b")?;
        twice.send().await?.assert_error(400, "invalid_idempotency_key");
        assert_eq!(fixture.count_runs().await?, 3);
        Ok(())
    }

    async fn twenty_concurrent_calls_with_one_key_start_one_run(server: Server) -> Result<()> {
        let fixture = Fixture::create(&server).await?;
        let webhook = fixture.configure_webhook("signed").await?;
        let now = unix_time();
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..20 {
            let webhook = webhook.clone();
            calls.spawn(async move {
                let body = format!("[{number}]");
                webhook.signed_request_at(now + number % 5, &body)?.header(KEY, "the-one")?.send().await
            });
        }
        let (mut runs, mut firsts) = (BTreeSet::new(), 0);
        for reply in calls.join_all().await {
            let reply = reply?;
            reply.assert_status(202);
            runs.insert(reply.string_at("/runId")?);
            firsts += usize::from(reply.header("idempotent-replayed").is_none());
        }
        assert_eq!((runs.len(), firsts), (1, 1), "{runs:?}");
        assert_eq!(fixture.count_runs().await?, 1);
        Ok(())
    }
}
