//! Secrets of apps: who may give and see them, what code gets, and where they go.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Database, ECHO_HOST, EchoService, Server};

const VALUE: &str = "s3cret-of-an-app-0123456789abcdef";

fn version(code: &str, secrets: &Value) -> Value {
    json!({
        "files": {"main.js": code},
        "manifest": {
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}, {"type": "webhook"}],
            "permissions": {"secrets": secrets, "egress": [{"host": ECHO_HOST}]},
        },
    })
}

fn scheduled(body: &str) -> String {
    format!("export default {{ async scheduled(event, env) {{\n{body}\n}} }};")
}

/// Creates an app with these secrets in its manifest; returns its id.
async fn create_app(owner: &Client, workspace: &str, code: &str, secrets: &Value) -> Result<String> {
    let app = owner.create_app(workspace, "export default { async scheduled() {} }").await?;
    owner.post(&format!("/v1/apps/{app}/versions"), &version(code, secrets)).await?.ok()?;
    Ok(app)
}

/// Runs the app once by hand and returns the run.
async fn run(owner: &Client, workspace: &str, app: &str, input: Value) -> Result<Value> {
    let automation = owner.create_automation(workspace, app, "manual", 0).await?;
    let run = owner.start_run(&automation, input).await?;
    owner.wait_for_run(&run).await
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn an_admin_gives_a_secret_that_nobody_reads_again(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let declared = json!([{"name": "KEY", "uses": ["sign"]}, {"name": "MISSING", "clear": true}]);
        let app = create_app(&owner, &workspace, &scheduled(""), &declared).await?;
        let secrets = format!("/v1/apps/{app}/secrets");
        let missing = json!({"name": "KEY", "setAt": null, "setByName": null, "hosts": [], "clear": false, "declared": {"uses": ["sign"], "clear": false}});
        let mut first = owner.get(&secrets).await?.ok()?["items"][0].clone();
        let tag = first.as_object_mut().and_then(|item| item.remove("etag"));
        assert!(tag.is_some_and(|tag| tag.is_string()), "an item has the tag that its writes hold");
        assert_eq!(first.as_object_mut().and_then(|item| item.remove("version")), Some(json!(0)));
        assert_eq!(first, missing);

        let body = json!({"value": VALUE, "hosts": ["API.example.com.", "api.example.com", "b.example.com"], "clear": true});
        let set = owner.put(&format!("{secrets}/KEY"), &body).await?.ok()?;
        assert_eq!((&set["hosts"], &set["clear"]), (&json!(["api.example.com", "b.example.com"]), &json!(true)));
        assert!(set["setAt"].is_string() && set["setByName"].is_string(), "{set}");
        owner.put(&format!("{secrets}/OTHER"), &json!({"value": "line one\nline two"})).await?.ok()?;
        let items = owner.get(&secrets).await?.ok()?["items"].clone();
        let names: Vec<_> = items.as_array().context("no items")?.iter().map(|item| &item["name"]).collect();
        assert_eq!(names, ["KEY", "MISSING", "OTHER"]);
        assert_eq!((&items[0], &items[2]["declared"]), (&set, &Value::Null));

        // What is left out is taken away: the value is bound to the hosts.
        let replaced = owner.put(&format!("{secrets}/KEY"), &json!({"value": "another-value"})).await?.ok()?;
        assert_eq!((&replaced["hosts"], &replaced["clear"]), (&json!([]), &json!(false)));
        owner.put(&format!("{secrets}/KEY"), &json!({"hosts": []})).await?.assert_error(400, "invalid_request");
        assert_eq!(owner.delete(&format!("{secrets}/OTHER")).await?.ok()?, json!({"ok": true}));
        owner.delete(&format!("{secrets}/OTHER")).await?.assert_error(404, "secret_not_found");
        owner.delete(&format!("{secrets}/a-b")).await?.assert_error(404, "secret_not_found");

        let audit = owner.get(&format!("/v1/workspaces/{workspace}/audit")).await?.to_string();
        assert!(audit.contains("secret.set") && audit.contains("secret.delete"), "{audit}");
        let seen = audit + &items.to_string() + &server.log();
        assert!(!seen.contains(VALUE) && !seen.contains("line two"), "{seen}");
        // A deleted app leaves no secret.
        owner.delete(&format!("/v1/apps/{app}")).await?.ok()?;
        owner.get(&secrets).await?.assert_error(404, "app_not_found");
        let stored = server.dump_data_at_rest().await?;
        assert!(!String::from_utf8_lossy(&stored).contains(VALUE));
        Ok(())
    }

    async fn roles_and_tokens_are_kept_out(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = create_app(&owner, &workspace, &scheduled(""), &json!([])).await?;
        owner.put(&format!("/v1/apps/{app}/access"), &json!({"sharing": "workspace", "people": []})).await?.ok()?;
        let secrets = format!("/v1/apps/{app}/secrets");
        let (one, body) = (format!("{secrets}/KEY"), json!({"value": VALUE}));
        let builder = owner.add_member(&workspace, "builder").await?;
        builder.get(&secrets).await?.ok()?;
        builder.put(&one, &body).await?.assert_error(403, "admin_only");
        builder.delete(&one).await?.assert_error(403, "admin_only");
        for role in ["member", "viewer"] {
            let person = owner.add_member(&workspace, role).await?;
            person.get(&secrets).await?.assert_status(403);
            person.put(&one, &body).await?.assert_error(403, "admin_only");
        }
        let stranger = server.sign_in("stranger@example.test").await?;
        stranger.create_workspace("Elsewhere").await?;
        stranger.get(&secrets).await?.assert_error(404, "app_not_found");
        stranger.put(&one, &body).await?.assert_error(404, "app_not_found");
        let token = owner.with_bearer(&owner.create_token(&workspace, &["admin"]).await?);
        token.get(&secrets).await?.assert_error(403, "console_only");
        token.put(&one, &body).await?.assert_error(403, "console_only");
        Ok(())
    }

    async fn bad_input_is_refused(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = create_app(&owner, &workspace, &scheduled(""), &json!([])).await?;
        let secrets = format!("/v1/apps/{app}/secrets");
        for (name, body) in [
            ("2KEY", json!({"value": VALUE})),
            ("__proto__", json!({"value": VALUE})),
            ("K%20Y", json!({"value": VALUE})),
            (&"K".repeat(41), json!({"value": VALUE})),
            ("KEY", json!({"value": ""})),
            ("KEY", json!({"value": null})),
            ("KEY", json!({"value": "v".repeat(4097)})),
            ("KEY", json!({"value": "a\r\nb: c", "hosts": ["api.example.com"]})),
            ("KEY", json!({"value": "schl\u{fc}ssel", "hosts": ["api.example.com"]})),
            ("KEY", json!({"value": VALUE, "hosts": ["127.0.0.1"]})),
            ("KEY", json!({"value": VALUE, "hosts": ["https://api.example.com"]})),
            ("KEY", json!({"value": VALUE, "hosts": ["*.example.com"]})),
            ("KEY", json!({"value": VALUE, "hosts": vec!["a.example.com"; 17]})),
            ("KEY", json!({"value": VALUE, "clear": "yes"})),
            ("KEY", json!({"value": VALUE, "uses": ["sign"]})),
        ] {
            let refused = owner.put(&format!("{secrets}/{name}"), &body).await?;
            refused.assert_error(400, "invalid_request");
            assert!(!refused.to_string().contains(VALUE), "{refused}");
        }
        owner.put(&format!("{secrets}/KEY"), &json!({"value": "\u{43a}".repeat(4096)})).await?.ok()?;
        for number in 1..50 {
            owner.put(&format!("{secrets}/K{number}"), &json!({"value": VALUE})).await?.ok()?;
        }
        owner.put(&format!("{secrets}/ONE_MORE"), &json!({"value": VALUE})).await?.assert_error(409, "too_many_secrets");
        for declared in [
            json!([{"name": "a b"}]),
            json!([{"name": "A"}, {"name": "A"}]),
            json!([{"name": "A", "uses": []}]),
            json!([{"name": "A", "uses": ["wrapKey"]}]),
            json!((0..51).map(|number| json!({"name": format!("A{number}")})).collect::<Vec<_>>()),
        ] {
            let body = version(&scheduled(""), &declared);
            owner.post(&format!("/v1/apps/{app}/versions"), &body).await?.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn one_of_two_at_once_is_the_fiftieth(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = create_app(&owner, &workspace, &scheduled(""), &json!([])).await?;
        let put = async |name: &str| owner.put(&format!("/v1/apps/{app}/secrets/{name}"), &json!({"value": VALUE})).await;
        for number in 1..50 {
            put(&format!("K{number}")).await?.ok()?;
        }
        let (one, other) = tokio::join!(put("LEFT"), put("RIGHT"));
        let mut statuses = [one?.status, other?.status].map(|status| status.as_u16());
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        Ok(())
    }

    async fn code_signs_with_a_key_that_it_never_sees(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let declared = json!([{"name": "KEY", "uses": ["sign"]}, {"name": "PLAIN", "clear": true}, {"name": "KEPT", "clear": true}]);
        let code = scheduled(r#"
            const bytes = (text) => new TextEncoder().encode(text);
            const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
            const hmac = { name: "HMAC", hash: "SHA-256" };
            const key = await crypto.subtle.importKey("raw", env.secrets.KEY, hmac, true, ["sign"]);
            const why = (promise) => promise.then(() => "done", (error) => error.name === "Error" ? error.code : error.name);
            console.log("signed", hex(await crypto.subtle.sign("HMAC", key, bytes("message"))));
            console.log("export", await why(crypto.subtle.exportKey("raw", key)), key.extractable);
            console.log("verify", await why(crypto.subtle.importKey("raw", env.secrets.KEY, hmac, false, ["verify"])));
            console.log("handle", String(env.secrets.KEY), JSON.stringify({ a: env.secrets.KEY }), env.secrets);
            console.log("clear", typeof env.secrets.PLAIN, env.secrets.PLAIN.length, typeof env.secrets.KEPT);
            if (event.data?.returns) return { text: `with ${env.secrets.PLAIN} in it`, hidden: btoa(env.secrets.PLAIN), key: env.secrets.KEY };
            throw new Error(`with ${env.secrets.PLAIN} in it`);
        "#);
        let app = create_app(&owner, &workspace, &code, &declared).await?;
        // Without a value.
        let failed = run(&owner, &workspace, &app, Value::Null).await?;
        assert_eq!(failed["status"], "failed", "{failed}");
        assert!(failed["errorMessage"].to_string().contains("secret KEY has no value"), "{failed}");
        let ask = format!("/v1/runs/{}/ask", failed["id"].as_str().context("no id")?);
        assert_eq!(owner.get(&ask).await?.ok()?["failureClass"], "secret_missing");
        for (name, clear) in [("KEY", true), ("PLAIN", true), ("KEPT", false)] {
            let body = json!({"value": VALUE, "clear": clear});
            owner.put(&format!("/v1/apps/{app}/secrets/{name}"), &body).await?.ok()?;
        }
        let ended = run(&owner, &workspace, &app, Value::Null).await?;
        assert!(ended["errorMessage"].to_string().contains("with [redacted] in it"), "{ended}");
        let run_id = ended["id"].as_str().context("no id")?;
        let logged = owner.app_log(&app, Some(run_id)).await?;
        let lines: Vec<String> = logged.into_iter().filter(|line| line.source == "app").map(|line| line.message).collect();
        // HMAC-SHA256 of "message" with the secret, of another implementation.
        let expected = tests::hub_signature(VALUE, b"message").replace("sha256=", "signed ");
        assert_eq!(lines[..5], [
            expected,
            "export InvalidAccessError false".to_owned(),
            "verify secret_unavailable".to_owned(),
            "handle [secret KEY] {\"a\":\"[secret KEY]\"} { KEY: [secret KEY], PLAIN: \"[redacted]\", KEPT: [secret KEPT] }".to_owned(),
            format!("clear string {} object", VALUE.len()),
        ]);
        let all = ended.to_string() + &lines.join("\n");
        assert!(!all.contains(VALUE), "{all}");
        // What the code returns is redacted too, in every form.
        let returned = run(&owner, &workspace, &app, json!({"returns": true})).await?;
        let redacted = json!({"text": "with [redacted] in it", "hidden": "[redacted]", "key": "[secret KEY]"});
        assert_eq!((&returned["status"], &returned["result"]), (&json!("succeeded"), &redacted), "{returned}");
        Ok(())
    }
}

#[tokio::test]
async fn a_secret_in_a_header_goes_to_its_hosts_only() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let options =
            Server::with(database).args(["--allowed-hosts", &echo.allowed_hosts(), "--no-rate-limits"]);
        let options = options.env("SSL_CERT_FILE", echo.authority()?);
        tests::on_server(options, async |server| check_headers(&server, &echo).await).await?;
    }
    Ok(())
}

async fn check_headers(server: &Server, echo: &EchoService) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let declared = json!([{"name": "HERE", "uses": ["header"]}, {"name": "ELSEWHERE"}, {"name": "SIGN", "uses": ["sign"]}]);
    let code = scheduled(
        r#"
        const out = [];
        for (const [name, value] of event.data.headers) {
          const answer = fetch(event.data.url, { headers: { [name]: value } });
          out.push(await answer.then(async (got) => `${got.status} ${(await got.text()).includes("[redacted]")}`, (error) => error.code));
        }
        console.log(out.join("; "));
    "#,
    );
    let app = create_app(&owner, &workspace, &code, &declared).await?;
    for (name, host) in [("HERE", ECHO_HOST), ("ELSEWHERE", "other.example.com"), ("SIGN", ECHO_HOST)] {
        let body = json!({"value": VALUE, "hosts": [host]});
        owner.put(&format!("/v1/apps/{app}/secrets/{name}"), &body).await?.ok()?;
    }
    let headers = json!([
        ["Authorization", "Bearer [secret HERE]"],
        ["x-api-key", "[secret HERE]"],
        ["x-api-key", "[secret ELSEWHERE]"],
        ["x-api-key", "[secret SIGN]"],
        ["x-note", "[secret HERE]"],
        ["cookie", "[secret HERE]"],
        ["x-api-key", "[secret HERE] and more"],
        ["idempotency-key", "[secret HERE]"],
        ["x-note", "[secret NOBODY]"],
        ["authorization", "Bearer of my own"],
    ]);
    let input = json!({"url": format!("{}/x", echo.url()), "headers": headers});
    let ended = run(&owner, &workspace, &app, input).await?;
    let id = ended["id"].as_str().context("no id")?;
    let lines = owner.app_log(&app, Some(id)).await?;
    let said = lines.iter().find(|line| line.source == "app").context("no line")?;
    assert_eq!(
        said.message,
        "200 true; 200 true; header_denied; header_denied; header_denied; header_denied; header_denied; header_denied; 200 false; header_denied"
    );
    let received = echo.take_received();
    assert_eq!(received.len(), 3);
    assert!(received[0].contains(&format!("authorization: Bearer {VALUE}\n")), "{}", received[0]);
    assert!(received[1].contains(&format!("x-api-key: {VALUE}\n")), "{}", received[1]);
    assert!(received[2].contains("x-note: [secret NOBODY]\n"), "{}", received[2]);
    let all: String = lines.iter().map(|line| line.message.as_str()).collect();
    assert!(!(all + &ended.to_string()).contains(VALUE));
    Ok(())
}
