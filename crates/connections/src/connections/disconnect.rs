//! Disconnecting a service.

use kernel::{Context, authority::Admin, id::ConnectionId, vault::Vault};
use serde_json::json;

use super::{ConnectionError, ConnectionTx};
use crate::{
    auth::Auth,
    connection::{Connection, ConnectionStatus, ConnectionUser, SecretPurpose},
    outbound::RevocableToken,
    stored_token::StoredToken,
};

/// A connection that is disconnected, with the apps that can no longer use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disconnected {
    /// Connection.
    pub connection: Connection,
    /// Apps whose current version names it.
    pub affected_apps: Vec<ConnectionUser>,
    /// The tokens that it had, sealed; only of an authorization in a browser, and only when it was connected until now.
    pub sealed_tokens: Option<String>,
}

impl Disconnected {
    /// Opens the tokens that the connection had, to revoke their grant; none if it had none, or they do not open.
    #[must_use]
    pub fn open_revocable(&self, vault: &Vault) -> Option<RevocableToken> {
        let context = self.connection.sealing_context(SecretPurpose::Tokens);
        let text = vault.open(&context.parts(), self.sealed_tokens.as_deref()?).ok()?;
        StoredToken::parse(&text).map(StoredToken::into_revocable)
    }
}

/// Disconnects a connection of the admin's workspace and deletes its secret. It stays in the list. A connection that is
/// disconnected already is left alone.
///
/// # Errors
/// * [`ConnectionError::NotFound`] when the workspace has no such connection
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn disconnect(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    connection: ConnectionId,
) -> Result<Disconnected, ConnectionError> {
    let workspace = admin.workspace();
    let found = tx.connection_for_update(workspace, connection).await?;
    let mut connection = found.ok_or(ConnectionError::NotFound)?;
    let affected_apps = tx.connection_users(workspace, connection.id).await?;
    if connection.status.is_disconnected() {
        return Ok(Disconnected { connection, affected_apps, sealed_tokens: None });
    }
    connection.status = ConnectionStatus::Disconnected { since: ctx.now };
    connection.key_id = None;
    connection.service_account = None;
    connection.updated_at = ctx.now;
    connection.revision += 1;
    tx.update_connection(&connection).await?;
    let sealed_tokens = if connection.http.auth == Auth::AuthorizationCode {
        tx.sealed_secret_for_update(workspace, connection.id, SecretPurpose::Tokens).await?
    } else {
        None
    };
    tx.delete_sealed_secrets(workspace, connection.id, &SecretPurpose::ALL).await?;
    let entry = ctx.audit_entry("connection.disconnect").workspace(workspace).target(connection.id);
    let detail = json!({ "name": connection.display_name, "host": connection.http.host.as_str() });
    tx.audit(entry.detail(detail));
    Ok(Disconnected { connection, affected_apps, sealed_tokens })
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::testing::{FakeStore, admin, http_connection, request};

    async fn run(tx: &mut FakeStore, number: u128) -> Result<Disconnected, ConnectionError> {
        let ctx = request();
        disconnect(tx, &ctx, &admin(&ctx), id(number)).await
    }

    #[tokio::test]
    async fn the_secret_is_deleted_and_the_apps_are_named_each_time() {
        let user = ConnectionUser {
            app: id(7),
            name: "Orders".to_owned(),
            archetype: "bank".to_owned(),
            category: "money".to_owned(),
            is_paused: false,
        };
        let connections =
            vec![http_connection(1, "https://a.example"), http_connection(2, "https://b.example")];
        let users = vec![(id(1), user.clone())];
        let mut tx = FakeStore { connections, users, ..FakeStore::default() }.with_sealed(1).with_sealed(2);
        let first = run(&mut tx, 1).await.unwrap();
        assert_eq!(first.connection.status, ConnectionStatus::Disconnected { since: request().now });
        assert!(!first.connection.has_secret());
        assert_eq!(first.affected_apps, [user]);
        assert_eq!(tx.sealed.keys().map(|(connection, _)| *connection).collect::<Vec<_>>(), [id(2)]);
        assert_eq!(run(&mut tx, 1).await.unwrap(), first);
        assert_eq!(tx.work.audited_actions(), ["connection.disconnect"], "a repetition changes nothing");
    }

    #[tokio::test]
    async fn a_connection_of_another_workspace_is_not_found() {
        let foreign = Connection { workspace: id(9), ..http_connection(1, "https://a.example") };
        let mut tx = FakeStore { connections: vec![foreign.clone()], ..FakeStore::default() };
        assert!(matches!(run(&mut tx, 1).await, Err(ConnectionError::NotFound)));
        assert_eq!(tx.connections, [foreign]);
    }
}
