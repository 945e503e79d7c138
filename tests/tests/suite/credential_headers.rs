//! Headers with credentials that code sets itself: where they are sent, and who may let an app have them.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::{Client, Database, ECHO_HOST, EchoService, Reply, Server};

const TOKEN: &str = "token-that-code-got-0123456789";
const PLAIN: &str = "export default { async scheduled() {} }";
/// Sends requests of its input, and says what became of each.
const SENDING: &str = r#"export default { async scheduled(event) {
    const said = [];
    for (const { url, ...init } of event.data) {
        said.push(await fetch(url, init).then((got) => String(got.status), (error) => error.code));
    }
    return said.join(" ");
} }"#;

fn version(code: &str, permissions: &Value) -> Value {
    json!({
        "files": {"main.js": code},
        "manifest": {
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}], "permissions": permissions,
        },
    })
}

fn egress(host: &str, more: &Value) -> Value {
    let mut entry = json!({"host": host});
    for (name, value) in more.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    json!({"egress": [entry]})
}

/// A workflow of n8n that signs in and lists something with the token that it got.
fn login_workflow(host: &str) -> Value {
    let node = |id: &str, name: &str, kind: &str, parameters: Value| {
        json!({
            "id": id, "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 4.2,
            "position": [0, 0], "parameters": parameters,
        })
    };
    let header = json!({"parameters": [{"name": "Authorization", "value": "=Bearer {{ $json.token }}"}]});
    json!({
        "name": "Signs in",
        "nodes": [
            node("1", "Start", "manualTrigger", json!({})),
            node("2", "Login", "httpRequest", json!({"method": "POST", "url": format!("https://{host}/login")})),
            node("3", "List", "httpRequest", json!({
                "url": format!("https://{host}/list"), "sendHeaders": true, "headerParameters": header,
            })),
        ],
        "connections": {
            "Start": {"main": [[{"node": "Login", "type": "main", "index": 0}]]},
            "Login": {"main": [[{"node": "List", "type": "main", "index": 0}]]},
        },
    })
}

async fn on_both_with_echo(check: impl AsyncFn(&Server, &EchoService) -> Result<()>) -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let options =
            Server::with(database).args(["--allowed-hosts", &echo.allowed_hosts(), "--no-rate-limits"]);
        let options = options.env("SSL_CERT_FILE", echo.authority()?);
        tests::on_server(options, async |server| check(&server, &echo).await).await?;
    }
    Ok(())
}

#[tokio::test]
async fn they_are_sent_to_their_host_only() -> Result<()> {
    on_both_with_echo(check_where_they_are_sent).await
}

async fn check_where_they_are_sent(server: &Server, echo: &EchoService) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let app = owner.create_app(&workspace, PLAIN).await?;
    let versions = format!("/v1/apps/{app}/versions");
    let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
    let url = |path: &str| format!("{}{path}", echo.url());
    let request = |method: &str, name: &str, value: &str| json!({"url": url("/x"), "method": method, "headers": {name: value}});
    let bearer = format!("Bearer {TOKEN}");
    let requests = json!([
        request("GET", "Authorization", &bearer),
        request("POST", "AUTHORIZATION", &bearer),
        request("OPTIONS", "authorization", &bearer),
        request("HEAD", "authorization", &bearer),
        request("GET", "cookie", "session=1"),
        request("GET", "proxy-authorization", &bearer),
        request("GET", "host", "other.example.com"),
        {"url": "https://other.example.com/", "headers": {"authorization": bearer}},
    ]);
    let run = async || -> Result<(String, String)> {
        let run = owner.start_run(&automation, requests.clone()).await?;
        let ended = owner.wait_for_run(&run).await?;
        let log: String =
            owner.app_log(&app, Some(&run)).await?.iter().map(|line| line.message.clone()).collect();
        Ok((ended["result"].as_str().unwrap_or_default().to_owned(), format!("{ended}{log}")))
    };
    for (headers, expected, received) in [
        (
            json!({"headers": ["authorization"]}),
            "200 200 200 200 header_denied header_denied header_denied egress_denied",
            4,
        ),
        (
            json!({"headers": ["cookie"]}),
            "header_denied header_denied header_denied header_denied 200 header_denied header_denied egress_denied",
            1,
        ),
        (
            json!({"headers": ["authorization", "cookie"], "methods": ["GET", "OPTIONS"]}),
            "200 method_denied 200 method_denied 200 header_denied header_denied egress_denied",
            3,
        ),
        (
            json!({}),
            "header_denied header_denied header_denied header_denied header_denied header_denied header_denied egress_denied",
            0,
        ),
    ] {
        owner.post(&versions, &version(SENDING, &egress(ECHO_HOST, &headers))).await?.ok()?;
        let (said, shown) = run().await?;
        assert_eq!(said, expected, "{headers}: {shown}");
        let sent = echo.take_received();
        assert_eq!(sent.len(), received, "{headers}: {sent:?}");
        // Neither the trace nor the log has it.
        assert!(!shown.contains(TOKEN), "{shown}");
    }
    // A closed gate lets nothing through.
    owner
        .post(&versions, &version(SENDING, &egress(ECHO_HOST, &json!({"headers": ["authorization"]}))))
        .await?
        .ok()?;
    let gate = gate_to_echo(&owner, &workspace).await?;
    owner.patch(&gate, &json!({"status": "closed"})).await?.ok()?;
    assert!(run().await?.0.starts_with("host_denied host_denied"));
    assert!(echo.take_received().is_empty());
    assert!(!server.log().contains(TOKEN));
    Ok(())
}

#[tokio::test]
async fn an_imported_workflow_that_signs_in_runs_once_an_admin_agreed() -> Result<()> {
    on_both_with_echo(check_import).await
}

async fn check_import(server: &Server, echo: &EchoService) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let builder = owner.add_member(&workspace, "builder").await?;
    let token = owner.with_bearer(&owner.create_token(&workspace, &["read", "write", "admin"]).await?);
    let source = login_workflow(&echo.url().replace("https://", "")).to_string();
    let import = async |client: &Client| -> Result<Value> {
        client
            .post(
                &format!("/v1/workspaces/{workspace}/imports"),
                &json!({"source": source, "name": "Signs in"}),
            )
            .await?
            .ok()
    };
    // Whoever else turns it on leaves the step out.
    let made = import(&builder).await?;
    let enable = |made: &Value| format!("/v1/imports/{}/enable", made["id"].as_str().unwrap_or_default());
    let report = made["report"].to_string();
    assert!(
        report.contains("Sends the header authorization to") && report.contains("an admin has to agree"),
        "{report}"
    );
    builder.post(&enable(&made), &json!({})).await?.assert_error(403, "admin_approval_required");
    token.post(&enable(&made), &json!({})).await?.assert_error(403, "console_only");
    builder.post(&enable(&made), &json!({"skip": ["3"]})).await?.ok()?;
    let app = made["appId"].as_str().context("no app")?;
    assert_eq!(headers_of(&builder, app).await?, Value::Null);

    let made = import(&owner).await?;
    owner.post(&enable(&made), &json!({})).await?.ok()?;
    let app = made["appId"].as_str().context("no app")?;
    assert_eq!(headers_of(&owner, app).await?, json!(["authorization"]));
    // The builder's import made the gate, which an admin opens.
    let gate = gate_to_echo(&owner, &workspace).await?;
    owner.patch(&gate, &json!({"status": "open"})).await?.ok()?;
    echo.respond_with("/login", http::StatusCode::OK, &json!({"token": TOKEN}).to_string());
    echo.respond_with("/list", http::StatusCode::OK, &json!([{"id": 1}, {"id": 2}]).to_string());
    let automations = owner.get(&format!("/v1/workspaces/{workspace}/automations")).await?.ok()?;
    let of_app = |it: &&Value| it["appId"] == app;
    let automation =
        automations["items"].as_array().and_then(|all| all.iter().find(of_app)).context("no automation")?;
    let run = owner.start_run(automation["id"].as_str().context("no id")?, json!({})).await?;
    let ended = owner.wait_for_run(&run).await?;
    assert_eq!(ended["status"], "succeeded", "{ended}");
    let received = echo.take_received().concat();
    assert!(received.contains(&format!("authorization: Bearer {TOKEN}\n")), "{received}");
    Ok(())
}

/// Returns the path of the gate to the echo service.
async fn gate_to_echo(owner: &Client, workspace: &str) -> Result<String> {
    let gates = owner.get(&format!("/v1/workspaces/{workspace}/gates")).await?.ok()?;
    let gate = gates["items"].as_array().and_then(|all| all.iter().find(|gate| gate["host"] == ECHO_HOST));
    Ok(format!("/v1/gates/{}", gate.and_then(|gate| gate["id"].as_str()).context("no gate")?))
}

/// Returns the headers of the first host of an app's current version.
async fn headers_of(client: &Client, app: &str) -> Result<Value> {
    let current = client.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
    let version = client.get(&format!("/v1/apps/{app}/versions/{current}")).await?.ok()?;
    Ok(version["manifest"]["permissions"]["egress"][0]["headers"].clone())
}

#[track_caller]
fn assert_refused(reply: &Reply, in_console: bool, what: &str) {
    let code = if in_console { "admin_approval_required" } else { "approval_needs_console" };
    let text = String::from_utf8_lossy(&reply.body);
    assert!(reply.status == 403 && text.contains(code), "{what}: {reply}");
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn no_door_gives_them_without_an_admin_in_the_console(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, PLAIN).await?;
        owner.put(&format!("/v1/apps/{app}/access"), &json!({"sharing": "workspace", "people": []})).await?.ok()?;
        let admin = owner.add_member(&workspace, "admin").await?;
        let builder = owner.add_member(&workspace, "builder").await?;
        let agent = owner.register_agent("Agent").await?.sign_in(&owner, &workspace, "write").await?;
        let token = owner.create_token(&workspace, &["read", "write", "admin"]).await?;
        let versions = format!("/v1/apps/{app}/versions");
        let plain = version(PLAIN, &egress("one.example.com", &json!({})));
        let with = |headers: Value| version(PLAIN, &egress("one.example.com", &json!({"headers": headers})));

        for (headers, field) in [
            (json!(["host"]), "manifest.permissions.egress[0].headers[0]"),
            (json!(["cookie", "cookie"]), "manifest.permissions.egress[0].headers[1]"),
            (json!("authorization"), "manifest.permissions.egress[0].headers"),
            (json!([{"name": "cookie"}]), "manifest.permissions.egress[0].headers[0]"),
            (Value::Null, "manifest.permissions.egress[0].headers"),
        ] {
            let refused = owner.post(&versions, &with(headers)).await?;
            refused.assert_error(400, "invalid_request");
            assert!(String::from_utf8_lossy(&refused.body).contains(field), "{refused}");
        }

        let failing = PLAIN.replace("scheduled() {", "scheduled() { throw new Error('as requested');");
        let wider = version(&failing, &egress("one.example.com", &json!({"headers": ["authorization"]})));
        let wider = owner.post(&versions, &wider).await?.string_at("/id")?;
        let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
        let run = owner.start_run(&automation, json!({})).await?;
        assert_eq!(owner.wait_for_run(&run).await?["status"], "failed");
        let base = owner.post(&versions, &plain).await?.string_at("/id")?;
        let found = owner.get(&format!("{versions}/compare?from={wider}&to={base}")).await?.ok()?.to_string();
        assert!(found.contains("\"header\"") || found.contains("no longer set"), "{found}");

        for (client, in_console, what) in [
            (&builder, true, "a builder"),
            (&owner.with_bearer(&token), false, "a token"),
            (&owner.with_bearer(&agent.access), false, "an agent"),
        ] {
            assert_refused(&client.post(&versions, &with(json!(["authorization"]))).await?, in_console, what);
            let rollback = json!({"expectCurrentVersionId": base});
            assert_refused(&client.post(&format!("{versions}/{wider}/rollback"), &rollback).await?, in_console, what);
            let replay = client.post(&format!("/v1/runs/{run}/replay"), &json!({"version": "original"})).await?;
            assert_refused(&replay, in_console, what);
            let mut new = with(json!(["cookie"]));
            new["name"] = json!("Another app");
            let created = client.post(&format!("/v1/workspaces/{workspace}/apps"), &new).await?;
            assert_refused(&created, in_console, what);
        }
        let current = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;
        assert_eq!(current, base);

        // An admin lets it, and who builds after that keeps it, or has less of it.
        let agreed = admin.post(&versions, &with(json!(["authorization"]))).await?.string_at("/id")?;
        let agreed = owner.get(&format!("{versions}/{agreed}")).await?.ok()?;
        assert!(agreed["trustReasons"].to_string().contains("credential_headers"), "{agreed}");
        builder.post(&versions, &with(json!(["authorization"]))).await?.ok()?;
        assert_refused(&builder.post(&versions, &with(json!(["authorization", "cookie"]))).await?, true, "one more");
        let other = version(PLAIN, &egress("two.example.com", &json!({"headers": ["authorization"]})));
        assert_refused(&builder.post(&versions, &other).await?, true, "another host");
        builder.post(&versions, &plain).await?.ok()?;
        assert_refused(&builder.post(&versions, &with(json!(["authorization"]))).await?, true, "again");
        Ok(())
    }
}
