//! Making a key.

use std::collections::BTreeSet;

use kernel::{
    Context,
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{KeyKind, KeyScope, KeyScopes, ProjectKey};
use crate::{
    ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
};

const MAX_ACTIVE_KEYS: u64 = 100;

/// What a new key is to be.
#[derive(Debug, Clone)]
pub struct CreateKey {
    /// Who it is for.
    pub kind: KeyKind,
    /// What its maker calls it.
    pub name: String,
    /// What a secret key may be used for; reading and writing rows when not said.
    pub scopes: Option<Vec<KeyScope>>,
    /// The only tables a secret key may use.
    pub tables: Option<Vec<String>>,
}

/// A fresh key and its value, which is kept nowhere.
#[derive(Debug)]
pub struct CreatedKey {
    /// What is kept.
    pub key: ProjectKey,
    /// What the maker must keep.
    pub secret: SecretString,
}

/// Makes a key.
///
/// # Errors
/// When a field is out of bounds, there are too many, or what the store says.
pub async fn create_key(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    peppers: &Peppers,
    input: CreateKey,
) -> Result<CreatedKey, ProjectError> {
    let invalid = |field, what| Err(ProjectError::InvalidField { field, what });
    let name = input.name.trim().to_owned();
    if !(1..=60).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return invalid("name", "must have 1 to 60 printable characters");
    }
    let (scopes, kind) = match input.kind {
        KeyKind::Publishable if input.scopes.as_ref().is_some_and(|scopes| !scopes.is_empty()) => {
            return invalid("scopes", "are of secret keys only: rules limit a publishable one");
        }
        KeyKind::Publishable if input.tables.is_some() => {
            return invalid("tables", "are of secret keys only: rules limit a publishable one");
        }
        KeyKind::Publishable => (KeyScopes::default(), TokenKind::PublishableKey),
        KeyKind::Secret => {
            let scopes = input.scopes.unwrap_or_else(|| vec![KeyScope::RowsRead, KeyScope::RowsWrite]);
            if scopes.is_empty() {
                return invalid("scopes", "must hold at least one");
            }
            (scopes.into_iter().collect(), TokenKind::SecretKey)
        }
    };
    if let Some(tables) = &input.tables {
        let distinct: BTreeSet<&String> = tables.iter().collect();
        if tables.is_empty() || tables.len() > 64 || distinct.len() != tables.len() {
            return invalid("tables", "must hold 1 to 64 different tables, or be null for all");
        }
        if tables.iter().any(|table| !is_table_name(table)) {
            return invalid("tables", "holds a name that no table can have");
        }
    }
    if tx.count_active_keys(right.project()).await? >= MAX_ACTIVE_KEYS {
        return Err(ProjectError::TooManyKeys);
    }

    let secret = token::mint(kind, ctx.random());
    let key = ProjectKey {
        id: ctx.new_id(),
        project: right.project(),
        name,
        kind: input.kind,
        scopes,
        tables: input.tables,
        hint: TokenHint::of(kind, &secret),
        created_by: right.member().user(),
        created_at: ctx.now,
        last_used_at: None,
        revoked_at: None,
    };
    tx.insert_project_key(&key, &peppers.digest(secret.expose_secret())).await?;
    tx.audit(
        ctx.audit_entry("project_key.create")
            .workspace(right.member().workspace())
            .target(key.id)
            .detail(json!({ "project": key.project, "kind": key.kind, "hint": key.hint.to_string() })),
    );
    Ok(CreatedKey { key, secret })
}

fn is_table_name(name: &str) -> bool {
    (1..=48).contains(&name.len())
        && name.as_bytes()[0].is_ascii_lowercase()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
