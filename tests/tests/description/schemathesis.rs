//! Schemathesis makes requests of the description, valid and not, and compares what the server responds with it.
//!
//! What it may not call, and with which ids, is in `tests/clients/description/schemathesis.toml`.

use anyhow::{Context as _, Result};
use serde_json::json;
use tests::Client;
use tokio::process::Command;

use super::{committed, python, run, source};

/// Passkeys belong to a host name, so that the server must have one.
const SITE: &str = "http://localhost";

tests::on_both! {
    args: ["--no-rate-limits", "--public-url", SITE];

    async fn schemathesis_finds_nothing_that_is_not_described(server: Server) -> Result<()> {
        let owner = server.client().with_origin(SITE).sign_in("owner@example.test").await?;
        let mut checks = Command::new(python().await?.join("bin/schemathesis"));
        checks.arg("--config-file").arg(source().join("schemathesis.toml")).arg("run").arg(committed());
        checks.args(["--no-color", "--url", server.base_url()]).env("PYTHONHASHSEED", "0");
        let folder = tempfile::tempdir()?;
        checks.current_dir(folder.path());
        for (name, value) in things(&owner).await? {
            checks.env(name, value);
        }
        let said = run(&mut checks).await?;
        // Who is signed out by a call would pass everything that follows.
        owner.get("/v1/session").await?.assert_status(200);
        assert!(said.contains("No issues found"), "{said}");
        Ok(())
    }
}

/// One of each thing that requests are about, for the variables of the configuration.
async fn things(owner: &Client) -> Result<Vec<(&'static str, String)>> {
    let workspace = owner.make_workspace("Tulpar").await?;
    let (ws, app, road) = (&workspace.id, &workspace.sample_app, &workspace.road);
    let in_workspace = |rest: &str| format!("/v1/workspaces/{ws}/{rest}");
    let gate = workspace.created["starter"]["gateIds"][0].as_str().context("a gate")?;
    let version = owner.get(&format!("/v1/apps/{app}")).await?.string("/currentVersionId")?;

    let files = json!({"main.js": "export default { async scheduled() {} }"});
    let doomed_app = owner.post(&in_workspace("apps"), &json!({"name": "Doomed", "files": files})).await?;
    let manual = json!({"name": "Manual", "appId": app, "trigger": {"type": "manual"}});
    let manual = owner.post(&in_workspace("automations"), &manual).await?.string("/id")?;
    let doomed = json!({"name": "Doomed", "appId": app, "trigger": {"type": "manual"}});
    let doomed = owner.post(&in_workspace("automations"), &doomed).await?.string("/id")?;
    let run = owner.post(&format!("/v1/automations/{manual}/run"), &json!({})).await?.string("/runId")?;
    let letter = letter(owner, ws, road).await?;

    let project = owner.get(&in_workspace("backend/projects")).await?.string("/items/0/id")?;
    let in_project = |rest: &str| format!("/v1/backend/projects/{project}/{rest}");
    let scopes = ["rows:read", "rows:write", "schema:write"];
    let key = json!({"kind": "secret", "name": "Fuzz", "scopes": scopes});
    let key = owner.post(&in_project("keys"), &key).await?.string("/secret")?;
    let doomed_key = json!({"kind": "secret", "name": "Doomed"});
    let doomed_key = owner.post(&in_project("keys"), &doomed_key).await?.string("/key/id")?;
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
    let doomed_token = owner.post(&in_workspace("tokens"), &token).await?.string("/token/id")?;
    let token = owner.make_token(ws, &["read", "write"]).await?;
    let login = owner.signed_out().post("/v1/cli/device", &json!({"client": "fuzz"})).await?;

    Ok(vec![
        ("ORIGIN", SITE.to_owned()),
        ("COOKIE", owner.cookie().context("a session")?.to_owned()),
        ("TOKEN", token),
        ("PROJECT_KEY", key),
        ("WORKSPACE", ws.clone()),
        ("APP", app.clone()),
        ("VERSION", version),
        ("DOOMED_APP", doomed_app.string("/id")?),
        ("AUTOMATION", road.clone()),
        ("MANUAL", manual),
        ("DOOMED_AUTOMATION", doomed),
        ("RUN", run),
        ("DEAD_LETTER", letter),
        ("GATE", gate.to_owned()),
        ("PROJECT", project),
        ("DOOMED_KEY", doomed_key),
        ("INVITE", invites.string("/items/0/id")?),
        ("DOOMED_TOKEN", doomed_token),
        ("USER_CODE", login.string("/userCode")?),
    ])
}

/// A call that was refused while its webhook was off.
async fn letter(owner: &Client, ws: &str, road: &str) -> Result<String> {
    let settings = format!("/v1/automations/{road}/webhook");
    let hook = owner.take_hook(road).await?;
    owner.patch(&settings, &json!({"enabled": false})).await?.ok()?;
    hook.send(&json!({})).await?.assert_problem(403, "hook_disabled");
    owner.patch(&settings, &json!({"enabled": true})).await?.ok()?;
    owner.get(&format!("/v1/workspaces/{ws}/dead-letters")).await?.string("/items/0/id")
}
