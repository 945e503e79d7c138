//! Grants of agent clients, and their tokens.

mod exchange;
mod issue;
mod refresh;
mod revoke;
mod revoke_all;
mod revoke_client_token;

use chrono::TimeDelta;
use kernel::{
    Actor, Timestamp,
    caller::TokenCaller,
    id::{GrantId, TokenId, UserId, WorkspaceId},
    token::TokenHint,
};
use secrecy::SecretString;

use super::{access::AgentAccess, clients::ClientSnapshot};

pub use exchange::{CodeExchange, exchange_code};
pub use refresh::{REUSE_GRACE, RefreshRequest, refresh_tokens};
pub use revoke::revoke_grant;
pub use revoke_all::revoke_grants_of;
pub use revoke_client_token::revoke_client_token;

/// Lifetime of an access token.
pub const ACCESS_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Lifetime of a grant after the last refresh of its tokens.
pub const IDLE_LIFETIME: TimeDelta = TimeDelta::days(90);

/// A person's grant of access to a workspace for an agent client; every token of it ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Id of the grant.
    pub id: GrantId,
    /// Workspace that the client may access.
    pub workspace: WorkspaceId,
    /// Person for whom the client acts.
    pub user: UserId,
    /// Client as it was at the time of its request.
    pub client: ClientSnapshot,
    /// Access of the client.
    pub access: AgentAccess,
    /// Resource that the tokens are valid for.
    pub audience: String,
    /// Time at which the grant was created.
    pub created_at: Timestamp,
    /// Time of the client's last request, accurate to about a minute.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the grant expires unless its tokens are refreshed before.
    pub expires_at: Timestamp,
    /// Time at which the grant was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Grant {
    /// True if the grant is neither revoked nor expired.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// An access token without its value, of which only a digest is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// Id of the token.
    pub id: TokenId,
    /// Grant of the token.
    pub grant: GrantId,
    /// Workspace of the grant.
    pub workspace: WorkspaceId,
    /// Access of the token: the grant's, or less.
    pub access: AgentAccess,
    /// Beginning and end of the value, which may be shown.
    pub hint: TokenHint,
    /// Time at which the token was issued.
    pub created_at: Timestamp,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
}

impl AccessToken {
    /// Returns the caller of requests with this token; none if the token has expired, its grant is not active, or the
    /// grant is not for `audience`.
    #[must_use]
    pub fn caller(&self, grant: &Grant, audience: &str, now: Timestamp) -> Option<TokenCaller> {
        let is_valid = self.grant == grant.id
            && grant.is_active(now)
            && now < self.expires_at
            && grant.audience == audience;
        is_valid.then_some(TokenCaller {
            token: self.id,
            user: grant.user,
            workspace: grant.workspace,
            scopes: self.access.scopes(),
            grant: Some(grant.id),
        })
    }
}

/// A refresh token without its value, of which only a digest is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshToken {
    /// Id of the token.
    pub id: TokenId,
    /// Grant of the token.
    pub grant: GrantId,
    /// Workspace of the grant.
    pub workspace: WorkspaceId,
    /// Number of refreshes of the grant before this token was issued.
    pub generation: i64,
    /// Time at which the token was issued.
    pub created_at: Timestamp,
    /// State of the token.
    pub state: RefreshTokenState,
}

/// State of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshTokenState {
    /// The newest token of its grant; each grant has at most one.
    Current,
    /// Another token has replaced it.
    Rotated {
        /// Time of the replacement.
        at: Timestamp,
    },
}

/// A pair of tokens for the client; only digests of them are stored.
#[derive(Debug)]
pub struct TokenPair {
    /// The access token.
    pub access_token: SecretString,
    /// The refresh token.
    pub refresh_token: SecretString,
    /// Access of the access token.
    pub access: AgentAccess,
    /// Grant of both tokens.
    pub grant: GrantId,
}

/// Returns the actor for the audit log: the client on behalf of its person, since nobody is signed in at the token
/// endpoint.
fn audit_actor(grant: &Grant) -> Actor {
    Actor::Agent { user: grant.user, grant: grant.id }
}
