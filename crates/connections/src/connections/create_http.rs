//! Making a connection that a person describes by hand.

use std::collections::BTreeMap;

use kernel::{Context, authority::Admin, vault::Vault};
use secrecy::SecretString;
use serde_json::json;

use super::{ConnectionError, ConnectionTx, store_secret};
use crate::{
    connection::{
        Connection, ConnectionStatus, HTTP_CONNECTOR, HttpConnection, HttpConnectionInput, MAX_CONNECTIONS,
    },
    gates::GateStatus,
    invalid_input::{Field, InvalidInput, Reason},
};

/// Makes a connection in the admin's workspace, with an open gate.
///
/// # Errors
/// * [`ConnectionError::InvalidInput`] when a field is refused, or a secret is missing
/// * [`ConnectionError::TooMany`] when the workspace has [`MAX_CONNECTIONS`]
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_http_connection(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    vault: &Vault,
    input: HttpConnectionInput,
) -> Result<Connection, ConnectionError> {
    let valid = input.validate()?;
    let new = NewConnection {
        connector: HTTP_CONNECTOR.to_owned(),
        display_name: valid.display_name,
        http: valid.http,
        values: BTreeMap::new(),
        secret: valid.secret,
    };
    insert(tx, ctx, admin, vault, new).await
}

/// A validated connection that is not stored yet.
pub(super) struct NewConnection {
    pub(super) connector: String,
    pub(super) display_name: String,
    pub(super) http: HttpConnection,
    pub(super) values: BTreeMap<String, String>,
    pub(super) secret: Option<SecretString>,
}

/// Stores a new connection, its secret and its audit entry.
pub(super) async fn insert(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    vault: &Vault,
    new: NewConnection,
) -> Result<Connection, ConnectionError> {
    let workspace = admin.workspace();
    if new.http.auth.needs_secret() && new.secret.is_none() {
        return Err(InvalidInput::new(Field::Secret, Reason::Required).into());
    }
    if tx.count_connections(workspace).await? >= MAX_CONNECTIONS {
        return Err(ConnectionError::TooMany);
    }
    let mut connection = Connection {
        id: ctx.new_id(),
        workspace,
        connector: new.connector,
        display_name: new.display_name,
        status: ConnectionStatus::NEW,
        connected_at: Some(ctx.now),
        key_id: None,
        secret_version: 0,
        http: new.http,
        values: new.values,
        service_account: None,
        gate: GateStatus::Open,
        created_at: ctx.now,
        updated_at: ctx.now,
        revision: 1,
    };
    let sealed = store_secret::seal(ctx, vault, &mut connection, new.secret.as_ref())?;
    tx.insert_connection(&connection).await?;
    store_secret::write(tx, &connection, None, &sealed).await?;
    let entry = ctx.audit_entry("connection.create").workspace(workspace).target(connection.id);
    tx.audit(entry.detail(json!({
        "name": connection.display_name,
        "connector": connection.connector,
        "host": connection.http.host.as_str(),
        "auth": connection.http.auth.kind().as_str(),
    })));
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        auth::AuthInput,
        connection::SecretPurpose,
        testing::{FakeStore, admin, http_connection, http_input, request, vault, workspace},
    };

    async fn create(tx: &mut FakeStore, input: HttpConnectionInput) -> Result<Connection, ConnectionError> {
        let ctx = request();
        create_http_connection(tx, &ctx, &admin(&ctx), &vault(), input).await
    }

    #[tokio::test]
    async fn a_connection_is_stored_with_its_sealed_secret_and_audited() {
        let mut tx = FakeStore::default();
        let made = create(&mut tx, http_input()).await.unwrap();
        assert_eq!(tx.connections, std::slice::from_ref(&made));
        assert_eq!((made.workspace, made.gate, made.revision), (workspace(), GateStatus::Open, 1));
        assert!(made.has_secret());
        let sealed = &tx.sealed[&(made.id, SecretPurpose::Secret)];
        assert!(!sealed.contains("s3cret-of-the-crm"));
        let context = made.sealing_context(SecretPurpose::Secret);
        let opened = vault().open(&context.parts(), sealed).unwrap();
        assert_eq!(opened.expose_secret(), "s3cret-of-the-crm");
        let moved = Connection { id: id(99), ..made.clone() };
        let elsewhere = http_connection(1, "https://evil.example").http;
        for other in [moved, Connection { http: elsewhere, ..made.clone() }] {
            let context = other.sealing_context(SecretPurpose::Secret);
            assert!(vault().open(&context.parts(), sealed).is_err(), "the secret is bound to row and host");
        }
        assert_eq!(tx.work.audited_actions(), ["connection.create"]);
        assert!(!format!("{:?}", tx.work.audit).contains("s3cret"));
    }

    #[tokio::test]
    async fn a_secret_is_required_unless_there_is_no_authentication() {
        let mut tx = FakeStore::default();
        let missing = create(&mut tx, HttpConnectionInput { secret: None, ..http_input() }).await;
        assert_eq!(missing.unwrap_err().to_string(), "`secret` is required");
        let none = HttpConnectionInput { secret: None, auth: AuthInput::None {}, ..http_input() };
        let made = create(&mut tx, none).await.unwrap();
        assert!(!made.has_secret() && tx.sealed.is_empty());
        let unused = create(&mut tx, HttpConnectionInput { auth: AuthInput::None {}, ..http_input() }).await;
        assert!(matches!(unused, Err(ConnectionError::InvalidInput(_))));
    }

    #[tokio::test]
    async fn a_workspace_has_a_limit() {
        let connections = (1..=200).map(|number| http_connection(number, "https://a.example")).collect();
        let mut tx = FakeStore { connections, ..FakeStore::default() };
        assert!(matches!(create(&mut tx, http_input()).await, Err(ConnectionError::TooMany)));
        tx.connections[0].workspace = id(9);
        assert!(create(&mut tx, http_input()).await.is_ok());
    }
}
