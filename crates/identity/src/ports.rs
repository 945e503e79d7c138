//! The traits that a store implements for this domain.

mod devices;
mod oidc;
mod passkeys;
mod people;
mod sessions;

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{SessionId, TokenId, UserId, WorkspaceId},
    page::PageRequest,
    token::Digest,
};

use crate::{
    sessions::Session,
    sign_in::EmailSignIn,
    tokens::Token,
    user::{Email, User},
};

pub use devices::{DeviceRead, DeviceTx, OpenLoginCounts, PollPace};
pub use oidc::OidcTx;
pub use passkeys::{PasskeyRead, PasskeyTx};
pub use people::{PeopleRead, PeopleTx};
pub use sessions::{SessionRead, SessionTx, SessionUsageWriter};

/// Reads that need no transaction.
#[async_trait]
pub trait IdentityRead: DeviceRead + PasskeyRead + SessionRead + Send + Sync {
    /// Finds a person by id.
    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// Finds the session stored under one of these digests.
    async fn session_by_digest(&self, digests: &[Digest]) -> Result<Option<Session>, StoreError>;

    /// Finds the token stored under one of these digests, including revoked and expired tokens.
    async fn token_by_digest(&self, digests: &[Digest]) -> Result<Option<Token>, StoreError>;

    /// Finds a token by id, including revoked and expired tokens.
    async fn token(&self, id: TokenId) -> Result<Option<Token>, StoreError>;

    /// Lists a person's tokens in a workspace, newest first; up to one more than the page's limit.
    async fn tokens(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<Token>, StoreError>;
}

/// Writes, and the reads they depend on.
#[async_trait]
pub trait IdentityTx: DeviceTx + OidcTx + PasskeyTx {
    /// Finds a person by e-mail address.
    async fn find_user_by_email(&mut self, email: &Email) -> Result<Option<User>, StoreError>;

    /// Adds a person; [`StoreError::Duplicate`] if the address is taken.
    async fn insert_user(&mut self, user: &User) -> Result<(), StoreError>;

    /// Stores a pending sign-in and replaces an earlier one of the same address.
    async fn upsert_sign_in(&mut self, sign_in: &EmailSignIn) -> Result<(), StoreError>;

    /// Finds the pending sign-in of an address and locks the row until the transaction ends.
    async fn find_sign_in(&mut self, email: &Email) -> Result<Option<EmailSignIn>, StoreError>;

    /// Finds the pending sign-in whose link is stored under one of these digests and locks the row until the
    /// transaction ends.
    async fn find_sign_in_by_link(&mut self, digests: &[Digest]) -> Result<Option<EmailSignIn>, StoreError>;

    /// Deletes the pending sign-in of an address.
    async fn delete_sign_in(&mut self, email: &Email) -> Result<(), StoreError>;

    /// Adds a session under the digest of its secret.
    async fn insert_session(&mut self, session: &Session, digest: &Digest) -> Result<(), StoreError>;

    /// Sets the workspace that is open in a session.
    async fn set_session_workspace(
        &mut self,
        session: SessionId,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError>;

    /// Deletes a session; `true` if it existed.
    async fn delete_session(&mut self, session: SessionId) -> Result<bool, StoreError>;

    /// Counts a person's tokens in a workspace that are active at `now`. Other transactions that add one wait until
    /// this one ends.
    async fn count_tokens(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a token under the digest of its secret.
    async fn insert_token(&mut self, token: &Token, digest: &Digest) -> Result<(), StoreError>;

    /// Revokes one of a person's tokens and returns it; a token that was revoked before keeps its time.
    async fn revoke_token(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<Option<Token>, StoreError>;
}

/// Records when tokens were last used, in batches outside the requests.
#[async_trait]
pub trait TokenUsageWriter: Send + Sync {
    /// Stores the times; an earlier time never overwrites a later one.
    async fn touch_tokens(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError>;
}
