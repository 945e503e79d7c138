//! Tokens on the wire, without their values.

use chrono::{DateTime, Utc};
use identity::{
    oauth::{AccessToken, Grant},
    tokens::Token,
};
use kernel::{caller::Scope, id::TokenId};
use serde::Serialize;
use utoipa::ToSchema;

/// A personal access token, or an agent's access token.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenRecord {
    id: TokenId,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    #[schema(max_items = 3)]
    scopes: Vec<Scope>,
    /// Beginning of the token's value.
    prefix: String,
    /// Last four characters of the token's value.
    #[schema(min_length = 4, max_length = 4)]
    last4: String,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_used_at: Option<DateTime<Utc>>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    expires_at: Option<DateTime<Utc>>,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    revoked_at: Option<DateTime<Utc>>,
}

impl TokenRecord {
    /// Returns the record of an agent's access token, with the name of its client.
    pub(super) fn of_agent(token: AccessToken, grant: &Grant) -> Self {
        Self {
            id: token.id,
            name: grant.client.name.clone(),
            scopes: token.access.scopes().to_vec(),
            prefix: token.hint.prefix,
            last4: token.hint.last4,
            created_at: token.created_at,
            last_used_at: grant.last_used_at,
            expires_at: Some(token.expires_at),
            revoked_at: grant.revoked_at,
        }
    }
}

impl From<Token> for TokenRecord {
    fn from(token: Token) -> Self {
        Self {
            id: token.id,
            name: token.name,
            scopes: token.scopes.to_vec(),
            prefix: token.hint.prefix,
            last4: token.hint.last4,
            created_at: token.created_at,
            last_used_at: token.last_used_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
        }
    }
}
