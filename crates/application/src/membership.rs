//! Joining and leaving a workspace, across the domains of identity, workspace and apps.

use identity::{User, people::revoke_tokens_of, sessions::OpenedSession};
use kernel::{
    Caller, Context, StoreError,
    caller::SessionCaller,
    id::{UserId, WorkspaceId},
};
use workspace::members::AdmittedMember;

use crate::{Application, Problem, Tx};

impl Application {
    /// Returns the session and the signed-in person. Their address is verified, since every way to sign in verifies it.
    ///
    /// # Errors
    /// 401 `unauthorized` if the caller is not a session or the person does not exist; a [`Problem`] if the store
    /// fails.
    pub async fn signed_in_user(&self, ctx: &Context) -> Result<(SessionCaller, User), Problem> {
        let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized()) };
        let user = self.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
        Ok((session.clone(), user))
    }

    /// Opens the workspace that a person has joined in their session. For a new member, first revokes what is left of
    /// an earlier membership.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn open_joined_workspace(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        session: &SessionCaller,
        admitted: &AdmittedMember,
    ) -> Result<(), Problem> {
        if admitted.is_new {
            revoke_access(tx, ctx, admitted.workspace, admitted.user).await?;
        }
        Ok(tx.set_session_workspace(session.session, admitted.workspace).await?)
    }
}

impl Application {
    /// Opens a workspace in a new session: the first in the person's list. If their domain's workspace lets its people
    /// join when they sign in, they join it first.
    ///
    /// # Errors
    /// [`Problem`] if a use case refuses or the store fails.
    pub async fn open_first_workspace(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        opened: &mut OpenedSession,
    ) -> Result<(), Problem> {
        let user = &opened.user;
        // Former members do not join this way, so nothing is left to revoke.
        let joined = workspace::join_domains::auto_join(tx, ctx, user.id, user.email.as_str()).await?;
        let workspaces = self.store().workspaces_of(user.id, ctx.now).await?;
        let joined = joined.map(|admitted| admitted.workspace);
        if let Some(first) = workspaces.first().map(|first| first.id).or(joined) {
            tx.set_session_workspace(opened.session.id, first).await?;
            opened.session.workspace = Some(first);
        }
        Ok(())
    }
}

/// Revokes what a person has in a workspace besides the membership, so that a later membership does not revive it:
/// their tokens, their grants to agents, the invites they sent and the access to apps that others gave them. Nothing
/// else in the code lists these.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_access(
    tx: &mut dyn Tx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    revoke_tokens_of(tx, ctx, workspace, user).await?;
    identity::oauth::revoke_grants_of(tx, ctx, workspace, user).await?;
    workspace::invites::revoke_invites_of(tx, ctx, workspace, user).await?;
    apps::access::revoke_app_grants_of(tx, ctx, workspace, user).await
}
