//! What becomes of an agent, and of all else that was somebody's, when they are no member any more.

use std::time::{Duration, UNIX_EPOCH};

use chrono::{DateTime, TimeDelta, Utc};

use super::*;

struct Guest {
    person: Client,
    email: String,
    agent: Agent,
    tokens: Tokens,
    /// What their agent was about to exchange.
    code: String,
    personal: String,
    /// What a command line that they approved was about to be given a token for.
    device: String,
}

impl Guest {
    /// Somebody in the workspace who let an agent in, has a token of their own, and may see the sample app.
    async fn come(server: &Server, owner: &Client, home: &tests::Workspace, name: &str) -> Result<Self> {
        let email = format!("{name}@example.test");
        let person = server.sign_in(&email).await?;
        owner.invite_and_accept(&home.id, &email, "viewer", &person).await?;
        let agent = person.register_agent("Agent").await?;
        let tokens = agent.sign_in(&person, &home.id, "write").await?;
        let code = agent.code(&person, &home.id, "read").await?;
        let personal = person.make_token(&home.id, &["read"]).await?;
        let started = person.signed_out().post("/v1/cli/device", &json!({"client": "cli"})).await?;
        let approval = json!({"workspaceId": home.id, "scopes": ["read"], "expiresInDays": 1});
        let path = format!("/v1/cli/device/{}/approve", started.string("/userCode")?);
        person.post(&path, &approval).await?.assert_status(200);
        let shared = json!({
            "sharing": "private", "people": [{"userId": person.user_id().await?, "rights": ["can_view"]}],
        });
        owner.put(&format!("/v1/apps/{}/access", home.sample_app), &shared).await?.ok()?;
        person.get(&format!("/v1/apps/{}", home.sample_app)).await?.assert_status(200);
        assert!(works(&person, &tokens.access).await? && works(&person, &personal).await?);
        Ok(Self { person, email, agent, tokens, code, personal, device: started.string("/deviceCode")? })
    }

    async fn assert_out(&self) -> Result<()> {
        assert!(!works(&self.person, &self.tokens.access).await?);
        assert!(!works(&self.person, &self.personal).await?);
        assert_refused(&self.agent.refresh(&self.tokens.refresh).await?, 400, "invalid_grant");
        assert_refused(&self.agent.exchange(&self.code).await?, 400, "invalid_grant");
        Ok(())
    }

    /// Back with a new membership, they hold nothing of before, and may begin anew.
    async fn assert_nothing_revives(&self, home: &tests::Workspace) -> Result<()> {
        self.person.get(&format!("/v1/workspaces/{}/apps", home.id)).await?.assert_status(200);
        assert!(!works(&self.person, &self.tokens.access).await?);
        assert!(!works(&self.person, &self.personal).await?);
        assert_refused(&self.agent.refresh(&self.tokens.refresh).await?, 400, "invalid_grant");
        assert_refused(&self.agent.exchange(&self.code).await?, 400, "invalid_grant");
        let polled =
            self.person.signed_out().post("/v1/cli/device/poll", &json!({"deviceCode": self.device})).await?;
        assert_eq!(polled.string("/status")?, "denied");
        let app = self.person.get(&format!("/v1/apps/{}", home.sample_app)).await?;
        app.assert_problem(404, "app_not_found");
        let grants = self.person.get(&format!("/v1/workspaces/{}/oauth/grants", home.id)).await?.ok()?;
        let grants = grants.as_array().context("grants")?;
        assert!(
            !grants.is_empty() && grants.iter().all(|grant| grant["revokedAt"].is_string()),
            "{grants:?}"
        );
        let anew = self.agent.sign_in(&self.person, &home.id, "read").await?;
        assert!(works(&self.person, &anew.access).await?);
        Ok(())
    }
}

fn in_seconds(seconds: i64) -> String {
    let now = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(tests::unix_time()));
    (now + TimeDelta::seconds(seconds)).to_rfc3339()
}

async fn audited(owner: &Client, workspace: &str, action: &str) -> Result<usize> {
    let rows = owner.get(&format!("/v1/workspaces/{workspace}/audit?action={action}")).await?.ok()?;
    Ok(rows["items"].as_array().context("items")?.len())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn who_goes_takes_all_along(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let home = owner.make_workspace("Home").await?;
        let own = owner.register_agent("Own").await?;
        let own_tokens = own.sign_in(&owner, &home.id, "read").await?;
        for name in ["removed", "leaves"] {
            let guest = Guest::come(&server, &owner, &home, name).await?;
            let who = if name == "removed" { &owner } else { &guest.person };
            let path = format!("/v1/workspaces/{}/members/{}", home.id, guest.person.user_id().await?);
            who.delete(&path).await?.assert_status(200);
            guest.assert_out().await?;
            let shared = owner.get(&format!("/v1/apps/{}/access", home.sample_app)).await?.ok()?;
            assert_eq!(shared["people"], json!([]));
            owner.invite_and_accept(&home.id, &guest.email, "viewer", &guest.person).await?;
            guest.assert_nothing_revives(&home).await?;
        }
        assert_eq!(audited(&owner, &home.id, "oauth_grant.revoke").await?, 2);
        assert_eq!(audited(&owner, &home.id, "app.unshare").await?, 2);
        // Who stays keeps what they have.
        assert!(works(&owner, &own_tokens.access).await?);
        agent_goes_on(&own, &own_tokens).await
    }

    async fn an_agent_is_out_when_its_persons_access_ends(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let home = owner.make_workspace("Home").await?;
        let guest = Guest::come(&server, &owner, &home, "guest").await?;
        let path = format!("/v1/workspaces/{}/members/{}", home.id, guest.person.user_id().await?);
        owner.patch(&path, &json!({"accessEndsAt": in_seconds(2)})).await?.assert_status(200);
        tests::eventually("the access ends", async || {
            anyhow::ensure!(!works(&guest.person, &guest.tokens.access).await?, "it has not");
            Ok(())
        })
        .await?;
        // Nobody was there to end anything: the refresh finds out, and ends the sign-in.
        guest.assert_out().await?;
        assert_eq!(audited(&owner, &home.id, "oauth_grant.access_ended").await?, 1);
        owner.invite_and_accept(&home.id, &guest.email, "viewer", &guest.person).await?;
        guest.assert_nothing_revives(&home).await
    }

    async fn who_comes_back_without_a_refresh_between_holds_nothing_either(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let home = owner.make_workspace("Home").await?;
        for (name, by) in [("invited", "invite"), ("made-owner", "operator")] {
            let guest = Guest::come(&server, &owner, &home, name).await?;
            let path = format!("/v1/workspaces/{}/members/{}", home.id, guest.person.user_id().await?);
            owner.patch(&path, &json!({"accessEndsAt": in_seconds(1)})).await?.assert_status(200);
            tests::eventually("the access ends", async || {
                anyhow::ensure!(!works(&guest.person, &guest.tokens.access).await?, "it has not");
                Ok(())
            })
            .await?;
            if by == "invite" {
                owner.invite_and_accept(&home.id, &guest.email, "viewer", &guest.person).await?;
                guest.assert_nothing_revives(&home).await?;
            } else {
                server.admin(&["make-owner", &home.id, &guest.email]).await?;
                tests::eventually("they are back", async || {
                    guest.person.get(&format!("/v1/workspaces/{}/apps", home.id)).await?.ok().map(drop)
                })
                .await?;
                assert!(!works(&guest.person, &guest.tokens.access).await?);
                assert!(!works(&guest.person, &guest.personal).await?);
                assert_refused(&guest.agent.refresh(&guest.tokens.refresh).await?, 400, "invalid_grant");
            }
        }
        Ok(())
    }
}

async fn agent_goes_on(agent: &Agent, tokens: &Tokens) -> Result<()> {
    Tokens::of(&agent.refresh(&tokens.refresh).await?).map(drop)
}
