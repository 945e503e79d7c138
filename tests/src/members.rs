//! Bringing people into a workspace.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::Client;

impl Client {
    /// The signed-in person's id.
    ///
    /// # Errors
    ///
    /// When nobody is signed in.
    pub async fn user_id(&self) -> Result<String> {
        self.get("/v1/session").await?.string_at("/user/id")
    }

    /// Invites an address and hands the link's token on.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn create_invite(&self, workspace: &str, email: &str, role: &str) -> Result<String> {
        let body = json!({"emails": [email], "role": role, "deliver": "link"});
        let reply = self.post(&format!("/v1/workspaces/{workspace}/invites"), &body).await?;
        invite_token(&reply.string_at("/links/0/link")?)
    }

    /// Invites an address, whose owner accepts.
    ///
    /// # Errors
    ///
    /// When the server refuses.
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

    /// Brings a new person into a workspace with a role that somebody can be invited to. Their address is made of the
    /// role and the workspace.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub async fn add_member(&self, workspace: &str, role: &str) -> Result<Self> {
        let email = format!("{role}.{workspace}@people.test");
        let guest = self.sign_in(&email).await?;
        self.invite_and_accept(workspace, &email, role, &guest).await?;
        Ok(guest)
    }
}

/// The token at the end of an invite's link.
///
/// # Errors
///
/// When there is none.
pub fn invite_token(link: &str) -> Result<String> {
    let (_, token) = link.rsplit_once("/invite/").with_context(|| format!("{link} is no invite's link"))?;
    Ok(token.to_owned())
}
