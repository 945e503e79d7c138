//! Agents, tokens and device logins of a person whose membership ends.

use std::time::{Duration, UNIX_EPOCH};

use chrono::{DateTime, TimeDelta, Utc};

use super::*;

struct MemberWithCredentials {
    person: Client,
    email: String,
    agent: Agent,
    tokens: TokenPair,
    /// An authorization code that their agent has not exchanged yet.
    code: String,
    personal_token: String,
    /// The device code of an approved device login that was not finished yet.
    device_code: String,
}

impl MemberWithCredentials {
    /// Adds a member who has authorized an agent, has a token, and may view the sample app.
    async fn join(server: &Server, owner: &Client, workspace: &tests::Workspace, name: &str) -> Result<Self> {
        let email = format!("{name}@example.test");
        let person = server.sign_in(&email).await?;
        owner.invite_and_accept(&workspace.id, &email, "viewer", &person).await?;
        let agent = person.register_agent("Agent").await?;
        let tokens = agent.sign_in(&person, &workspace.id, "write").await?;
        let code = agent.obtain_code(&person, &workspace.id, "read").await?;
        let personal = person.create_token(&workspace.id, &["read"]).await?;
        let started = person.signed_out().post("/v1/cli/device", &json!({"client": "cli"})).await?;
        let approval = json!({"workspaceId": workspace.id, "scopes": ["read"], "expiresInDays": 1});
        let path = format!("/v1/cli/device/{}/approve", started.string_at("/userCode")?);
        person.post(&path, &approval).await?.assert_status(200);
        let shared = json!({
            "sharing": "private", "people": [{"userId": person.user_id().await?, "rights": ["can_view"]}],
        });
        owner.put(&format!("/v1/apps/{}/access", workspace.sample_app), &shared).await?.ok()?;
        person.get(&format!("/v1/apps/{}", workspace.sample_app)).await?.assert_status(200);
        assert!(
            is_token_accepted(&person, &tokens.access).await?
                && is_token_accepted(&person, &personal).await?
        );
        Ok(Self {
            person,
            email,
            agent,
            tokens,
            code,
            personal_token: personal,
            device_code: started.string_at("/deviceCode")?,
        })
    }

    async fn assert_revoked(&self) -> Result<()> {
        assert!(!is_token_accepted(&self.person, &self.tokens.access).await?);
        assert!(!is_token_accepted(&self.person, &self.personal_token).await?);
        assert_oauth_error(&self.agent.refresh(&self.tokens.refresh).await?, 400, "invalid_grant");
        assert_oauth_error(&self.agent.exchange(&self.code).await?, 400, "invalid_grant");
        Ok(())
    }

    /// Checks that after rejoining they have nothing from before, but may authorize the agent again.
    async fn assert_still_revoked(&self, workspace: &tests::Workspace) -> Result<()> {
        self.person.get(&format!("/v1/workspaces/{}/apps", workspace.id)).await?.assert_status(200);
        assert!(!is_token_accepted(&self.person, &self.tokens.access).await?);
        assert!(!is_token_accepted(&self.person, &self.personal_token).await?);
        assert_oauth_error(&self.agent.refresh(&self.tokens.refresh).await?, 400, "invalid_grant");
        assert_oauth_error(&self.agent.exchange(&self.code).await?, 400, "invalid_grant");
        let polled = self
            .person
            .signed_out()
            .post("/v1/cli/device/poll", &json!({"deviceCode": self.device_code}))
            .await?;
        assert_eq!(polled.string_at("/status")?, "denied");
        let app = self.person.get(&format!("/v1/apps/{}", workspace.sample_app)).await?;
        app.assert_error(404, "app_not_found");
        let grants = self.person.get(&format!("/v1/workspaces/{}/oauth/grants", workspace.id)).await?.ok()?;
        let grants = grants.as_array().context("no grants")?;
        assert!(
            !grants.is_empty() && grants.iter().all(|grant| grant["revokedAt"].is_string()),
            "{grants:?}"
        );
        let anew = self.agent.sign_in(&self.person, &workspace.id, "read").await?;
        assert!(is_token_accepted(&self.person, &anew.access).await?);
        Ok(())
    }
}

fn timestamp_in(seconds: i64) -> String {
    let now = DateTime::<Utc>::from(UNIX_EPOCH + Duration::from_secs(tests::unix_time()));
    (now + TimeDelta::seconds(seconds)).to_rfc3339()
}

async fn count_audit_entries(owner: &Client, workspace: &str, action: &str) -> Result<usize> {
    let rows = owner.get(&format!("/v1/workspaces/{workspace}/audit?action={action}")).await?.ok()?;
    Ok(rows["items"].as_array().context("no items")?.len())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn a_member_who_leaves_or_is_removed_loses_everything(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let own = owner.register_agent("Own").await?;
        let own_tokens = own.sign_in(&owner, &workspace.id, "read").await?;
        for name in ["removed", "leaves"] {
            let guest = MemberWithCredentials::join(&server, &owner, &workspace, name).await?;
            let who = if name == "removed" { &owner } else { &guest.person };
            let path = format!("/v1/workspaces/{}/members/{}", workspace.id, guest.person.user_id().await?);
            who.delete(&path).await?.assert_status(200);
            guest.assert_revoked().await?;
            let shared = owner.get(&format!("/v1/apps/{}/access", workspace.sample_app)).await?.ok()?;
            assert_eq!(shared["people"], json!([]));
            owner.invite_and_accept(&workspace.id, &guest.email, "viewer", &guest.person).await?;
            guest.assert_still_revoked(&workspace).await?;
        }
        assert_eq!(count_audit_entries(&owner, &workspace.id, "oauth_grant.revoke").await?, 2);
        assert_eq!(count_audit_entries(&owner, &workspace.id, "app.unshare").await?, 2);
        // Other members keep their agents and tokens.
        assert!(is_token_accepted(&owner, &own_tokens.access).await?);
        check_agent_can_refresh(&own, &own_tokens).await
    }

    async fn an_agent_loses_access_when_that_of_its_person_expires(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        let guest = MemberWithCredentials::join(&server, &owner, &workspace, "guest").await?;
        let path = format!("/v1/workspaces/{}/members/{}", workspace.id, guest.person.user_id().await?);
        owner.patch(&path, &json!({"accessEndsAt": timestamp_in(2)})).await?.assert_status(200);
        tests::eventually("the access expires", async || {
            anyhow::ensure!(!is_token_accepted(&guest.person, &guest.tokens.access).await?, "it has not expired");
            Ok(())
        })
        .await?;
        // No request ended the grant: the refresh notices that access has expired, and ends it.
        guest.assert_revoked().await?;
        assert_eq!(count_audit_entries(&owner, &workspace.id, "oauth_grant.access_ended").await?, 1);
        owner.invite_and_accept(&workspace.id, &guest.email, "viewer", &guest.person).await?;
        guest.assert_still_revoked(&workspace).await
    }

    async fn rejoining_does_not_restore_an_expired_grant(server: Server) -> Result<()> {
        let owner = server.sign_in("owner@example.test").await?;
        let workspace = owner.create_workspace("Home").await?;
        for (name, by) in [("invited", "invite"), ("made-owner", "operator")] {
            let guest = MemberWithCredentials::join(&server, &owner, &workspace, name).await?;
            let path = format!("/v1/workspaces/{}/members/{}", workspace.id, guest.person.user_id().await?);
            owner.patch(&path, &json!({"accessEndsAt": timestamp_in(1)})).await?.assert_status(200);
            tests::eventually("the access expires", async || {
                anyhow::ensure!(!is_token_accepted(&guest.person, &guest.tokens.access).await?, "it has not expired");
                Ok(())
            })
            .await?;
            if by == "invite" {
                owner.invite_and_accept(&workspace.id, &guest.email, "viewer", &guest.person).await?;
                guest.assert_still_revoked(&workspace).await?;
            } else {
                server.run_admin(&["make-owner", &workspace.id, &guest.email]).await?;
                tests::eventually("they have rejoined", async || {
                    guest.person.get(&format!("/v1/workspaces/{}/apps", workspace.id)).await?.ok().map(drop)
                })
                .await?;
                assert!(!is_token_accepted(&guest.person, &guest.tokens.access).await?);
                assert!(!is_token_accepted(&guest.person, &guest.personal_token).await?);
                assert_oauth_error(&guest.agent.refresh(&guest.tokens.refresh).await?, 400, "invalid_grant");
            }
        }
        Ok(())
    }
}

async fn check_agent_can_refresh(agent: &Agent, tokens: &TokenPair) -> Result<()> {
    TokenPair::from_reply(&agent.refresh(&tokens.refresh).await?).map(drop)
}
