//! Helpers that invite people and add members to a workspace.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::Client;

impl Client {
    /// Returns the signed-in person's id.
    pub async fn user_id(&self) -> Result<String> {
        self.get("/v1/session").await?.string_at("/user/id")
    }

    /// Invites an address and returns the token of the link.
    pub async fn create_invite(&self, workspace: &str, email: &str, role: &str) -> Result<String> {
        let body = json!({"emails": [email], "role": role, "deliver": "link"});
        let reply = self.post(&format!("/v1/workspaces/{workspace}/invites"), &body).await?;
        invite_token(&reply.string_at("/links/0/link")?)
    }

    /// Invites an address; `guest`, its owner, accepts.
    pub async fn invite_and_accept(
        &self,
        workspace: &str,
        email: &str,
        role: &str,
        guest: &Self,
    ) -> Result<()> {
        let token = self.create_invite(workspace, email, role).await?;
        guest.post(&format!("/v1/invites/{token}/accept"), &json!({})).await?.ok()?;
        Ok(())
    }

    /// Adds a new person to a workspace with a role that an invite can give. Their address is built from the role and
    /// the workspace.
    pub async fn add_member(&self, workspace: &str, role: &str) -> Result<Self> {
        let email = format!("{role}.{workspace}@people.test");
        let guest = self.sign_in(&email).await?;
        self.invite_and_accept(workspace, &email, role, &guest).await?;
        Ok(guest)
    }
}

/// Returns the token at the end of an invite's link.
pub fn invite_token(link: &str) -> Result<String> {
    let (_, token) =
        link.rsplit_once("/invite/").with_context(|| format!("{link} is not the link of an invite"))?;
    Ok(token.to_owned())
}
