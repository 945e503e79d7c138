//! Making a pair of tokens.

use kernel::{
    Context, StoreError,
    id::TokenId,
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{ACCESS_LIFETIME, AccessToken, Grant, RefreshToken, RefreshTokenState, TokenPair};
use crate::oauth::{AgentAccess, OAuthTx};

/// A new access token for a grant, beside a refresh token of it that is kept already.
pub(super) async fn issue_access_token(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    grant: &Grant,
    access: AgentAccess,
    refresh_token: SecretString,
) -> Result<TokenPair, StoreError> {
    let access_token = token::mint(TokenKind::AgentAccess, ctx.random());
    let kept = AccessToken {
        id: ctx.new_id(),
        grant: grant.id,
        workspace: grant.workspace,
        access,
        hint: TokenHint::of(TokenKind::AgentAccess, &access_token),
        created_at: ctx.now,
        expires_at: ctx.now + ACCESS_LIFETIME,
    };
    tx.insert_access_token(&kept, &peppers.digest(access_token.expose_secret())).await?;
    Ok(TokenPair { access_token, refresh_token, access, grant: grant.id })
}

/// A new pair for a grant. Whatever refresh token was the newest must have been spent before.
pub(super) async fn issue_token_pair(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    grant: &Grant,
    access: AgentAccess,
    (id, refresh_token, generation): (TokenId, SecretString, i64),
) -> Result<TokenPair, StoreError> {
    let kept = RefreshToken {
        id,
        grant: grant.id,
        workspace: grant.workspace,
        generation,
        created_at: ctx.now,
        state: RefreshTokenState::Current,
    };
    tx.insert_refresh_token(&kept, &peppers.digest(refresh_token.expose_secret())).await?;
    issue_access_token(tx, ctx, peppers, grant, access, refresh_token).await
}
