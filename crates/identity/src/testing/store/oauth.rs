//! The ports of agent clients on the store in memory.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AuthorizationId, GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    token::Digest,
};

use super::FakeStore;
use crate::oauth::{
    AccessToken, Authorization, AuthorizationStage, Client, Grant, OAuthTx, RefreshToken,
    grants::RefreshTokenState,
};

impl FakeStore {
    fn grant_mut(&mut self, workspace: WorkspaceId, id: GrantId) -> Option<&mut Grant> {
        self.grants.iter_mut().find(|grant| (grant.workspace, grant.id) == (workspace, id))
    }
}

#[async_trait]
impl OAuthTx for FakeStore {
    async fn insert_client(
        &mut self,
        id: OAuthClientId,
        client: &Client,
        _: Timestamp,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        self.clients.push((id, client.clone()));
        Ok(())
    }

    async fn insert_authorization(&mut self, authorization: &Authorization) -> Result<(), StoreError> {
        self.check_available()?;
        self.authorizations.push((authorization.clone(), None));
        Ok(())
    }

    async fn authorization(&mut self, id: AuthorizationId) -> Result<Option<Authorization>, StoreError> {
        self.check_available()?;
        Ok(self.authorizations.iter().find(|(known, _)| known.id == id).map(|(known, _)| known.clone()))
    }

    async fn authorization_by_code(
        &mut self,
        digests: &[Digest],
    ) -> Result<Option<Authorization>, StoreError> {
        self.check_available()?;
        let mut authorizations = self.authorizations.iter();
        let found = authorizations.find(|(_, code)| code.is_some_and(|code| digests.contains(&code)));
        Ok(found.map(|(known, _)| known.clone()))
    }

    async fn set_authorization_stage(
        &mut self,
        id: AuthorizationId,
        stage: &AuthorizationStage,
        code: Option<&Digest>,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        for (known, digest) in self.authorizations.iter_mut().filter(|(known, _)| known.id == id) {
            known.stage = stage.clone();
            *digest = code.copied().or(*digest);
        }
        Ok(())
    }

    async fn insert_grant(&mut self, grant: &Grant) -> Result<(), StoreError> {
        self.check_available()?;
        self.grants.push(grant.clone());
        Ok(())
    }

    async fn grant(&mut self, workspace: WorkspaceId, id: GrantId) -> Result<Option<Grant>, StoreError> {
        self.check_available()?;
        if let Some(refresh_tokens) = self.racing_refresh_tokens.take() {
            self.refresh_tokens = refresh_tokens;
        }
        Ok(self.grant_mut(workspace, id).cloned())
    }

    async fn revoke_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.check_available()?;
        let unrevoked = self.grant_mut(workspace, id).filter(|grant| grant.revoked_at.is_none());
        Ok(unrevoked.map(|grant| grant.revoked_at = Some(at)).is_some())
    }

    async fn revoke_grants(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<GrantId>, StoreError> {
        self.check_available()?;
        for (known, _) in &mut self.authorizations {
            if matches!(&known.stage, AuthorizationStage::Allowed { consent, .. }
                if (consent.workspace, consent.by) == (workspace, user))
            {
                known.stage = AuthorizationStage::Denied { by: user };
            }
        }
        let unrevoked = self
            .grants
            .iter_mut()
            .filter(|grant| (grant.workspace, grant.user) == (workspace, user) && grant.revoked_at.is_none());
        Ok(unrevoked
            .map(|grant| {
                grant.revoked_at = Some(at);
                grant.id
            })
            .collect())
    }

    async fn extend_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        if let Some(grant) = self.grant_mut(workspace, id) {
            grant.expires_at = expires_at;
        }
        Ok(())
    }

    async fn has_access(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.check_available()?;
        Ok(self.members.iter().any(|fact| {
            (fact.workspace, fact.user) == (workspace, user)
                && fact.access_ends_at.is_none_or(|end| now < end)
        }))
    }

    async fn insert_access_token(&mut self, token: &AccessToken, digest: &Digest) -> Result<(), StoreError> {
        self.check_available()?;
        self.access_tokens.push((token.clone(), *digest));
        Ok(())
    }

    async fn access_token(&mut self, digests: &[Digest]) -> Result<Option<AccessToken>, StoreError> {
        self.check_available()?;
        let found = self.access_tokens.iter().find(|(_, digest)| digests.contains(digest));
        Ok(found.map(|(token, _)| token.clone()))
    }

    async fn delete_access_token(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        self.access_tokens.retain(|(known, _)| (known.workspace, known.id) != (workspace, token));
        Ok(())
    }

    async fn insert_refresh_token(
        &mut self,
        token: &RefreshToken,
        digest: &Digest,
    ) -> Result<(), StoreError> {
        if self.current_refresh_token(token.workspace, token.grant).await?.is_some() {
            return Err(StoreError::Duplicate);
        }
        self.refresh_tokens.push((token.clone(), *digest));
        Ok(())
    }

    async fn refresh_token(&mut self, digests: &[Digest]) -> Result<Option<RefreshToken>, StoreError> {
        self.check_available()?;
        let found = self.refresh_tokens.iter().find(|(_, digest)| digests.contains(digest));
        Ok(found.map(|(token, _)| token.clone()))
    }

    async fn current_refresh_token(
        &mut self,
        workspace: WorkspaceId,
        grant: GrantId,
    ) -> Result<Option<RefreshToken>, StoreError> {
        self.check_available()?;
        let mut tokens = self.refresh_tokens.iter().map(|(token, _)| token);
        let current = tokens.find(|token| {
            (token.workspace, token.grant, token.state) == (workspace, grant, RefreshTokenState::Current)
        });
        Ok(current.cloned())
    }

    async fn mark_refresh_token_rotated(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.check_available()?;
        let mut tokens = self.refresh_tokens.iter_mut().map(|(token, _)| token);
        if let Some(token) = tokens.find(|known| (known.workspace, known.id) == (workspace, token)) {
            token.state = RefreshTokenState::Rotated { at };
        }
        Ok(())
    }
}
