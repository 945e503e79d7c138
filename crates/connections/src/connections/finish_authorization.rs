//! Finishing an authorization in a browser: the connection, with the tokens that the service gave out.

use kernel::{
    Context,
    authority::{Admin, Locked},
    vault::{Vault, key_id},
};
use serde_json::json;

use super::{ConnectionError, ConnectionReader, ConnectionTx, PendingAuthorization};
use crate::{
    connection::{Connection, ConnectionStatus, MAX_CONNECTIONS, SecretPurpose},
    gates::GateStatus,
    oauth_apps::find_oauth_connector,
    stored_token::StoredToken,
};

/// Returns the connection that an authorization is for, as it will be: it is not stored yet. The exchange of the code for
/// tokens needs it.
///
/// # Errors
/// * [`ConnectionError::UnknownConnector`] when the catalogue no longer has the connector
/// * [`ConnectionError::NotFound`] when the connection to connect again is gone
/// * [`ConnectionError::InvalidInput`] when the catalogue has changed, so that a value is refused
/// * [`ConnectionError::Store`] when the store fails
pub async fn authorized_connection(
    reader: &dyn ConnectionReader,
    ctx: &Context,
    admin: &Admin,
    pending: &PendingAuthorization,
) -> Result<Connection, ConnectionError> {
    let (entry, _) = find_oauth_connector(&pending.connector).ok_or(ConnectionError::UnknownConnector)?;
    let http = entry.http_connection(&pending.values, None, None)?;
    let before = match pending.connection {
        None => None,
        Some(id) => {
            let found = reader.find_connection(admin.workspace(), id).await?;
            let found = found.filter(|found| found.connector == pending.connector);
            Some(found.ok_or(ConnectionError::NotFound)?)
        }
    };
    let new = || Connection {
        id: ctx.new_id(),
        workspace: admin.workspace(),
        connector: pending.connector.clone(),
        display_name: String::new(),
        status: ConnectionStatus::NEW,
        connected_at: None,
        key_id: None,
        secret_version: 0,
        http: http.clone(),
        values: pending.values.clone(),
        service_account: None,
        gate: GateStatus::Open,
        created_at: ctx.now,
        updated_at: ctx.now,
        revision: 0,
    };
    Ok(authorized(before.unwrap_or_else(new), ctx, pending, http))
}

/// Returns a connection as an authorization leaves it, save for the key of its sealed tokens.
fn authorized(
    before: Connection,
    ctx: &Context,
    pending: &PendingAuthorization,
    http: crate::HttpConnection,
) -> Connection {
    Connection {
        display_name: pending.display_name.clone(),
        status: ConnectionStatus::NEW,
        connected_at: Some(ctx.now),
        secret_version: before.secret_version + 1,
        http,
        values: pending.values.clone(),
        updated_at: ctx.now,
        revision: before.revision + 1,
        ..before
    }
}

/// Stores the connection of an authorization, with its sealed tokens. `connection` is that of [`authorized_connection`].
///
/// # Errors
/// * [`ConnectionError::TooMany`] when the workspace has [`MAX_CONNECTIONS`]
/// * [`ConnectionError::NotFound`] when the connection to connect again is gone
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn finish_authorization(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Locked<Admin>,
    vault: &Vault,
    pending: &PendingAuthorization,
    (connection, token): (Connection, &StoredToken),
) -> Result<Connection, ConnectionError> {
    let workspace = admin.workspace();
    let (mut connection, action) = if pending.connection.is_none() {
        if tx.count_connections(workspace).await? >= MAX_CONNECTIONS {
            return Err(ConnectionError::TooMany);
        }
        (connection, "connection.create")
    } else {
        // It may have been changed since the code was exchanged.
        let before = tx.connection_for_update(workspace, connection.id).await?;
        let before = before.filter(|before| before.connector == pending.connector);
        let before = before.ok_or(ConnectionError::NotFound)?;
        (authorized(before, ctx, pending, connection.http), "connection.update")
    };
    let context = connection.sealing_context(SecretPurpose::Tokens);
    let sealed = vault.seal(ctx.random(), &context.parts(), &token.to_text());
    connection.key_id = key_id(&sealed).map(str::to_owned);
    if pending.connection.is_none() {
        tx.insert_connection(&connection).await?;
    } else {
        tx.update_connection(&connection).await?;
        tx.delete_sealed_secrets(workspace, connection.id, &SecretPurpose::ALL).await?;
    }
    tx.put_sealed_secret(workspace, connection.id, SecretPurpose::Tokens, &sealed).await?;
    let entry = ctx.audit_entry(action).workspace(workspace).target(connection.id);
    tx.audit(entry.detail(json!({
        "name": connection.display_name,
        "connector": connection.connector,
        "host": connection.http.host.as_str(),
        "auth": connection.http.auth.kind().as_str(),
        "authorized": true,
    })));
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use kernel::{authority::locked_for_test, id::ConnectionId, testing::id};
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        outbound::IssuedToken,
        testing::{FakeStore, admin, request, vault},
    };

    fn pending(connection: Option<ConnectionId>) -> PendingAuthorization {
        PendingAuthorization {
            workspace: crate::testing::workspace(),
            connector: "gmail".to_owned(),
            display_name: "Mail".to_owned(),
            values: BTreeMap::new(),
            connection,
            state: "s".into(),
            verifier: "v".into(),
        }
    }

    async fn finish(
        store: &mut FakeStore,
        connection: Option<ConnectionId>,
        token: &str,
    ) -> Result<Connection, ConnectionError> {
        let (ctx, pending) = (request(), pending(connection));
        let admin = admin(&ctx);
        let issued = IssuedToken {
            access_token: token.into(),
            refresh_token: Some("refresh".into()),
            lifetime: Some(Duration::from_secs(3_600)),
        };
        let draft = authorized_connection(store, &ctx, &admin, &pending).await?;
        let token = StoredToken::new(issued, ctx.now);
        finish_authorization(store, &ctx, &locked_for_test(admin), &vault(), &pending, (draft, &token)).await
    }

    fn opened(store: &FakeStore, connection: &Connection) -> String {
        let sealed = &store.sealed[&(connection.id, SecretPurpose::Tokens)];
        let context = connection.sealing_context(SecretPurpose::Tokens);
        let text = vault().open(&context.parts(), sealed).unwrap();
        StoredToken::parse(&text).unwrap().access_token.expose_secret().to_owned()
    }

    #[tokio::test]
    async fn a_connection_is_made_and_connected_again() {
        let mut store = FakeStore::default();
        let made = finish(&mut store, None, "access-one").await.unwrap();
        assert_eq!((made.connector.as_str(), made.secret_version, made.revision), ("gmail", 1, 1));
        assert!(made.has_secret());
        assert_eq!(opened(&store, &made), "access-one");

        store.connections[0].status = ConnectionStatus::Disconnected { since: request().now };
        let again = finish(&mut store, Some(made.id), "access-two").await.unwrap();
        assert_eq!((again.id, again.secret_version, again.revision), (made.id, 2, 2));
        assert_eq!(again.status, ConnectionStatus::NEW);
        assert_eq!(opened(&store, &again), "access-two");
        assert_eq!(store.work.audited_actions(), ["connection.create", "connection.update"]);
        assert!(!format!("{:?}", store.work.audit).contains("access-"));
    }

    #[tokio::test]
    async fn a_connection_that_is_gone_is_not_made_anew() {
        let mut store = FakeStore::default();
        let refused = finish(&mut store, Some(id(9)), "access").await;
        assert!(matches!(refused, Err(ConnectionError::NotFound)));
        assert!(store.connections.is_empty() && store.sealed.is_empty());
    }
}
