//! Making a pair of tokens.

use kernel::{
    Context, StoreError,
    token::{self, Hint, Peppers, TokenKind},
};
use secrecy::ExposeSecret as _;

use super::{ACCESS_LIFETIME, AccessToken, Grant, RefreshState, RefreshToken, Tokens};
use crate::oauth::{AgentAccess, OAuthTx};

/// A new pair for a grant. Whatever refresh token was the newest must have been spent before.
pub(super) async fn issue_tokens<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    grant: &Grant,
    access: AgentAccess,
    generation: i64,
) -> Result<Tokens, StoreError> {
    let access_token = token::mint(TokenKind::AgentAccess, ctx.random());
    let kept = AccessToken {
        id: ctx.id(),
        grant: grant.id,
        workspace: grant.workspace,
        access,
        hint: Hint::of(TokenKind::AgentAccess, &access_token),
        created_at: ctx.now,
        expires_at: ctx.now + ACCESS_LIFETIME,
    };
    tx.insert_access_token(&kept, &peppers.digest(access_token.expose_secret())).await?;

    let refresh_token = token::mint(TokenKind::AgentRefresh, ctx.random());
    let kept = RefreshToken {
        id: ctx.id(),
        grant: grant.id,
        workspace: grant.workspace,
        generation,
        created_at: ctx.now,
        state: RefreshState::Newest,
    };
    tx.insert_refresh_token(&kept, &peppers.digest(refresh_token.expose_secret())).await?;
    Ok(Tokens { access_token, refresh_token, access, grant: grant.id })
}
