//! What the routes about people share: whose address is proved, and what ends with a membership.

use identity::{User, people::revoke_tokens_of, sessions::OpenedSession};
use kernel::{
    Caller, Context, Problem, StoreError,
    caller::SessionCaller,
    id::{UserId, WorkspaceId},
};
use workspace::members::AdmittedMember;

use crate::{Application, Tx};

impl Application {
    /// The signed-in person, whose address is proved: every way to sign in proves it, and nobody has another.
    pub async fn signed_in_user(&self, ctx: &Context) -> Result<(SessionCaller, User), Problem> {
        let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized()) };
        let user = self.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
        Ok((session.clone(), user))
    }

    /// Opens a workspace in the session of whoever has just come in; what an earlier membership left behind ends.
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
    /// Lets a person who has just signed in into the workspace of their domain, where it wants that, and opens the first
    /// workspace of their list.
    ///
    /// # Errors
    /// What the store says.
    pub async fn open_first_workspace(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        opened: &mut OpenedSession,
    ) -> Result<(), Problem> {
        let user = &opened.user;
        // Nobody comes in this way who was in before, so nothing can be left behind.
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

/// Ends what a person holds in a workspace besides their membership, so that a later one does not revive it: their
/// tokens, the agents they let in, the invites they sent, what was granted to them on apps. This is the one place that knows what that is.
///
/// # Errors
/// What the store says.
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
