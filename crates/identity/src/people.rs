//! Many people at once, and what ends when somebody is no member any more.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Context, StoreError, Timestamp, UnitOfWork,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId},
};

use crate::User;

/// For how long after a sign of life a person counts as online.
pub const ONLINE_WINDOW: TimeDelta = TimeDelta::minutes(5);

/// Reads of many people.
#[async_trait]
pub trait PeopleRead: Send + Sync {
    /// These people, in no order; who is not there is left out.
    async fn users(&self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Which of these people have a live session that was seen after `since`.
    async fn find_online_users(
        &self,
        ids: &[UserId],
        since: Timestamp,
        now: Timestamp,
    ) -> Result<BTreeSet<UserId>, StoreError>;
}

/// Writes about a person in one workspace.
#[async_trait]
pub trait PeopleTx: UnitOfWork {
    /// Marks every token of a person in a workspace revoked that is not already; which these were.
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError>;

    /// Denies every device login that a person approved for a workspace and that has not been given its token yet;
    /// which these were.
    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError>;
}

/// Ends every token that a person holds in a workspace or is about to be given for it, so that a later membership does
/// not revive them.
///
/// # Errors
/// What the store says.
pub async fn revoke_tokens_of(
    tx: &mut dyn PeopleTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    let revoked = tx.revoke_tokens_of(workspace, user, ctx.now).await?;
    for token in &revoked {
        let detail = serde_json::json!({ "of": user });
        tx.audit(ctx.audit_entry("token.revoke").workspace(workspace).target(token).detail(detail));
    }
    for login in &tx.deny_device_logins_of(workspace, user).await? {
        tx.audit(ctx.audit_entry("device.lapse").workspace(workspace).target(login));
    }
    Ok(())
}
