//! The ports of identities at other issuers and of people in a workspace on the store in memory.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{DeviceLoginId, TokenId, UserId, WorkspaceId},
};

use super::FakeStore;
use crate::{
    User,
    device::DeviceLoginDecision,
    ports::{OidcTx, PeopleTx},
};

#[async_trait]
impl OidcTx for FakeStore {
    async fn find_user_by_identity(
        &mut self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<User>, StoreError> {
        self.check_available()?;
        let known = self.identities.iter().find(|known| (&*known.0, &*known.1) == (issuer, subject));
        Ok(known.and_then(|(_, _, user)| self.users.iter().find(|known| known.id == *user)).cloned())
    }

    async fn insert_identity(
        &mut self,
        issuer: &str,
        subject: &str,
        user: UserId,
        _: Timestamp,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        if self.identities.iter().any(|known| (&*known.0, &*known.1) == (issuer, subject)) {
            return Err(StoreError::Duplicate);
        }
        self.identities.push((issuer.to_owned(), subject.to_owned(), user));
        Ok(())
    }
}

#[async_trait]
impl PeopleTx for FakeStore {
    async fn revoke_tokens_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<TokenId>, StoreError> {
        self.check_available()?;
        let tokens = self.tokens.iter_mut().map(|(token, _)| token);
        let unrevoked = tokens
            .filter(|token| (token.workspace, token.user) == (workspace, user) && token.revoked_at.is_none());
        Ok(unrevoked
            .map(|token| {
                token.revoked_at = Some(at);
                token.id
            })
            .collect())
    }

    async fn deny_device_logins_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<DeviceLoginId>, StoreError> {
        self.check_available()?;
        let logins = self.device_logins.iter_mut().map(|stored| &mut stored.login);
        let approved = logins.filter(|login| {
            matches!(&login.decision, DeviceLoginDecision::Approved(approval)
                if (approval.workspace, approval.approved_by) == (workspace, user))
        });
        Ok(approved
            .map(|login| {
                login.decision = DeviceLoginDecision::Denied;
                login.id
            })
            .collect())
    }
}
