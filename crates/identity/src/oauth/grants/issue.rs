//! Issuing a pair of tokens.

use kernel::{
    Context, StoreError,
    id::TokenId,
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{ACCESS_LIFETIME, AccessToken, Grant, RefreshToken, RefreshTokenState, TokenPair};
use crate::oauth::{AgentAccess, OAuthTx};

/// Issues an access token for a grant and returns it with a refresh token that is stored already.
pub(super) async fn issue_access_token(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    grant: &Grant,
    access: AgentAccess,
    refresh_token: SecretString,
) -> Result<TokenPair, StoreError> {
    let access_token = token::mint(TokenKind::AgentAccess, ctx.random());
    let stored = AccessToken {
        id: ctx.new_id(),
        grant: grant.id,
        workspace: grant.workspace,
        access,
        hint: TokenHint::of(TokenKind::AgentAccess, &access_token),
        created_at: ctx.now,
        expires_at: ctx.now + ACCESS_LIFETIME,
    };
    tx.insert_access_token(&stored, &peppers.digest(access_token.expose_secret())).await?;
    Ok(TokenPair { access_token, refresh_token, access, grant: grant.id })
}

/// Issues an access token for a grant and stores this refresh token; the grant's earlier one must be rotated before.
pub(super) async fn issue_token_pair(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    peppers: &Peppers,
    grant: &Grant,
    access: AgentAccess,
    (id, refresh_token, generation): (TokenId, SecretString, i64),
) -> Result<TokenPair, StoreError> {
    let stored = RefreshToken {
        id,
        grant: grant.id,
        workspace: grant.workspace,
        generation,
        created_at: ctx.now,
        state: RefreshTokenState::Current,
    };
    tx.insert_refresh_token(&stored, &peppers.digest(refresh_token.expose_secret())).await?;
    issue_access_token(tx, ctx, peppers, grant, access, refresh_token).await
}
