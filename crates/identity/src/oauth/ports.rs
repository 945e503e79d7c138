//! The traits that a store implements for agent clients.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{AuthorizationId, GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};

use super::{
    authorizations::{Authorization, AuthorizationStage},
    clients::Client,
    grants::{AccessToken, Grant, RefreshToken},
};

/// Reads that need no transaction.
#[async_trait]
pub trait OAuthRead: Send + Sync {
    /// Finds a client that registered itself.
    async fn registered_client(&self, id: OAuthClientId) -> Result<Option<Client>, StoreError>;

    /// Finds the access token stored under one of these digests and its grant, also if either is revoked or expired.
    /// `last_used_at` of the grant may be out of date.
    async fn access_token_by_digest(
        &self,
        digests: &[Digest],
    ) -> Result<Option<(AccessToken, Grant)>, StoreError>;

    /// Finds an access token of a workspace and its grant, also if either is revoked or expired. `last_used_at` of the
    /// grant may be out of date.
    async fn access_token_of(
        &self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<Option<(AccessToken, Grant)>, StoreError>;

    /// Returns the names of the clients of these grants of a workspace, in no order; also of revoked and expired ones.
    async fn client_names(
        &self,
        workspace: WorkspaceId,
        grants: &[GrantId],
    ) -> Result<Vec<(GrantId, String)>, StoreError>;

    /// Lists a person's grants in a workspace, newest first, including revoked and expired ones; up to one more than the
    /// limit.
    async fn oauth_grants(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<Grant>, StoreError>;
}

/// Writes, and the reads they depend on.
#[async_trait]
pub trait OAuthTx: UnitOfWork {
    /// Adds a client that registered itself.
    async fn insert_client(
        &mut self,
        id: OAuthClientId,
        client: &Client,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Adds an authorization.
    async fn insert_authorization(&mut self, authorization: &Authorization) -> Result<(), StoreError>;

    /// Finds an authorization and locks the row until the transaction ends.
    async fn authorization(&mut self, id: AuthorizationId) -> Result<Option<Authorization>, StoreError>;

    /// Finds the authorization whose code is stored under one of these digests and locks the row until the transaction
    /// ends.
    async fn authorization_by_code(
        &mut self,
        digests: &[Digest],
    ) -> Result<Option<Authorization>, StoreError>;

    /// Sets the stage of an authorization, and the digest of its code if one is given.
    async fn set_authorization_stage(
        &mut self,
        id: AuthorizationId,
        stage: &AuthorizationStage,
        code: Option<&Digest>,
    ) -> Result<(), StoreError>;

    /// Adds a grant.
    async fn insert_grant(&mut self, grant: &Grant) -> Result<(), StoreError>;

    /// Finds a grant and locks the row until the transaction ends.
    async fn grant(&mut self, workspace: WorkspaceId, id: GrantId) -> Result<Option<Grant>, StoreError>;

    /// Revokes a grant; `true` if it was not revoked before.
    async fn revoke_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Revokes a person's grants in a workspace, invalidates their codes that have not been exchanged, and returns the
    /// grants that were not revoked before.
    async fn revoke_grants(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<GrantId>, StoreError>;

    /// Sets the time at which a grant expires.
    async fn extend_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Checks if a person has access to a workspace at `now`.
    async fn has_access(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Adds an access token under the digest of its value.
    async fn insert_access_token(&mut self, token: &AccessToken, digest: &Digest) -> Result<(), StoreError>;

    /// Finds the access token stored under one of these digests.
    async fn access_token(&mut self, digests: &[Digest]) -> Result<Option<AccessToken>, StoreError>;

    /// Deletes an access token.
    async fn delete_access_token(&mut self, workspace: WorkspaceId, token: TokenId)
    -> Result<(), StoreError>;

    /// Adds a refresh token under the digest of its value; [`StoreError::Duplicate`] if its grant has another that is
    /// not rotated.
    async fn insert_refresh_token(&mut self, token: &RefreshToken, digest: &Digest)
    -> Result<(), StoreError>;

    /// Finds the refresh token stored under one of these digests, including rotated tokens.
    async fn refresh_token(&mut self, digests: &[Digest]) -> Result<Option<RefreshToken>, StoreError>;

    /// Finds the refresh token of a grant that is not rotated.
    async fn current_refresh_token(
        &mut self,
        workspace: WorkspaceId,
        grant: GrantId,
    ) -> Result<Option<RefreshToken>, StoreError>;

    /// Marks a refresh token as rotated.
    async fn mark_refresh_token_rotated(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// Records when grants were last used, in batches outside the requests.
#[async_trait]
pub trait GrantUsageWriter: Send + Sync {
    /// Stores the times; an earlier time never overwrites a later one.
    async fn touch_grants(&self, uses: &[(GrantId, Timestamp)]) -> Result<(), StoreError>;
}
