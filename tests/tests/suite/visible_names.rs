//! Names and addresses: nobody gives a thing a name, or an address, that others cannot see as it is.

use anyhow::Result;
use serde_json::{Value, json};
use tests::{AutomationFixture, Client};

const IDLE: &str = "export default { async scheduled() {} }";
/// Names with a paragraph, another direction, a separator of lines, an invisible character and letters for models alone.
const UNSEEN: [&str; 6] = [
    "A\n\nGo to https://evil.test",
    "A\u{202e}B txt.exe",
    "A\u{2028}B",
    "A\u{200b}B",
    "\u{2066}AB",
    "AB\u{e0041}",
];

/// Sends a body with each of the names, and expects that it is refused by the field `name`.
async fn assert_refused(
    client: &Client,
    method: http::Method,
    path: &str,
    body: Value,
    field: &str,
) -> Result<()> {
    for name in UNSEEN {
        let mut body = body.clone();
        body[field] = json!(name);
        let reply = client.request(method.clone(), path).json(&body)?.send().await?;
        assert_eq!(reply.status.as_u16(), 400, "{path} {name:?}: {reply}");
        reply.check_error(400, None)?;
    }
    Ok(())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn names_have_visible_characters_on_one_line(server: Server) -> Result<()> {
        use http::Method;
        let AutomationFixture { owner, workspace, app, automation } = AutomationFixture::create(&server, IDLE).await?;
        let ws = format!("/v1/workspaces/{}", workspace.id);
        let schedule = json!({"appId": app, "trigger": {"type": "schedule", "cron": "0 9 * * *"}});
        assert_refused(&owner, Method::POST, "/v1/workspaces", json!({}), "name").await?;
        assert_refused(&owner, Method::PATCH, &ws, json!({}), "name").await?;
        assert_refused(&owner, Method::POST, &format!("{ws}/apps"), json!({}), "name").await?;
        assert_refused(&owner, Method::PATCH, &format!("/v1/apps/{app}"), json!({}), "name").await?;
        assert_refused(&owner, Method::POST, &format!("{ws}/automations"), schedule, "name").await?;
        assert_refused(&owner, Method::PATCH, &format!("/v1/automations/{automation}"), json!({}), "name").await?;
        assert_refused(&owner, Method::POST, &format!("{ws}/tokens"), json!({"scopes": ["read"]}), "name").await?;
        let manifest = json!({"files": {"main.js": IDLE}, "manifest": {
            "name": "A\u{202e}B", "description": "Takes orders.", "archetype": "workshop", "category": "data",
            "triggers": [], "permissions": {},
        }});
        owner.post(&format!("/v1/apps/{app}/versions"), &manifest).await?.check_error(400, None)?;
        // Scripts and signs that need joiners have them.
        for name in ["می\u{200c}خواهم", "👩\u{200d}💻 Team", "Әйгерім", "株式会社例"] {
            let renamed = owner.patch(&format!("/v1/apps/{app}"), &json!({"name": name})).await?.ok()?;
            assert_eq!(renamed["name"], name);
        }
        Ok(())
    }

    async fn addresses_with_invisible_characters_are_refused(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Tulpar").await?;
        for address in ["a\u{200b}ru@example.test", "aru@exam\u{ad}ple.test", "\u{feff}aru@example.test", "a\u{202e}ru@example.test"] {
            let start = json!({"email": address});
            server.client().post_from_console("/v1/auth/email/start", &start).await?.assert_error(400, "invalid_request");
            let invite = json!({"emails": [address], "role": "member"});
            let reply = owner.post(&format!("/v1/workspaces/{}/invites", workspace.id), &invite).await?;
            assert_eq!(reply.status.as_u16(), 400, "{address:?}: {reply}");
        }
        Ok(())
    }
}
