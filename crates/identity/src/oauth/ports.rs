//! What agent clients need from a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{AuthorizationId, GrantId, OAuthClientId, TokenId, UserId, WorkspaceId},
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
    /// A client that registered itself.
    async fn registered_client(&self, id: OAuthClientId) -> Result<Option<Client>, StoreError>;

    /// The access token stored under one of these digests with its grant, whatever has become of either. When the
    /// grant was last used may be told late.
    async fn access_token_by_digest(
        &self,
        digests: &[Digest],
    ) -> Result<Option<(AccessToken, Grant)>, StoreError>;

    /// An access token of a workspace with its grant, whatever has become of either. When the grant was last used may
    /// be told late.
    async fn access_token_of(
        &self,
        workspace: WorkspaceId,
        token: TokenId,
    ) -> Result<Option<(AccessToken, Grant)>, StoreError>;

    /// A person's own grants in a workspace, ended ones included, newest first.
    async fn oauth_grants(&self, workspace: WorkspaceId, user: UserId) -> Result<Vec<Grant>, StoreError>;
}

/// Writes, and the reads they decide by.
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

    /// An authorization; the row stays locked until the transaction ends.
    async fn authorization(&mut self, id: AuthorizationId) -> Result<Option<Authorization>, StoreError>;

    /// The authorization whose code is stored under one of these digests; the row stays locked until the transaction
    /// ends.
    async fn authorization_by_code(
        &mut self,
        digests: &[Digest],
    ) -> Result<Option<Authorization>, StoreError>;

    /// Moves an authorization on; a code that is given is kept, none leaves what there is.
    async fn set_authorization_stage(
        &mut self,
        id: AuthorizationId,
        stage: &AuthorizationStage,
        code: Option<&Digest>,
    ) -> Result<(), StoreError>;

    /// Adds a grant.
    async fn insert_grant(&mut self, grant: &Grant) -> Result<(), StoreError>;

    /// A grant; the row stays locked until the transaction ends.
    async fn grant(&mut self, workspace: WorkspaceId, id: GrantId) -> Result<Option<Grant>, StoreError>;

    /// Ends a grant unless it has ended; whether this did it.
    async fn revoke_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends every grant of a person in a workspace that has not ended, and makes their codes that were not exchanged
    /// worth nothing; which grants these are.
    async fn revoke_grants(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        at: Timestamp,
    ) -> Result<Vec<GrantId>, StoreError>;

    /// Puts off the end of a grant.
    async fn extend_grant(
        &mut self,
        workspace: WorkspaceId,
        id: GrantId,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Whether a person has access to a workspace at `now`.
    async fn has_access(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Adds an access token.
    async fn insert_access_token(&mut self, token: &AccessToken, digest: &Digest) -> Result<(), StoreError>;

    /// The access token stored under one of these digests.
    async fn access_token(&mut self, digests: &[Digest]) -> Result<Option<AccessToken>, StoreError>;

    /// Forgets an access token.
    async fn delete_access_token(&mut self, workspace: WorkspaceId, token: TokenId)
    -> Result<(), StoreError>;

    /// Adds a refresh token; [`StoreError::Duplicate`] when its grant has another that is not spent.
    async fn insert_refresh_token(&mut self, token: &RefreshToken, digest: &Digest)
    -> Result<(), StoreError>;

    /// The refresh token stored under one of these digests, spent ones included.
    async fn refresh_token(&mut self, digests: &[Digest]) -> Result<Option<RefreshToken>, StoreError>;

    /// The refresh token of a grant that is not spent.
    async fn current_refresh_token(
        &mut self,
        workspace: WorkspaceId,
        grant: GrantId,
    ) -> Result<Option<RefreshToken>, StoreError>;

    /// Marks a refresh token spent.
    async fn mark_refresh_token_rotated(
        &mut self,
        workspace: WorkspaceId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

/// Notes when grants were last used, many at once and off the request's way.
#[async_trait]
pub trait GrantUsageWriter: Send + Sync {
    /// Keeps the moments; an earlier one never overwrites a later one.
    async fn touch_grants(&self, uses: &[(GrantId, Timestamp)]) -> Result<(), StoreError>;
}
