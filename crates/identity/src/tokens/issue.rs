//! Making a token for a person whose right is known.

use chrono::TimeDelta;
use kernel::{
    Context,
    id::{UserId, WorkspaceId},
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::ExposeSecret as _;

use super::{CreateToken, CreatedToken, MAX_TOKENS, Token};
use crate::{IdentityError, IdentityTx};

/// Makes a token for a person of whose right the caller has made sure.
pub(crate) async fn issue_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    (workspace, user): (WorkspaceId, UserId),
    input: CreateToken,
) -> Result<CreatedToken, IdentityError> {
    let name = input.name.trim().to_owned();
    if !(1..=60).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return Err(IdentityError::InvalidField {
            field: "name",
            what: "must have 1 to 60 printable characters",
        });
    }
    if tx.count_tokens(workspace, user, ctx.now).await? >= MAX_TOKENS {
        return Err(IdentityError::TooManyTokens);
    }
    if input.expires_in_days.is_some_and(|days| !(1..=365).contains(&days)) {
        return Err(IdentityError::InvalidField {
            field: "expiresInDays",
            what: "must be from 1 to 365, or null",
        });
    }

    let secret = token::mint(TokenKind::Personal, ctx.random());
    let token = Token {
        id: ctx.new_id(),
        workspace,
        user,
        name,
        scopes: input.scopes,
        hint: TokenHint::of(TokenKind::Personal, &secret),
        created_at: ctx.now,
        last_used_at: None,
        expires_at: input.expires_in_days.map(|days| ctx.now + TimeDelta::days(days.into())),
        revoked_at: None,
    };
    tx.insert_token(&token, &peppers.digest(secret.expose_secret())).await?;
    let mut entry =
        ctx.audit_entry("token.create").workspace(token.workspace).target(token.id).detail(
            serde_json::json!({ "hint": token.hint.to_string(), "scopes": token.scopes.to_string() }),
        );
    // Whoever asks may be a command line that a person has let in.
    entry.actor = user.to_string();
    tx.audit(entry);
    Ok(CreatedToken { token, secret })
}
