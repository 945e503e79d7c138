//! Making a personal access token.

use kernel::{
    Caller, Context,
    authority::{Member, Role},
    caller::{Scope, Scopes},
    token::Peppers,
};
use secrecy::SecretString;

use super::{Token, issue_token};
use crate::{IdentityError, IdentityTx};

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct CreateToken {
    /// What its owner calls it.
    pub name: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// How many days it lasts, 1 to 365; none for ever.
    pub expires_in_days: Option<u16>,
}

/// A fresh token and its value, which is kept nowhere.
#[derive(Debug)]
pub struct CreatedToken {
    /// What is kept.
    pub token: Token,
    /// What the owner must keep.
    pub secret: SecretString,
}

/// Makes a token for the member themselves.
///
/// # Errors
/// When a field is out of bounds, the caller is a token itself, or what the store says.
pub async fn create_token(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    peppers: &Peppers,
    member: &Member,
    input: CreateToken,
) -> Result<CreatedToken, IdentityError> {
    if !matches!(ctx.caller, Caller::Session(_)) {
        return Err(IdentityError::TokenCannotCreateToken);
    }
    // It could do nothing now, and everything once its person becomes an admin.
    if input.scopes.allows(Scope::Admin) && !member.role().at_least(Role::Admin) {
        return Err(IdentityError::AdminScopeForbidden);
    }
    issue_token(tx, ctx, peppers, (member.workspace(), member.user()), input).await
}
