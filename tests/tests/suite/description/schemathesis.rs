//! Schemathesis generates valid and invalid requests from the description and checks the responses against it.
//!
//! `tests/clients/description/schemathesis.toml` excludes operations and sets the ids that it uses.

use anyhow::{Context as _, Result};
use serde_json::json;
use tests::Client;
use tokio::process::Command;

use super::{client_sources, committed_description, install_python_tools, run_command};

/// Origin with a host name, which passkeys need.
const CONSOLE_ORIGIN: &str = "http://localhost";

tests::on_both! {
    args: ["--no-rate-limits", "--public-url", CONSOLE_ORIGIN];

    async fn schemathesis_finds_no_undescribed_behaviour(server: Server) -> Result<()> {
        let owner = server.client().with_origin(CONSOLE_ORIGIN).sign_in("owner@example.test").await?;
        let mut checks = Command::new(install_python_tools().await?.join("bin/schemathesis"));
        checks.arg("--config-file").arg(client_sources().join("schemathesis.toml")).arg("run").arg(committed_description());
        checks.args(["--no-color", "--url", server.base_url()]).env("PYTHONHASHSEED", "0");
        let folder = tempfile::tempdir()?;
        checks.current_dir(folder.path());
        for (name, value) in create_resources(&owner).await? {
            checks.env(name, value);
        }
        let output = run_command(&mut checks).await?;
        // If a call had signed the owner out, all later calls would have been rejected before their input was checked.
        owner.get("/v1/session").await?.assert_status(200);
        assert!(output.contains("No issues found"), "{output}");
        Ok(())
    }
}

/// Creates one resource of each kind, and returns the variables of the configuration.
async fn create_resources(owner: &Client) -> Result<Vec<(&'static str, String)>> {
    let workspace = owner.create_workspace("Tulpar").await?;
    let (ws, app, automation) = (&workspace.id, &workspace.sample_app, &workspace.automation);
    let in_workspace = |rest: &str| format!("/v1/workspaces/{ws}/{rest}");
    let gate = workspace.creation_response["starter"]["gateIds"][0].as_str().context("no gate")?;
    let version = owner.get(&format!("/v1/apps/{app}")).await?.string_at("/currentVersionId")?;

    let files = json!({"main.js": "export default { async scheduled() {} }"});
    let doomed_app = owner.post(&in_workspace("apps"), &json!({"name": "Doomed", "files": files})).await?;
    let manual = json!({"name": "Manual", "appId": app, "trigger": {"type": "manual"}});
    let manual = owner.post(&in_workspace("automations"), &manual).await?.string_at("/id")?;
    let doomed = json!({"name": "Doomed", "appId": app, "trigger": {"type": "manual"}});
    let doomed = owner.post(&in_workspace("automations"), &doomed).await?.string_at("/id")?;
    let run = owner.post(&format!("/v1/automations/{manual}/run"), &json!({})).await?.string_at("/runId")?;
    let dead_letter = create_dead_letter(owner, ws, automation).await?;

    let project = owner.get(&in_workspace("backend/projects")).await?.string_at("/items/0/id")?;
    let in_project = |rest: &str| format!("/v1/backend/projects/{project}/{rest}");
    let scopes = ["rows:read", "rows:write", "schema:write"];
    let key = json!({"kind": "secret", "name": "Fuzz", "scopes": scopes});
    let key = owner.post(&in_project("keys"), &key).await?.string_at("/secret")?;
    let doomed_key = json!({"kind": "secret", "name": "Doomed"});
    let doomed_key = owner.post(&in_project("keys"), &doomed_key).await?.string_at("/key/id")?;
    for table in ["things", "doomed"] {
        let columns = json!([
            {"name": "title", "type": "text", "nullable": true},
            {"name": "count", "type": "integer", "nullable": true},
        ]);
        owner.post(&in_project("tables"), &json!({"name": table, "columns": columns})).await?.ok()?;
    }
    let row = json!({"id": "first", "title": "The first", "count": 1});
    owner.post(&in_project("tables/things/rows"), &row).await?.ok()?;

    let invites = json!({"emails": ["guest@example.test"], "role": "member", "deliver": "link"});
    owner.post(&in_workspace("invites"), &invites).await?.ok()?;
    let invites = owner.get(&in_workspace("invites")).await?;
    let token = json!({"name": "Doomed", "scopes": ["read"]});
    let doomed_token = owner.post(&in_workspace("tokens"), &token).await?.string_at("/token/id")?;
    let token = owner.create_token(ws, &["read", "write"]).await?;
    let login = owner.signed_out().post("/v1/cli/device", &json!({"client": "fuzz"})).await?;

    Ok(vec![
        ("ORIGIN", CONSOLE_ORIGIN.to_owned()),
        ("COOKIE", owner.cookie().context("no session")?.to_owned()),
        ("TOKEN", token),
        ("PROJECT_KEY", key),
        ("WORKSPACE", ws.clone()),
        ("APP", app.clone()),
        ("VERSION", version),
        ("DOOMED_APP", doomed_app.string_at("/id")?),
        ("AUTOMATION", automation.clone()),
        ("MANUAL", manual),
        ("DOOMED_AUTOMATION", doomed),
        ("RUN", run),
        ("DEAD_LETTER", dead_letter),
        ("GATE", gate.to_owned()),
        ("PROJECT", project),
        ("DOOMED_KEY", doomed_key),
        ("INVITE", invites.string_at("/items/0/id")?),
        ("DOOMED_TOKEN", doomed_token),
        ("USER_CODE", login.string_at("/userCode")?),
    ])
}

/// Creates the dead letter of a call that was refused while its webhook was off.
async fn create_dead_letter(owner: &Client, ws: &str, automation: &str) -> Result<String> {
    let settings = format!("/v1/automations/{automation}/webhook");
    let webhook = owner.rotate_webhook_secret(automation).await?;
    owner.patch(&settings, &json!({"enabled": false})).await?.ok()?;
    webhook.send(&json!({})).await?.assert_error(403, "hook_disabled");
    owner.patch(&settings, &json!({"enabled": true})).await?.ok()?;
    owner.get(&format!("/v1/workspaces/{ws}/dead-letters")).await?.string_at("/items/0/id")
}
