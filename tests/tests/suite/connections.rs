//! Connections: who may make and change them, and that a secret is never seen again.

use anyhow::{Context as _, Result};
use http::{Method, header};
use serde_json::{Value, json};
use tests::{Client, Database, EchoService, Server};

const SECRET: &str = "s3cret-value-that-nobody-sees-again";

const CODE: &str = "export default { async scheduled() {} }";

fn version_with_connection(name: &str, id: &str) -> Value {
    json!({
        "files": {"main.js": CODE},
        "manifest": {
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}], "permissions": {"connectors": [{"name": name, "connectionId": id}]},
        },
    })
}

fn described(base_url: &str) -> Value {
    json!({
        "displayName": "Orders", "baseUrl": base_url, "auth": {"type": "bearer"}, "methods": ["GET", "POST"],
        "pathPrefix": "/orders", "testPath": "/orders?limit=1", "secret": SECRET,
    })
}

async fn create(owner: &Client, workspace: &str, body: &Value) -> Result<Value> {
    owner.post(&format!("/v1/workspaces/{workspace}/connectors/http"), body).await?.ok()
}

fn without_secret(mut body: Value) -> Value {
    body.as_object_mut().map(|members| members.remove("secret"));
    body
}

tests::on_both! {
    async fn a_connection_is_made_changed_and_disconnected(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let made = create(&owner, &workspace, &described("https://API.example.com/v1/")).await?;
        assert!(!made.to_string().contains(SECRET), "{made}");
        assert_eq!(made["lastCheck"], Value::Null);
        assert_eq!((&made["status"], &made["secret"]), (&json!("connected"), &json!("write-only")));
        assert_eq!(made["http"]["baseUrl"], "https://api.example.com/v1");
        assert_eq!(made["http"]["host"], "api.example.com");
        assert_eq!(made["health"], json!({"calls24h": 0, "errors24h": 0, "blocked24h": 0, "lastCallAt": null}));
        assert!(made["keyId"].is_string() && made["connectedAt"].is_string(), "{made}");

        let id = made["id"].as_str().context("no id")?;
        let path = format!("/v1/workspaces/{workspace}/connections/{id}");
        let reader = owner.with_bearer(&owner.create_token(&workspace, &["read"]).await?);
        assert_eq!(reader.get(&path).await?.ok()?, made);
        let list = reader.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?;
        assert_eq!((&list["canManage"], &list["connections"]), (&json!(false), &json!([made])));

        // A connection is its own gate.
        let gates = owner.get(&format!("/v1/workspaces/{workspace}/gates")).await?.ok()?;
        let gate = gates["items"].as_array().and_then(|gates| gates.iter().find(|gate| gate["connectionId"] == id));
        let gate = gate.context("the connection is not among the gates")?;
        assert_eq!((&gate["host"], &gate["methods"]), (&json!("api.example.com"), &json!(["GET", "POST"])));
        let gate = format!("/v1/gates/{}", gate["id"].as_str().context("no id")?);
        owner.delete(&gate).await?.assert_error(409, "gate_of_connection");
        owner.patch(&gate, &json!({"status": "closed"})).await?.ok()?;
        assert_eq!(owner.get(&path).await?.ok()?["gate"], "closed");

        // The secret stays at the same host, and is needed again for another.
        let put = format!("{path}/http");
        let same = owner.put(&put, &without_secret(described("https://api.example.com/v2"))).await?.ok()?;
        assert_eq!((&same["http"]["baseUrl"], &same["keyId"]), (&json!("https://api.example.com/v2"), &made["keyId"]));
        assert_eq!(same["gate"], "closed");
        for elsewhere in ["https://evil.example.com/v1", "https://api.example.com:8443/v1"] {
            let refused = owner.put(&put, &without_secret(described(elsewhere))).await?;
            refused.assert_error(400, "invalid_request");
            assert!(refused.to_string().contains("`secret`"), "{refused}");
        }
        let mut other_auth = without_secret(described("https://api.example.com/v2"));
        other_auth["auth"] = json!({"type": "api_key", "in": "query", "name": "key"});
        owner.put(&put, &other_auth).await?.assert_error(400, "invalid_request");
        assert_eq!(owner.get(&path).await?.ok()?, same);

        let gone = owner.delete(&path).await?.ok()?;
        assert_eq!((&gone["ok"], &gone["affectedApps"]), (&json!(true), &json!([])));
        assert_eq!((&gone["connection"]["status"], &gone["connection"]["secret"]), (&json!("disconnected"), &json!("none")));
        assert_eq!(gone["connection"]["keyId"], Value::Null);
        owner.delete(&path).await?.ok()?;
        owner.put(&put, &without_secret(described("https://api.example.com/v2"))).await?.assert_error(400, "invalid_request");
        let again = owner.put(&put, &described("https://other.example.com")).await?.ok()?;
        assert_eq!((&again["status"], &again["gate"]), (&json!("connected"), &json!("open")));
        Ok(())
    }

    async fn no_secret_is_in_answers_the_audit_log_or_errors(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        create(&owner, &workspace, &described("https://api.example.com")).await?;
        let connectors = format!("/v1/workspaces/{workspace}/connectors");
        let mail = json!({"displayName": "Mail", "secret": SECRET});
        owner.post(&format!("{connectors}/sendgrid"), &mail).await?;
        let url = json!({"displayName": "Hook", "secret": format!("https://hooks.example.com/{SECRET}?a={SECRET}")});
        let made = owner.post(&format!("{connectors}/incoming_webhook"), &url).await?.ok()?;
        assert_eq!(made["http"]["baseUrl"], "https://hooks.example.com/…");
        let mut refused = described("http://api.example.com");
        refused["auth"] = json!({"type": "headers", "names": ["x-key"]});
        let refused = owner.post(&format!("{connectors}/http"), &refused).await?;
        refused.assert_error(400, "invalid_request");
        let mut seen = refused.to_string();
        for read in ["connections", "gates", "audit"] {
            seen += &owner.get(&format!("/v1/workspaces/{workspace}/{read}")).await?.to_string();
        }
        assert!(seen.contains("connection.create") && !seen.contains(SECRET), "{seen}");
        Ok(())
    }

    async fn bad_input_is_refused_with_its_field(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let connectors = format!("/v1/workspaces/{workspace}/connectors");
        let change = |name: &str, value: Value| {
            let mut body = described("https://api.example.com");
            body[name] = value;
            body
        };
        for (field, body) in [
            ("baseUrl", described("http://api.example.com")),
            ("baseUrl", described("https://127.0.0.1/")),
            ("baseUrl", described("https://[::ffff:10.0.0.1]/")),
            ("baseUrl", described("https://2130706433/")),
            ("baseUrl", described("https://user:pass@api.example.com/")),
            ("baseUrl", described("https://api.example.com/?key=1")),
            ("baseUrl", described("https://api.example.com/a/%2e%2e/b")),
            ("baseUrl", described("https://api.example.com\\@evil.example/")),
            ("baseUrl", described("https://printer.local/")),
            ("baseUrl", described("https://api.example.com:22/")),
            ("baseUrl", described("https://api.example.com:8443/")),
            ("secret", change("secret", json!("a\r\nx-evil: 1"))),
            ("secret", without_secret(described("https://api.example.com"))),
            ("methods", change("methods", json!([]))),
            ("pathPrefix", change("pathPrefix", json!("/a/../b"))),
            ("testPath", change("testPath", json!("/elsewhere"))),
            ("auth.name", change("auth", json!({"type": "api_key", "in": "header", "name": "a b"}))),
            ("headers[0].name", change("headers", json!([{"name": "Authorization", "value": "x"}]))),
            ("headers[0].value", change("headers", json!([{"name": "x-a", "value": "a\nb"}]))),
            ("auth", change("auth", json!({"type": "oauth2_code"}))),
            ("auth.tokenUrl", change("auth", json!({
                "type": "service_account", "tokenUrl": "https://169.254.169.254/token", "scopes": [],
            }))),
            ("auth.tokenUrl", change("auth", json!({
                "type": "oauth2_client_credentials", "tokenUrl": "https://api.example.com:8443/token", "clientId": "a",
                "scopes": [], "style": "basic",
            }))),
        ] {
            let refused = owner.post(&format!("{connectors}/http"), &body).await?;
            refused.assert_error(400, "invalid_request");
            assert!(refused.to_string().contains(&format!("`{field}")), "{field}: {refused}");
        }
        let many: serde_json::Map<String, Value> = (0..250).map(|number| (format!("field{number}"), json!("x"))).collect();
        let body = json!({"displayName": "Shop", "secret": SECRET, "values": many});
        let refused = owner.post(&format!("{connectors}/shopify"), &body).await?;
        refused.assert_error(400, "invalid_request");
        assert!(refused.to_string().contains("`values.field"), "{refused}");
        for shop in ["evil.example/", "a.b", "a@b", "..", ""] {
            let body = json!({"displayName": "Shop", "secret": SECRET, "values": {"shop": shop}});
            owner.post(&format!("{connectors}/shopify"), &body).await?.assert_error(400, "invalid_request");
        }
        owner.post(&format!("{connectors}/nobody"), &json!({"displayName": "X"})).await?.assert_error(404, "connector_not_found");
        owner.post(&format!("{connectors}/gmail"), &json!({"displayName": "X"})).await?.assert_error(409, "needs_authorization");
        Ok(())
    }

    async fn another_workspaces_connection_is_not_found(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let (mine, other) = (owner.create_workspace("Mine").await?.id, owner.create_workspace("Other").await?.id);
        let made = create(&owner, &mine, &described("https://api.example.com")).await?;
        let path = format!("/v1/workspaces/{other}/connections/{}", made["id"].as_str().context("no id")?);
        owner.get(&path).await?.assert_error(404, "connection_not_found");
        owner.put(&format!("{path}/http"), &described("https://api.example.com")).await?.assert_error(404, "connection_not_found");
        owner.delete(&path).await?.assert_error(404, "connection_not_found");
        Ok(())
    }

    async fn a_manifest_may_name_a_connector(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let elsewhere = owner.create_workspace("Elsewhere").await?.id;
        create(&owner, &elsewhere, &described("https://api.example.com")).await?;
        let app = owner.create_app(&workspace, CODE).await?;
        let versions = format!("/v1/apps/{app}/versions");
        let naming = |item: &Value| {
            let mut version = version_with_connection("orders", "");
            version["manifest"]["permissions"]["connectors"] = json!([item]);
            version
        };
        let by_connector = naming(&json!({"name": "orders", "connectorId": "http", "methods": ["GET"]}));
        // Connections of another workspace do not count.
        owner.post(&versions, &by_connector).await?.assert_error(404, "connection_not_found");

        let one = create(&owner, &workspace, &described("https://api.example.com")).await?;
        let bound = |made: &Value| json!([{"name": "orders", "connectionId": made["id"], "methods": ["GET"], "paths": null}]);
        let builder = owner.add_member(&workspace, "builder").await?;
        let everybody = json!({"sharing": "team", "people": []});
        owner.put(&format!("/v1/apps/{app}/access"), &everybody).await?.ok()?;
        builder.post(&versions, &by_connector).await?.assert_error(403, "admin_approval_required");
        let token = owner.with_bearer(&owner.create_token(&workspace, &["write"]).await?);
        token.post(&versions, &by_connector).await?.assert_error(403, "approval_needs_console");
        let version = owner.post(&versions, &by_connector).await?.string_at("/id")?;
        let version = owner.get(&format!("{versions}/{version}")).await?.ok()?;
        assert_eq!(version["manifest"]["permissions"]["connectors"], bound(&one), "{version}");

        // Of several, a name keeps its connection; a new name has to choose.
        let two = create(&owner, &workspace, &described("https://other.example.com")).await?;
        let again = builder.post(&versions, &by_connector).await?.string_at("/id")?;
        let again = owner.get(&format!("{versions}/{again}")).await?.ok()?;
        assert_eq!(again["manifest"]["permissions"]["connectors"], bound(&one), "{again}");
        for (item, says) in [
            (json!({"name": "new", "connectorId": "http"}), "connectors[0].connectorId` has several connections"),
            (json!({"name": "new", "connectorId": "http", "connectionId": two["id"]}), "unknown field `connectorId`"),
            (json!({"name": "new", "connectorId": 1}), "unknown field `connectorId`"),
            (json!({"name": "new"}), "missing field `connectionId`"),
            (json!("http"), "connectors[0]"),
        ] {
            let refused = owner.post(&versions, &naming(&item)).await?;
            refused.assert_error(400, "invalid_request");
            assert!(refused.to_string().contains(says), "{refused} does not say {says}");
        }
        for unknown in ["", "nothing", "HTTP", "github"] {
            let unknown = naming(&json!({"name": "new", "connectorId": unknown}));
            owner.post(&versions, &unknown).await?.assert_error(404, "connection_not_found");
        }

        // A disconnected one does not count, and a new app chooses the one that is left.
        let id = one["id"].as_str().context("no id")?;
        owner.delete(&format!("/v1/workspaces/{workspace}/connections/{id}")).await?.ok()?;
        let mut new = by_connector.clone();
        new["name"] = json!("Another app");
        let made = owner.post(&format!("/v1/workspaces/{workspace}/apps"), &new).await?;
        let (app, version) = (made.string_at("/id")?, made.string_at("/currentVersionId")?);
        let version = owner.get(&format!("/v1/apps/{app}/versions/{version}")).await?.ok()?;
        assert_eq!(version["manifest"]["permissions"]["connectors"], bound(&two), "{version}");
        Ok(())
    }

    async fn only_an_admin_in_the_console_lets_an_app_use_a_connection(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let elsewhere = owner.create_workspace("Elsewhere").await?.id;
        let foreign = create(&owner, &elsewhere, &described("https://api.example.com")).await?;
        let made = create(&owner, &workspace, &described("https://api.example.com")).await?;
        let id = made["id"].as_str().context("no id")?;
        let builder = owner.add_member(&workspace, "builder").await?;
        let app = builder.create_app(&workspace, CODE).await?;
        let token = owner.with_bearer(&owner.create_token(&workspace, &["write"]).await?);
        let versions = format!("/v1/apps/{app}/versions");
        let naming = |name: &str, id: &str| version_with_connection(name, id);

        for caller in [&owner, &builder, &token] {
            for unknown in ["conn_01m82kt282f8t8vd5h94yy5t6e", foreign["id"].as_str().context("no id")?] {
                caller.post(&versions, &naming("orders", unknown)).await?.assert_error(404, "connection_not_found");
                let mut new = naming("orders", unknown);
                new["name"] = json!("Another app");
                let apps = format!("/v1/workspaces/{workspace}/apps");
                caller.post(&apps, &new).await?.assert_error(404, "connection_not_found");
            }
        }
        builder.post(&versions, &naming("orders", id)).await?.assert_error(403, "admin_approval_required");
        token.post(&versions, &naming("orders", id)).await?.assert_error(403, "approval_needs_console");
        owner.post(&versions, &naming("orders", id)).await?.ok()?;
        // What the current version names stays, under another name too.
        builder.post(&versions, &naming("again", id)).await?.ok()?;
        token.post(&versions, &naming("orders", id)).await?.ok()?;

        let path = format!("/v1/workspaces/{workspace}/connections/{id}");
        let users = owner.get(&path).await?.ok()?["usedBy"].clone();
        assert_eq!((&users[0]["appId"], &users[0]["status"]), (&json!(app), &json!("healthy")));
        // A new app is private to its maker and to admins.
        let viewer = owner.add_member(&workspace, "viewer").await?;
        for (reader, count) in [(&builder, 1), (&viewer, 0)] {
            let users = reader.get(&path).await?.ok()?["usedBy"].clone();
            assert_eq!(users.as_array().map(Vec::len), Some(count), "{users}");
            let list = reader.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?;
            assert_eq!(list["connections"][0]["usedBy"], users);
        }
        assert_eq!(owner.delete(&path).await?.ok()?["affectedApps"], json!([app]));
        Ok(())
    }

    async fn a_profile_may_allow_only_the_connectors_of_its_region(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let settings = json!({"name": "Strict", "profile": "kz-strict", "teamSize": "solo", "intents": ["automations"], "timezone": "Asia/Almaty"});
        let workspace = owner.post("/v1/workspaces", &settings).await?.string_at("/workspace/id")?;
        let connectors = format!("/v1/workspaces/{workspace}/connectors");
        let body = json!({"displayName": "A service", "secret": SECRET});
        owner.post(&format!("{connectors}/github"), &body).await?.assert_error(403, "connector_not_allowed");
        owner.post(&format!("{connectors}/mobizon"), &body).await?.ok()?;
        create(&owner, &workspace, &described("https://api.example.com")).await?;
        let allowed = owner.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?["allowed"].clone();
        let allowed = allowed.as_array().context("no list")?;
        assert!(allowed.contains(&json!("mobizon")) && allowed.contains(&json!("http")) && !allowed.contains(&json!("github")));
        Ok(())
    }

    async fn a_test_without_a_harmless_request_checks_the_form(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let mut body = described("https://api.example.com");
        body["testable"] = json!(false);
        let made = create(&owner, &workspace, &body).await?;
        let path = format!("/v1/workspaces/{workspace}/connections/{}", made["id"].as_str().context("no id")?);
        let result = owner.post(&format!("{path}/test"), &json!({})).await?.ok()?;
        assert_eq!((&result["ok"], &result["checked"], &result["status"]), (&json!(true), &json!("format"), &Value::Null));
        let read = async || anyhow::Ok(owner.get(&path).await?.ok()?["lastCheck"].clone());
        let kept = read().await?;
        assert_eq!((&kept["ok"], &kept["checked"], &kept["reason"]), (&json!(true), &json!("format"), &Value::Null));
        assert_eq!(result["connection"]["lastCheck"], kept);
        let list = owner.get(&format!("/v1/workspaces/{workspace}/connections")).await?.ok()?;
        assert_eq!(list["connections"][0]["lastCheck"], kept);
        // A test says nothing about what was changed since.
        owner.put(&format!("{path}/http"), &without_secret(body)).await?.ok()?;
        assert_eq!(read().await?, Value::Null);
        owner.delete(&path).await?.ok()?;
        let result = owner.post(&format!("{path}/test"), &json!({})).await?.ok()?;
        assert_eq!((&result["ok"], &result["reason"]), (&json!(false), &json!("not_connected")));
        Ok(())
    }

    async fn a_kept_secret_must_suit_the_new_auth(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let mut body = described("https://api.example.com");
        body["testable"] = json!(false);
        body["secret"] = json!("пароль-сервиса");
        body["auth"] = json!({"type": "api_key", "in": "query", "name": "key"});
        let made = create(&owner, &workspace, &body).await?;
        let id = made["id"].as_str().context("no id")?;
        let path = format!("/v1/workspaces/{workspace}/connections/{id}");
        body = without_secret(body);
        owner.put(&format!("{path}/http"), &body).await?.ok()?;
        body["auth"]["in"] = json!("header");
        let refused = owner.put(&format!("{path}/http"), &body).await?;
        refused.assert_error(400, "invalid_request");
        assert!(refused.to_string().contains("`secret` is required again"), "{refused}");
        assert_eq!(owner.get(&path).await?.ok()?["http"]["auth"]["in"], "query");
        body["secret"] = json!(SECRET);
        owner.put(&format!("{path}/http"), &body).await?.ok()?;
        let result = owner.post(&format!("{path}/test"), &json!({})).await?.ok()?;
        assert_eq!((&result["ok"], &result["checked"]), (&json!(true), &json!("format")));
        // The other PUT is for connections to services of the catalogue, and says so.
        let refused = owner.put(&path, &json!({"displayName": "Orders"})).await?;
        refused.assert_error(404, "connection_not_found");
        assert!(refused.to_string().contains("/http"), "{refused}");
        Ok(())
    }

    async fn an_error_about_the_body_does_not_repeat_its_values(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, CODE).await?;
        let refused = owner.put(&format!("/v1/apps/{app}/secrets/NAME"), &json!({"value": 1_234_567_890_123_u64})).await?;
        refused.assert_error(400, "invalid_request");
        let text = refused.to_string();
        assert!(text.contains("invalid type: integer, expected a string") && !text.contains("1234567890123"), "{text}");
        Ok(())
    }

    async fn a_host_and_a_connection_to_it_have_gates_of_their_own(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        for _ in 0..2 {
            create(&owner, &workspace, &described("https://api.example.com")).await?;
        }
        let app = owner.create_app(&workspace, CODE).await?;
        let mut version = version_with_connection("unused", "");
        version["manifest"]["permissions"] = json!({"egress": [{"host": "api.example.com", "methods": ["GET"]}]});
        owner.post(&format!("/v1/apps/{app}/versions"), &version).await?.ok()?;
        let gates = owner.get(&format!("/v1/workspaces/{workspace}/gates")).await?.ok()?["items"].clone();
        let gates = gates.as_array().context("no items")?;
        let mut to_host = gates.iter().filter(|gate| gate["host"] == "api.example.com").collect::<Vec<_>>();
        assert_eq!(to_host.len(), 3, "{to_host:?}");
        to_host.retain(|gate| gate["connectionId"].is_null());
        assert!(matches!(&to_host[..], [gate] if gate["appIds"] == json!([app])), "{to_host:?}");
        Ok(())
    }

    async fn the_catalogue_has_guides_in_three_languages(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let mut guides = Vec::new();
        for language in ["en", "ru", "kk"] {
            let request = owner.request(Method::GET, "/v1/connector-catalog");
            let read = request.header(header::ACCEPT_LANGUAGE, language)?.send().await?.ok()?;
            let entries = read["entries"].as_array().context("no entries")?.clone();
            assert!(entries.len() > 35, "{}", entries.len());
            let github = entries.iter().find(|entry| entry["id"] == "github").context("no GitHub")?;
            guides.push(github["guide"].as_str().context("no guide")?.to_owned());
        }
        guides.sort();
        guides.dedup();
        assert_eq!(guides.len(), 3);
        Ok(())
    }
}

#[tokio::test]
async fn an_app_is_limited_to_what_its_manifest_says_of_a_connection() -> Result<()> {
    for database in [Database::Sqlite, Database::Postgres] {
        let echo = EchoService::start().await?;
        let fakes = format!("github={}", echo.plain_url());
        let options = Server::with(database).args(["--connector-base", &fakes, "--no-rate-limits"]);
        tests::on_server(options, check_limits).await?;
    }
    Ok(())
}

async fn check_limits(server: Server) -> Result<()> {
    let owner = server.sign_in("owner@example.test").await?;
    let workspace = owner.create_workspace("Tulpar").await?.id;
    let github = format!("/v1/workspaces/{workspace}/connectors/github");
    let app = owner.create_app(&workspace, CODE).await?;
    let versions = format!("/v1/apps/{app}/versions");
    let code = r#"export default { async scheduled(event, env) {
        for (const [method, path] of event.data) {
            const answer = env.connections.code.fetch(path, { method });
            console.log(method, path, await answer.then((got) => got.status, (error) => error.code ?? error.name));
        }
    } };"#;
    let version = |connector: Value| {
        let mut body = version_with_connection("code", "conn_01m82kt282f8t8vd5h94yy5t6e");
        body["files"]["main.js"] = json!(code);
        body["manifest"]["permissions"]["connectors"] = json!([connector]);
        body
    };
    let made =
        owner.post(&github, &json!({"displayName": "Ours", "secret": SECRET})).await?.string_at("/id")?;
    let limited =
        json!({"name": "code", "connectionId": made, "methods": ["GET"], "paths": ["/repos", "/user/keys"]});
    owner.post(&versions, &version(limited)).await?.ok()?;

    let requests = json!([
        ["GET", "/repos"],
        ["GET", "/repos/a?b=1"],
        ["GET", "/user/keys/1"],
        ["POST", "/repos"],
        ["GET", "/user"],
        ["GET", "/reposx"],
        ["GET", "/repos/%2e%2e/user"],
        ["GET", "/repos%2f..%2fuser"],
        ["GET", "//user"],
    ]);
    let automation = owner.create_automation(&workspace, &app, "manual", 0).await?;
    let run = owner.start_run(&automation, requests).await?;
    owner.wait_for_run(&run).await?;
    let lines = owner.app_log(&app, Some(&run)).await?;
    let said: Vec<_> =
        lines.iter().filter(|line| line.source == "app").map(|line| line.message.as_str()).collect();
    assert_eq!(
        said,
        [
            "GET /repos 200",
            "GET /repos/a?b=1 200",
            "GET /user/keys/1 200",
            "POST /repos method_denied",
            "GET /user path_denied",
            "GET /reposx path_denied",
            "GET /repos/%2e%2e/user path_denied",
            "GET /repos%2f..%2fuser path_denied",
            "GET //user invalid_url",
        ]
    );

    let trace = owner.get(&format!("/v1/runs/{run}/trace")).await?.ok()?;
    let first = &trace["gate"][0];
    assert_eq!((&first["connection"], &first["connectionId"]), (&json!("code"), &json!(made)));

    // A builder may narrow what an admin has allowed, and not widen it.
    let builder = owner.add_member(&workspace, "builder").await?;
    let everybody = json!({"sharing": "team", "people": []});
    owner.put(&format!("/v1/apps/{app}/access"), &everybody).await?.ok()?;
    let with = |methods: Value, paths: Value| {
        version(json!({"name": "code", "connectionId": made, "methods": methods, "paths": paths}))
    };
    builder.post(&versions, &with(json!(["GET"]), json!(["/repos/a"]))).await?.ok()?;
    for wider in [
        with(json!(["GET"]), json!(["/repos"])),
        with(json!(["GET", "POST"]), json!(["/repos/a"])),
        with(Value::Null, json!(["/repos/a"])),
    ] {
        builder.post(&versions, &wider).await?.assert_error(403, "admin_approval_required");
    }
    for wrong in [
        json!({"methods": []}),
        json!({"paths": []}),
        json!({"paths": ["repos"]}),
        json!({"paths": ["/a/../b"]}),
        json!({"paths": ["/a?b"]}),
    ] {
        let mut connector = json!({"name": "code", "connectionId": made});
        connector
            .as_object_mut()
            .context("no object")?
            .extend(wrong.as_object().context("no object")?.clone());
        owner.post(&versions, &version(connector)).await?.assert_error(400, "invalid_request");
    }
    Ok(())
}
