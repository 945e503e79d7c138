//! Bodies as the senders of many services write them: each reaches the app whole, or is refused with a reason that names it.
//! The shapes are rebuilt from the documentation of the services' kinds.

use anyhow::{Context as _, Result};
use http::{HeaderName, header};
use serde_json::{Value, json};
use tests::AutomationFixture;

/// An app that logs its input in one line.
const ECHO: &str = "export default { async scheduled(event) { console.log(JSON.stringify(event.data)) } }";
const FORM: &str = "application/x-www-form-urlencoded";

/// The outcome of a body.
enum Outcome {
    /// The app gets this.
    Taken(Value),
    /// The sender gets this status and code.
    Refused(u16, &'static str),
}

use Outcome::{Refused, Taken};

/// A call of a sender.
struct Call {
    sender: &'static str,
    kind: Option<&'static str>,
    body: Vec<u8>,
    coding: Option<&'static str>,
    outcome: Outcome,
}

fn call(sender: &'static str, kind: &'static str, body: impl Into<Vec<u8>>, outcome: Outcome) -> Call {
    Call { sender, kind: Some(kind), body: body.into(), coding: None, outcome }
}

fn json_call(sender: &'static str, kind: &'static str, body: Value) -> Call {
    call(sender, kind, body.to_string(), Taken(body))
}

fn calls() -> Vec<Call> {
    let json = "application/json";
    let unsupported = || Refused(415, "unsupported_media_type");
    let invalid = || Refused(400, "invalid_body");
    vec![
        json_call(
            "code host",
            json,
            json!({"ref": "refs/heads/main", "commits": [{"id": "a1", "message": "Fix \"x\"\n\tтест"}], "forced": false}),
        ),
        json_call(
            "merge requests",
            "application/json; charset=utf-8",
            json!({"object_kind": "merge_request", "object_attributes": {"iid": 7, "labels": []}}),
        ),
        json_call(
            "payments",
            "application/json; charset=UTF-8",
            json!({"id": "evt_1", "created": 1_732_190_000, "data": {"object": {"amount": 1999, "currency": "kzt", "metadata": {}}}, "livemode": false}),
        ),
        json_call("payments with decimals", json, json!({"amount": "19.90", "fee": 0.35, "rate": 1e-7})),
        json_call(
            "shop",
            json,
            json!({"id": 820_982_911, "line_items": [{"title": "Шай", "quantity": 2, "price": "5.00"}], "note": null}),
        ),
        json_call(
            "chat",
            json,
            json!({"type": "event_callback", "event": {"type": "message", "text": "👋 <@U1>"}}),
        ),
        json_call(
            "messenger",
            json,
            json!({"update_id": 1, "message": {"chat": {"id": -100_123}, "text": "/start"}}),
        ),
        json_call(
            "video calls",
            json,
            json!({"event": "meeting.ended", "payload": {"object": {"uuid": "4444AAAiAAAAAiAiAiiAii==", "duration": 60}}}),
        ),
        json_call(
            "CRM",
            json,
            json!([{"subscriptionType": "contact.creation", "objectId": 123}, {"subscriptionType": "deal.change", "objectId": 124}]),
        ),
        json_call(
            "issue tracker",
            "application/json;charset=UTF-8",
            json!({"timestamp": 1, "webhookEvent": "issue_updated", "changelog": {"items": [{"from": "1", "to": null}]}}),
        ),
        json_call(
            "CI",
            json,
            json!({"pipeline": {"id": "5034460f-c7c4-4c43-9457-de07e2029e7b", "number": 25}}),
        ),
        json_call(
            "monitoring",
            json,
            json!({"receiver": "team", "status": "firing", "alerts": [{"labels": {"alertname": "Down"}, "endsAt": "0001-01-01T00:00:00Z"}], "truncatedAlerts": 0}),
        ),
        json_call(
            "errors of apps",
            json,
            json!({"action": "created", "data": {"issue": {"title": "TypeError: a is not a function"}}}),
        ),
        json_call(
            "cloud events",
            "application/cloudevents+json",
            json!({"specversion": "1.0", "type": "com.example.order", "source": "/shop", "id": "A1", "data": {"n": 1}}),
        ),
        json_call(
            "cloud events in batches",
            "application/cloudevents-batch+json",
            json!([{"specversion": "1.0", "id": "1"}]),
        ),
        json_call("hypermedia", "application/vnd.api+json", json!({"data": {"type": "articles", "id": "1"}})),
        json_call(
            "sensors",
            json,
            json!({"deviceId": "aa:bb", "ts": 1_732_190_000_123_u64, "t": -12.5, "on": true}),
        ),
        json_call(
            "forms of pages",
            json,
            json!({"form_response": {"answers": [{"type": "choice", "choice": {"label": "Да"}}]}}),
        ),
        json_call(
            "e-mail service",
            json,
            json!([{"email": "a@example.com", "event": "bounce", "sg_event_id": "1=="}]),
        ),
        json_call("a lone number", json, json!(42)),
        json_call("a lone text", json, json!("ping")),
        call("a body with a mark", json, b"\xef\xbb\xbf{\"a\":1}".to_vec(), Taken(json!({"a": 1}))),
        call("blanks around", json, "\r\n {\"a\": [1, 2]}\r\n", Taken(json!({"a": [1, 2]}))),
        call("text/json", "text/json", "{\"a\":1}", Taken(json!({"a": 1}))),
        call(
            "SMS",
            FORM,
            "From=%2B77010000000&Body=Code%3A+123%0Aok&NumMedia=0",
            Taken(json!({"From": "+77010000000", "Body": "Code: 123\nok", "NumMedia": "0"})),
        ),
        call(
            "slash commands",
            FORM,
            "token=x&command=%2Fweather&text=94070&response_url=https%3A%2F%2Fexample.com%2F1",
            Taken(
                json!({"token": "x", "command": "/weather", "text": "94070", "response_url": "https://example.com/1"}),
            ),
        ),
        call(
            "interactive messages",
            FORM,
            "payload=%7B%22type%22%3A%22block_actions%22%7D",
            Taken(json!({"payload": "{\"type\":\"block_actions\"}"})),
        ),
        call(
            "nested names",
            FORM,
            "data%5Bemail%5D=a%40example.com&data%5Bmerges%5D%5BFNAME%5D=%D0%90%D1%80%D1%83&tags%5B%5D=a&tags%5B%5D=b",
            Taken(
                json!({"data[email]": "a@example.com", "data[merges][FNAME]": "Ару", "tags[]": ["a", "b"]}),
            ),
        ),
        call(
            "payments by form",
            "application/x-www-form-urlencoded; charset=utf-8",
            "mc_gross=19.95&protection_eligibility=&memo=a%26b%3Dc",
            Taken(json!({"mc_gross": "19.95", "protection_eligibility": "", "memo": "a&b=c"})),
        ),
        call(
            "form in another encoding",
            "application/x-www-form-urlencoded; charset=windows-1251",
            "name=%C0%F0%F3",
            invalid(),
        ),
        call(
            "inbound e-mail",
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\na@example.com\r\n--x--\r\n",
            unsupported(),
        ),
        call("XML", "application/xml", "<event id=\"1\"/>", unsupported()),
        call("SOAP", "text/xml; charset=utf-8", "<s:Envelope/>", unsupported()),
        call("JSON as text", "text/plain; charset=UTF-8", "{\"Type\":\"Notification\"}", unsupported()),
        call("JSON without a type of its own", "application/octet-stream", "{}", unsupported()),
        call("lines of JSON", "application/x-ndjson", "{\"a\":1}\n{\"a\":2}\n", unsupported()),
        call("lines of JSON that are called JSON", json, "{\"a\":1}\n{\"a\":2}\n", invalid()),
        call("a form that is called JSON", json, "a=1&b=2", invalid()),
        call(
            "another encoding",
            "application/json; charset=windows-1251",
            b"{\"a\":\"\xc0\"}".to_vec(),
            invalid(),
        ),
        call("UTF-16", "application/json; charset=utf-16", b"\xff\xfe{\0}\0".to_vec(), invalid()),
        call("half a body", json, "{\"a\":", invalid()),
        call("a number that is none", json, "{\"a\":NaN}", invalid()),
        call("single quotes", json, "{'a':1}", invalid()),
        Call {
            sender: "compressed",
            kind: Some(json),
            body: vec![0x1f, 0x8b, 8, 0],
            coding: Some("gzip"),
            outcome: unsupported(),
        },
        Call {
            sender: "an empty call",
            kind: None,
            body: Vec::new(),
            coding: None,
            outcome: Taken(Value::Null),
        },
        call("an empty call with a type", json, "", Taken(Value::Null)),
        call("an empty form", FORM, "", Taken(Value::Null)),
    ]
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_body_reaches_the_app_whole_or_is_refused_with_a_reason(server: Server) -> Result<()> {
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, ECHO).await?;
        let webhook = owner.configure_webhook(&automation, "none").await?;
        let mut runs = Vec::new();
        let mut refused = 0;
        for Call { sender, kind, body, coding, outcome } in calls() {
            let mut request = webhook.unsigned_request(kind.unwrap_or("application/json"), body)?;
            if kind.is_none() {
                request = request.without_header(&header::CONTENT_TYPE);
            }
            if let Some(coding) = coding {
                request = request.header(header::CONTENT_ENCODING, coding)?;
            }
            // Each sender names its call, so that no two are taken for one.
            request = request.header(HeaderName::from_static("idempotency-key"), &sender.replace(' ', "-"))?;
            let reply = request.send().await?;
            match outcome {
                Taken(expected) => {
                    assert_eq!(reply.status.as_u16(), 202, "{sender}: {reply}");
                    runs.push((sender, expected, reply.string_at("/runId")?));
                }
                Refused(status, code) => {
                    reply.check_error(status, Some(code)).context(sender)?;
                    refused += 1;
                    if status == 400 {
                        let settings = owner.get(&format!("/v1/automations/{automation}/webhook")).await?.ok()?;
                        assert_eq!(settings["deliveries"][0]["code"], code, "{sender}: {settings}");
                    }
                }
            }
        }
        for (sender, expected, run) in &runs {
            owner.wait_for_success(run).await?;
            let log = owner.app_log(&app, Some(run)).await?;
            let received: Value = serde_json::from_str(&log.first().context(*sender)?.message)?;
            assert_eq!(received, *expected, "{sender}");
        }
        assert!(runs.len() >= 30 && refused >= 14, "{} taken, {refused} refused", runs.len());
        let path = format!("/v1/workspaces/{}/runs?automationId={automation}&limit=200", workspace.id);
        let started = owner.get(&path).await?.ok()?["items"].as_array().map(Vec::len);
        assert_eq!(started, Some(runs.len()), "a refused call started nothing");
        Ok(())
    }
}
