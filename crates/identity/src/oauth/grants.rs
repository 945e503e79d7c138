//! Agent clients that were let in, and their tokens.

mod exchange;
mod issue;
mod refresh;
mod revoke;
mod revoke_all;
mod revoke_client_token;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
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

/// How long an access token lasts.
pub const ACCESS_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How long a grant lasts after its tokens were last refreshed.
pub const IDLE_LIFETIME: TimeDelta = TimeDelta::days(90);

/// An agent client that a person let into a workspace; every token of it ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Where.
    pub workspace: WorkspaceId,
    /// For whom the client acts.
    pub user: UserId,
    /// The client as it was when it asked.
    pub client: ClientSnapshot,
    /// What it may do.
    pub access: AgentAccess,
    /// What its tokens are for.
    pub audience: String,
    /// When the client was let in.
    pub created_at: Timestamp,
    /// When it was last there, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself, unless its tokens are refreshed before.
    pub expires_at: Timestamp,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
}

impl Grant {
    /// Whether its tokens may be good at all.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// What is kept of an access token; never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The token's id.
    pub id: TokenId,
    /// What it is of.
    pub grant: GrantId,
    /// The grant's workspace.
    pub workspace: WorkspaceId,
    /// What it may be used for: the grant's access, or less.
    pub access: AgentAccess,
    /// What may be shown of its value.
    pub hint: TokenHint,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl AccessToken {
    /// The caller this token makes at the deployment whose audience is `audience`, while it and its grant last.
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

/// What is kept of a refresh token; never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshToken {
    /// The token's id.
    pub id: TokenId,
    /// What it is of.
    pub grant: GrantId,
    /// The grant's workspace.
    pub workspace: WorkspaceId,
    /// How many times the tokens had been refreshed when it was made.
    pub generation: i64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether it may still be used.
    pub state: RefreshTokenState,
}

/// Whether a refresh token may still be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshTokenState {
    /// It is the newest of its grant, of which there is one.
    Current,
    /// Another took its place.
    Rotated {
        /// When.
        at: Timestamp,
    },
}

/// A pair of tokens on its way to the client; kept nowhere.
#[derive(Debug)]
pub struct TokenPair {
    /// The access token.
    pub access_token: SecretString,
    /// The refresh token.
    pub refresh_token: SecretString,
    /// What the access token may be used for.
    pub access: AgentAccess,
    /// Of which grant they are.
    pub grant: GrantId,
}

/// Who acts, in the audit log: the client for its person, since nobody is signed in at the token endpoint.
fn audit_actor(user: UserId, grant: GrantId) -> String {
    format!("{user} by {grant}")
}
