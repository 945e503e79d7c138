//! Proofs that are made again in the transaction that commits, for use cases that wait after their first proof.

use kernel::{
    Context,
    authority::{AppRight, Locked, Member, Right, lock_app, lock_member},
    id::{AppId, WorkspaceId},
};

use crate::{Application, Problem, Tx};

impl Application {
    /// Proves in a transaction that the caller is still a member of a workspace.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if they are not; 403 `credential_ended` if their session or token has ended; a [`Problem`] if
    /// the store fails.
    pub async fn lock_member(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        workspace: WorkspaceId,
    ) -> Result<Locked<Member>, Problem> {
        Ok(lock_member(tx, &ctx.caller, workspace, self.now()).await?)
    }

    /// Proves in a transaction that the caller still has the right `R` on an app, which it locks.
    ///
    /// # Errors
    /// 404 `app_not_found` or 403 `forbidden` if they do not have it; 403 `credential_ended` if their session or token has
    /// ended; a [`Problem`] if the store fails.
    pub async fn lock_app<R: Right>(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context,
        app: AppId,
    ) -> Result<Locked<AppRight<R>>, Problem> {
        Ok(lock_app(tx, &ctx.caller, app, self.now()).await?)
    }
}
