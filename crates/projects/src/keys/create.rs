//! Creating a key.

use std::collections::BTreeSet;

use kernel::{
    Context,
    token::{self, Peppers, TokenHint, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{KeyKind, KeyScope, KeyScopes, ProjectKey};
use crate::{
    InvalidInput, ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
};

const MAX_ACTIVE_KEYS: u64 = 100;

/// Fields of a new key.
#[derive(Debug, Clone)]
pub struct CreateKey {
    /// Kind of the key.
    pub kind: KeyKind,
    /// Display name; 1 to 60 printable characters after trimming.
    pub name: String,
    /// Permissions of a secret key; reading and writing rows by default.
    pub scopes: Option<Vec<KeyScope>>,
    /// Tables that a secret key may use, 1 to 64; all by default.
    pub tables: Option<Vec<String>>,
}

/// A new key and its value, which is not stored.
#[derive(Debug)]
pub struct CreatedKey {
    /// Stored key.
    pub key: ProjectKey,
    /// Value of the key, to be shown once.
    pub secret: SecretString,
}

/// Creates a key and stores the digest of its value.
///
/// # Errors
/// * [`ProjectError::InvalidInput`] when a field is out of bounds
/// * [`ProjectError::TooManyKeys`] when the project has 100 active keys
/// * [`ProjectError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_key(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    peppers: &Peppers,
    input: CreateKey,
) -> Result<CreatedKey, ProjectError> {
    let name = input.name.trim().to_owned();
    if !(1..=60).contains(&name.chars().count()) || !kernel::text::is_visible_line(&name) {
        return Err(InvalidInput::KeyName.into());
    }
    let (scopes, kind) = match input.kind {
        KeyKind::Publishable if input.scopes.as_ref().is_some_and(|scopes| !scopes.is_empty()) => {
            return Err(InvalidInput::PublishableKeyScopes.into());
        }
        KeyKind::Publishable if input.tables.is_some() => {
            return Err(InvalidInput::PublishableKeyTables.into());
        }
        KeyKind::Publishable => (KeyScopes::default(), TokenKind::PublishableKey),
        KeyKind::Secret => {
            let scopes = input.scopes.unwrap_or_else(|| vec![KeyScope::RowsRead, KeyScope::RowsWrite]);
            if scopes.is_empty() {
                return Err(InvalidInput::NoKeyScope.into());
            }
            (scopes.into_iter().collect(), TokenKind::SecretKey)
        }
    };
    if let Some(tables) = &input.tables {
        let distinct: BTreeSet<&String> = tables.iter().collect();
        if tables.is_empty() || tables.len() > 64 || distinct.len() != tables.len() {
            return Err(InvalidInput::KeyTables.into());
        }
        if tables.iter().any(|table| !is_table_name(table)) {
            return Err(InvalidInput::KeyTableName.into());
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
            .owner(right.project_creator())
            .detail(json!({ "project": key.project, "kind": key.kind, "hint": key.hint.to_string() })),
    );
    Ok(CreatedKey { key, secret })
}

fn is_table_name(name: &str) -> bool {
    (1..=48).contains(&name.len())
        && name.as_bytes()[0].is_ascii_lowercase()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::testing::{FakeTx, assert_audited, context_at, creator_id, owner_of, peppers, project};

    fn publishable() -> CreateKey {
        CreateKey { kind: KeyKind::Publishable, name: " Website ".to_owned(), scopes: None, tables: None }
    }

    fn secret() -> CreateKey {
        CreateKey { kind: KeyKind::Secret, ..publishable() }
    }

    fn limited_to(tables: &[&str]) -> CreateKey {
        let tables = tables.iter().map(|table| (*table).to_owned()).collect();
        CreateKey { tables: Some(tables), ..secret() }
    }

    async fn create(tx: &mut FakeTx, input: CreateKey) -> Result<CreatedKey, ProjectError> {
        let ctx = context_at(1_000);
        create_key(tx, &ctx, &owner_of(&ctx, &project(7)), &peppers(), input).await
    }

    #[tokio::test]
    async fn only_the_digest_of_a_new_key_is_stored() {
        let mut tx = FakeTx::with_project(&project(7));
        let created = create(&mut tx, publishable()).await.unwrap();

        let value = created.secret.expose_secret();
        assert_eq!(token::detect_kind(value), Some(TokenKind::PublishableKey));
        let expected = ProjectKey {
            id: created.key.id,
            project: id(7),
            name: "Website".to_owned(),
            kind: KeyKind::Publishable,
            scopes: KeyScopes::default(),
            tables: None,
            hint: TokenHint::of(TokenKind::PublishableKey, &created.secret),
            created_by: creator_id(),
            created_at: context_at(1_000).now,
            last_used_at: None,
            revoked_at: None,
        };
        assert_eq!(created.key, expected);
        assert_eq!(tx.keys, [(expected, peppers().digest(value))]);
        let hint = created.key.hint.to_string();
        let detail = json!({ "project": created.key.project, "kind": "publishable", "hint": hint });
        assert_audited(&tx.work, "project_key.create", created.key.id, Some(&detail));
        assert!(!format!("{created:?} {tx:?}").contains(value), "nothing else shows the value");
    }

    #[tokio::test]
    async fn a_secret_key_reads_and_writes_rows_by_default() {
        let mut tx = FakeTx::with_project(&project(7));
        let created = create(&mut tx, secret()).await.unwrap();
        assert_eq!(created.key.scopes.to_vec(), [KeyScope::RowsRead, KeyScope::RowsWrite]);
        assert_eq!(token::detect_kind(created.secret.expose_secret()), Some(TokenKind::SecretKey));
    }

    #[tokio::test]
    async fn a_secret_key_can_be_limited_to_scopes_and_tables() {
        let mut tx = FakeTx::with_project(&project(7));
        let input = CreateKey { scopes: Some(vec![KeyScope::SchemaWrite]), ..limited_to(&["orders", "t_2"]) };
        let key = create(&mut tx, input).await.unwrap().key;
        assert_eq!(key.scopes.to_vec(), [KeyScope::SchemaWrite]);
        assert_eq!(key.tables, Some(vec!["orders".to_owned(), "t_2".to_owned()]));
        assert_eq!(tx.keys[0].0, key);
    }

    #[tokio::test]
    async fn unfit_fields_are_refused_and_store_nothing() {
        let mut tx = FakeTx::with_project(&project(7));
        let named = |name: &str| CreateKey { name: name.to_owned(), ..secret() };
        let many: Vec<String> = (0..65).map(|number| format!("t{number}")).collect();
        let long = "x".repeat(49);
        for (input, expected) in [
            (named(" "), InvalidInput::KeyName),
            (named(&"x".repeat(61)), InvalidInput::KeyName),
            (named("a\nb"), InvalidInput::KeyName),
            (
                CreateKey { scopes: Some(vec![KeyScope::RowsRead]), ..publishable() },
                InvalidInput::PublishableKeyScopes,
            ),
            (CreateKey { scopes: Some(Vec::new()), ..secret() }, InvalidInput::NoKeyScope),
            (
                CreateKey { tables: Some(vec!["orders".to_owned()]), ..publishable() },
                InvalidInput::PublishableKeyTables,
            ),
            (CreateKey { tables: Some(many), ..secret() }, InvalidInput::KeyTables),
            (limited_to(&[]), InvalidInput::KeyTables),
            (limited_to(&["orders", "orders"]), InvalidInput::KeyTables),
            (limited_to(&[""]), InvalidInput::KeyTableName),
            (limited_to(&["Orders"]), InvalidInput::KeyTableName),
            (limited_to(&["1st"]), InvalidInput::KeyTableName),
            (limited_to(&[&long]), InvalidInput::KeyTableName),
        ] {
            let refused = create(&mut tx, input.clone()).await;
            assert!(
                matches!(refused, Err(ProjectError::InvalidInput(ref invalid)) if *invalid == expected),
                "{input:?}: {refused:?}"
            );
        }
        assert!(tx.keys.is_empty() && tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_project_has_at_most_a_hundred_active_keys() {
        let mut tx = FakeTx::with_project(&project(7));
        create(&mut tx, secret()).await.unwrap();
        let (key, digest) = tx.keys[0].clone();
        tx.keys = vec![(key.clone(), digest); 99];
        let revoked = ProjectKey { revoked_at: Some(key.created_at), ..key.clone() };
        let elsewhere = ProjectKey { project: id(8), ..key };
        tx.keys.extend([(revoked, digest), (elsewhere, digest)]);
        create(&mut tx, secret()).await.unwrap();

        let refused = create(&mut tx, secret()).await;
        assert!(matches!(refused, Err(ProjectError::TooManyKeys)), "{refused:?}");
        assert_eq!((tx.keys.len(), tx.work.audit.len()), (102, 2));
    }
}
