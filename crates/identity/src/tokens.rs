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

pub use create::{CreateToken, CreatedToken, create_token};
pub(crate) use issue::issue_token;
pub use revoke::revoke_token;

/// How many tokens of a person in one workspace may be active at once.
pub const MAX_TOKENS: u64 = 100;

/// What is kept of a personal access token; never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token's id.
    pub id: TokenId,
    /// The only workspace it works in.
    pub workspace: WorkspaceId,
    /// For whom it acts.
    pub user: UserId,
    /// What its owner calls it, 1 to 60 characters.
    pub name: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// What may be shown of its value.
    pub hint: TokenHint,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// The caller this token makes, while it is active.
    #[must_use]
    pub fn caller(&self, now: Timestamp) -> Option<TokenCaller> {
        let active = self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end);
        active.then_some(TokenCaller {
            token: self.id,
            user: self.user,
            workspace: self.workspace,
            scopes: self.scopes,
            grant: None,
        })
    }
}
