//! Personal access tokens (specification part A, "Personal access tokens").

mod create;
mod issue;
mod revoke;

use kernel::{
    Timestamp,
    caller::{Scopes, TokenCaller},
    id::{TokenId, UserId, WorkspaceId},
    token::TokenHint,
};

pub use create::create_token;
pub(crate) use issue::issue_token;
pub use issue::{CreateToken, CreatedToken};
pub use revoke::revoke_token;

/// Maximum number of active tokens of a person in one workspace.
pub const MAX_TOKENS: u64 = 100;

/// A personal access token without its value, of which only a digest is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Id of the token.
    pub id: TokenId,
    /// The only workspace the token gives access to.
    pub workspace: WorkspaceId,
    /// Person the token acts for.
    pub user: UserId,
    /// Name given by the person, 1 to 60 characters.
    pub name: String,
    /// Scopes of the token.
    pub scopes: Scopes,
    /// Beginning and end of the value, which may be shown.
    pub hint: TokenHint,
    /// Time at which the token was created.
    pub created_at: Timestamp,
    /// Time of the last request with the token, accurate to about a minute.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the token expires; none if it does not.
    pub expires_at: Option<Timestamp>,
    /// Time at which the token was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Returns the caller of requests with this token; none once it is revoked or has expired.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<TokenCaller> {
        let is_active = self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end);
        is_active.then_some(TokenCaller {
            token: self.id,
            user: self.user,
            workspace: self.workspace,
            scopes: self.scopes,
            grant: None,
        })
    }
}
