//! Gates: who may open an app's access to a host.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tests::Client;

const CODE: &str = "export default { async scheduled() {} }";

fn version_with_hosts(hosts: &[&str]) -> Value {
    let egress: Vec<Value> = hosts.iter().map(|host| json!({"host": host, "methods": ["GET"]})).collect();
    json!({
        "files": {"main.js": CODE},
        "manifest": {
            "name": "An app", "description": "Of a test.", "archetype": "workshop", "category": "interface",
            "triggers": [{"type": "manual"}], "permissions": {"egress": egress},
        },
    })
}

/// Returns the status of the gate to a host.
async fn gate_status(owner: &Client, workspace: &str, host: &str) -> Result<String> {
    let reply = owner.get(&format!("/v1/workspaces/{workspace}/gates")).await?;
    let gates = reply.ok()?["items"].as_array().context("no items")?.clone();
    let found = gates.iter().find(|gate| gate["host"] == host).with_context(|| reply.to_string())?;
    found["status"].as_str().map(str::to_owned).context("no status")
}

tests::on_both! {
    async fn an_admin_creates_and_deletes_a_gate(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let gates = format!("/v1/workspaces/{workspace}/gates");
        let app = owner.create_app(&workspace, CODE).await?;
        let token = owner.with_bearer(&owner.create_token(&workspace, &["admin"]).await?);
        let declared = version_with_hosts(&["api.example.com"]);
        token.post(&format!("/v1/apps/{app}/versions"), &declared).await?.ok()?;

        // The version of a token made a closed gate to the host.
        owner.post(&gates, &json!({"host": "API.example.com."})).await?.assert_error(409, "gate_exists");
        let listed = owner.get(&gates).await?;
        let found = listed.ok()?["items"].as_array().context("no items")?.clone();
        let closed = found.iter().find(|gate| gate["host"] == "api.example.com").context("no gate")?;
        let address = format!("/v1/gates/{}", closed["id"].as_str().context("no id")?);
        let builder = owner.add_member(&workspace, "builder").await?;
        builder.delete(&address).await?.assert_error(403, "admin_only");
        assert_eq!(owner.delete(&address).await?.ok()?, json!({"ok": true}));
        owner.delete(&address).await?.assert_error(404, "gate_not_found");

        let body = json!({"host": "API.example.com.", "methods": ["POST", "GET", "POST"], "name": " Orders "});
        let created = owner.post(&gates, &body).await?.ok()?;
        assert_eq!(created["host"], "api.example.com");
        assert_eq!((&created["name"], &created["methods"]), (&json!("Orders"), &json!(["GET", "POST"])));
        assert_eq!((&created["status"], &created["connectionId"]), (&json!("open"), &Value::Null));
        assert_eq!(created["appIds"], json!([app]));
        for refused in ["127.0.0.1", "[::1]", "2130706433", "printer.local", "localhost", "https://a.com", "a.com:80", "*.a.com", "com"] {
            let reply = owner.post(&gates, &json!({"host": refused})).await?;
            reply.assert_error(400, "invalid_request");
            assert!(String::from_utf8_lossy(&reply.body).contains("`host`"), "{reply}");
        }
        for refused in [
            json!({"host": "b.example.com", "methods": []}),
            json!({"host": "b.example.com", "methods": ["TRACE"]}),
            json!({"host": "b.example.com", "name": " "}),
            json!({"host": "b.example.com", "connectionId": "conn_01m82kt282f8t8vd5h94yy5t6e"}),
        ] {
            owner.post(&gates, &refused).await?.assert_error(400, "invalid_request");
        }
        Ok(())
    }

    async fn one_of_two_simultaneous_gates_to_a_host_is_created(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let gates = format!("/v1/workspaces/{workspace}/gates");
        let body = json!({"host": "api.example.com"});
        let (one, other) = tokio::join!(owner.post(&gates, &body), owner.post(&gates, &body));
        let mut statuses = [one?.status, other?.status].map(|status| status.as_u16());
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        Ok(())
    }

    async fn a_token_cannot_open_a_gate(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let app = owner.create_app(&workspace, CODE).await?;
        let versions = format!("/v1/apps/{app}/versions");

        let created = owner.post(&versions, &version_with_hosts(&["console.example.com"])).await?;
        assert_eq!(created.ok()?["needsConsole"], json!([]));
        assert_eq!(gate_status(&owner, &workspace, "console.example.com").await?, "open");

        let builder = owner.add_member(&workspace, "builder").await?;
        let own = builder.create_app(&workspace, CODE).await?;
        let created = builder.post(&format!("/v1/apps/{own}/versions"), &version_with_hosts(&["builder.example.com"])).await?;
        assert_eq!(created.ok()?["needsConsole"], json!(["An admin opens the gate to builder.example.com."]));
        assert_eq!(gate_status(&owner, &workspace, "builder.example.com").await?, "closed");

        let token = owner.with_bearer(&owner.create_token(&workspace, &["admin"]).await?);
        let writer = owner.with_bearer(&owner.create_token(&workspace, &["write"]).await?);
        let agent = server.client().register_agent("An agent").await?;
        let agent = agent.sign_in(&owner, &workspace, "write").await?;
        let agent = owner.with_bearer(&agent.access);
        // Without the scope admin, a version with another host is none, and no gate is made for it.
        for caller in [writer, agent] {
            let declared = version_with_hosts(&["console.example.com", "agent.example.com"]);
            caller.post(&versions, &declared).await?.assert_error(403, "approval_needs_console");
            let gates = owner.get(&format!("/v1/workspaces/{workspace}/gates")).await?.ok()?;
            assert!(!gates.to_string().contains("agent.example.com"), "{gates}");
        }
        let (name, caller) = ("token", token);
        let host = format!("{name}.example.com");
        let needs = json!([format!("An admin opens the gate to {host}.")]);
        let created = caller.post(&versions, &version_with_hosts(&["console.example.com", &host])).await?;
        assert_eq!(created.ok()?["needsConsole"], needs, "{created}");
        assert_eq!(gate_status(&owner, &workspace, &host).await?, "closed");
        // A second version and a new app do not open the gate either.
        let again = caller.post(&versions, &version_with_hosts(&[&host])).await?;
        assert_eq!(again.ok()?["needsConsole"], needs, "{again}");
        let host = format!("new.{name}.example.com");
        let mut app = version_with_hosts(&[&host]);
        app["name"] = json!("Another app");
        let created = caller.post(&format!("/v1/workspaces/{workspace}/apps"), &app).await?;
        assert_eq!(created.ok()?["needsConsole"], json!([format!("An admin opens the gate to {host}.")]));
        assert_eq!(gate_status(&owner, &workspace, &host).await?, "closed");
        // A host whose gate is open needs no approval.
        let created = caller.post(&versions, &version_with_hosts(&["console.example.com"])).await?;
        assert_eq!(created.ok()?["needsConsole"], json!([]));
        Ok(())
    }

    async fn a_gate_names_only_apps_that_the_reader_may_see(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?.id;
        let builder = owner.add_member(&workspace, "builder").await?;
        // A new app is private to its maker and to admins.
        let app = builder.create_app(&workspace, CODE).await?;
        builder.post(&format!("/v1/apps/{app}/versions"), &version_with_hosts(&["private.example.com"])).await?.ok()?;
        let service = json!({
            "displayName": "Orders", "baseUrl": "https://orders.example.com", "auth": {"type": "none"}, "methods": ["GET"],
        });
        let connection = owner.post(&format!("/v1/workspaces/{workspace}/connectors/http"), &service).await?.string_at("/id")?;
        let mut naming = version_with_hosts(&["private.example.com"]);
        naming["manifest"]["permissions"]["connectors"] = json!([{"name": "orders", "connectionId": connection}]);
        owner.post(&format!("/v1/apps/{app}/versions"), &naming).await?.ok()?;

        let admin = owner.add_member(&workspace, "admin").await?;
        let viewer = owner.add_member(&workspace, "viewer").await?;
        for (reader, seen) in
            [(&owner, json!([app])), (&admin, json!([app])), (&builder, json!([app])), (&viewer, json!([]))]
        {
            let listed = reader.get(&format!("/v1/workspaces/{workspace}/gates")).await?.ok()?;
            for host in ["private.example.com", "orders.example.com"] {
                let gates = listed["items"].as_array().context("no items")?;
                let gate = gates.iter().find(|gate| gate["host"] == host).context("no gate")?;
                assert_eq!(gate["appIds"], seen, "{host}");
            }
        }
        viewer.get(&format!("/v1/apps/{app}")).await?.assert_error(404, "app_not_found");
        Ok(())
    }
}
