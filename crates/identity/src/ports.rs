//! What this domain needs from a store.

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
    /// A person by id.
    async fn user(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The session stored under one of these digests.
    async fn session_by_digest(&self, digests: &[Digest]) -> Result<Option<Session>, StoreError>;

    /// The token stored under one of these digests, revoked and expired ones included.
    async fn token_by_digest(&self, digests: &[Digest]) -> Result<Option<Token>, StoreError>;

    /// A token by id.
    async fn token(&self, id: TokenId) -> Result<Option<Token>, StoreError>;

    /// A person's own tokens in a workspace, newest first, up to one more than the limit.
    async fn tokens(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        page: PageRequest,
    ) -> Result<Vec<Token>, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait IdentityTx: DeviceTx + OidcTx + PasskeyTx {
    /// A person by address.
    async fn find_user_by_email(&mut self, email: &Email) -> Result<Option<User>, StoreError>;

    /// Adds a person; [`StoreError::Duplicate`] when the address is taken.
    async fn insert_user(&mut self, user: &User) -> Result<(), StoreError>;

    /// Keeps a sign-in under way, in place of an earlier one of the same address.
    async fn upsert_sign_in(&mut self, sign_in: &EmailSignIn) -> Result<(), StoreError>;

    /// The sign-in under way for an address; the row stays locked until the transaction ends.
    async fn find_sign_in(&mut self, email: &Email) -> Result<Option<EmailSignIn>, StoreError>;

    /// The sign-in under way whose link is stored under one of these digests; the row stays locked until the
    /// transaction ends.
    async fn find_sign_in_by_link(&mut self, digests: &[Digest]) -> Result<Option<EmailSignIn>, StoreError>;

    /// Forgets the sign-in under way for an address.
    async fn delete_sign_in(&mut self, email: &Email) -> Result<(), StoreError>;

    /// Adds a session.
    async fn insert_session(&mut self, session: &Session, digest: &Digest) -> Result<(), StoreError>;

    /// Opens another workspace in a session.
    async fn set_session_workspace(
        &mut self,
        session: SessionId,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError>;

    /// Ends a session; whether there was one.
    async fn delete_session(&mut self, session: SessionId) -> Result<bool, StoreError>;

    /// How many active tokens a person has in a workspace at `now`. Whoever adds one waits until the transaction ends.
    async fn count_tokens(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a token.
    async fn insert_token(&mut self, token: &Token, digest: &Digest) -> Result<(), StoreError>;

    /// Marks one of a person's tokens revoked unless it is already; the token as it stands now.
    async fn revoke_token(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        token: TokenId,
        at: Timestamp,
    ) -> Result<Option<Token>, StoreError>;
}

/// Notes when tokens were last used, many at once and off the request's way.
#[async_trait]
pub trait TokenUsageWriter: Send + Sync {
    /// Keeps the moments; an earlier one never overwrites a later one.
    async fn touch_tokens(&self, uses: &[(TokenId, Timestamp)]) -> Result<(), StoreError>;
}
