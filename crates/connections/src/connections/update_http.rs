//! Changing a connection that a person described by hand.

use kernel::{Context, authority::Admin, id::ConnectionId, vault::Vault};
use secrecy::SecretString;
use serde_json::json;

use super::{ConnectionError, ConnectionTx, store_secret};
use crate::connection::{Connection, HTTP_CONNECTOR, HttpConnection, HttpConnectionInput};

/// Replaces the description of a connection. A new host needs the secret again; see
/// [`secret_need`](crate::connection::secret_need). With its secret a disconnected connection is connected again.
///
/// # Errors
/// * [`ConnectionError::NotFound`] when the workspace has no such connection, or it is one of the catalogue
/// * [`ConnectionError::InvalidInput`] when a field is refused, or the secret is needed again
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn update_http_connection(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    vault: &Vault,
    connection: ConnectionId,
    input: HttpConnectionInput,
) -> Result<Connection, ConnectionError> {
    let found = tx.connection_for_update(admin.workspace(), connection).await?;
    let before = found.filter(|known| known.connector == HTTP_CONNECTOR).ok_or(ConnectionError::NotFound)?;
    let valid = input.validate()?;
    let after = Connection { display_name: valid.display_name, ..before.clone() };
    replace(tx, ctx, vault, &before, after, valid.http, valid.secret.as_ref()).await
}

/// Stores a changed connection, its secret and its audit entry.
pub(super) async fn replace(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    vault: &Vault,
    before: &Connection,
    mut after: Connection,
    http: HttpConnection,
    secret: Option<&SecretString>,
) -> Result<Connection, ConnectionError> {
    store_secret::check_need(before, &http, secret)?;
    if secret.is_none() {
        store_secret::check_kept(tx, vault, before, &http).await?;
    }
    after.http = http;
    let sealed = store_secret::seal(ctx, vault, &mut after, secret)?;
    after.updated_at = ctx.now;
    after.revision += 1;
    tx.update_connection(&after).await?;
    store_secret::write(tx, &after, Some(&before.http), &sealed).await?;
    let entry = ctx.audit_entry("connection.update").workspace(after.workspace).target(after.id);
    tx.audit(entry.detail(json!({
        "name": after.display_name,
        "host": after.http.host.as_str(),
        "auth": after.http.auth.kind().as_str(),
        "secret": secret.is_some(),
    })));
    Ok(after)
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::{
        auth::{AuthInput, KeyPlace},
        connection::{ConnectionStatus, SecretPurpose},
        connections::create_http_connection,
        testing::{FakeStore, admin, http_connection, http_input, request, vault},
    };

    async fn update(tx: &mut FakeStore, input: HttpConnectionInput) -> Result<Connection, ConnectionError> {
        let ctx = request();
        update_http_connection(tx, &ctx, &admin(&ctx), &vault(), id(1), input).await
    }

    fn store() -> FakeStore {
        let connection = http_connection(1, "https://api.example.com");
        FakeStore { connections: vec![connection], ..FakeStore::default() }.with_sealed(1)
    }

    fn without_secret() -> HttpConnectionInput {
        HttpConnectionInput { secret: None, ..http_input() }
    }

    #[tokio::test]
    async fn the_stored_secret_serves_on_at_the_same_host_only() {
        let mut tx = store();
        let sealed = tx.sealed.clone();
        let input = HttpConnectionInput {
            base_url: "https://api.example.com/v2".to_owned(),
            display_name: "New".to_owned(),
            ..without_secret()
        };
        let changed = update(&mut tx, input).await.unwrap();
        assert_eq!((changed.revision, changed.secret_version, changed.updated_at), (2, 1, request().now));
        assert_eq!((&tx.connections[0], &tx.sealed), (&changed, &sealed));

        for (base_url, auth, why) in [
            ("https://evil.example", AuthInput::Bearer { prefix: None }, "the host has changed"),
            (
                "https://api.example.com",
                AuthInput::Basic { username: "u".to_owned() },
                "the kind of authentication has changed",
            ),
        ] {
            let input = HttpConnectionInput { base_url: base_url.to_owned(), auth, ..without_secret() };
            let error = update(&mut tx, input.clone()).await.unwrap_err().to_string();
            assert_eq!(error, format!("`secret` is required again, because {why}"));
            let given = HttpConnectionInput { secret: Some("another-secret".into()), ..input };
            let changed = update(&mut store(), given).await.unwrap();
            assert_eq!(changed.secret_version, 2);
        }
        assert_eq!(tx.work.audited_actions(), ["connection.update"]);
    }

    #[tokio::test]
    async fn a_kept_secret_must_suit_another_auth() {
        let key = |place| AuthInput::ApiKey { place, name: "key".to_owned(), prefix: None };
        for (secret, suits) in [("пароль-сервиса", false), ("s3cret-of-the-crm", true)] {
            let (mut tx, ctx) = (FakeStore::default(), request());
            let input = HttpConnectionInput {
                auth: key(KeyPlace::Query),
                secret: Some(secret.into()),
                ..http_input()
            };
            let made = create_http_connection(&mut tx, &ctx, &admin(&ctx), &vault(), input).await.unwrap();
            let mut put = async |input| {
                update_http_connection(&mut tx, &ctx, &admin(&ctx), &vault(), made.id, input).await
            };
            let same = HttpConnectionInput { auth: key(KeyPlace::Query), ..without_secret() };
            put(same).await.unwrap();
            let moved = HttpConnectionInput { auth: key(KeyPlace::Header), ..without_secret() };
            let result = put(moved).await.map(drop).map_err(|error| error.to_string());
            let refused = "`secret` is required again, because the stored one does not suit `auth`, or cannot be opened";
            assert_eq!(result, if suits { Ok(()) } else { Err(refused.to_owned()) });
            assert_eq!(tx.connections[0].revision, if suits { 3 } else { 2 });
        }
        // What does not open is asked for too.
        let changed = HttpConnectionInput {
            auth: AuthInput::Bearer { prefix: Some("Token".to_owned()) },
            ..without_secret()
        };
        assert!(matches!(update(&mut store(), changed).await, Err(ConnectionError::InvalidInput(_))));
    }

    #[tokio::test]
    async fn a_new_secret_restores_and_drops_tokens_of_the_old() {
        for status in [
            ConnectionStatus::Error { since: at(0) },
            ConnectionStatus::Expired { since: at(0) },
            ConnectionStatus::Disconnected { since: at(0) },
        ] {
            let mut tx = store();
            tx.connections[0].status = status;
            tx.sealed.insert((id(1), SecretPurpose::Tokens), "old".to_owned());
            let changed = update(&mut tx, http_input()).await.unwrap();
            assert_eq!((changed.status, changed.connected_at), (ConnectionStatus::NEW, Some(request().now)));
            assert!(!tx.sealed.contains_key(&(id(1), SecretPurpose::Tokens)));
        }
        let mut tx = store();
        (tx.connections[0].status, tx.connections[0].key_id) =
            (ConnectionStatus::Disconnected { since: at(0) }, None);
        let error = update(&mut tx, without_secret()).await.unwrap_err().to_string();
        assert_eq!(error, "`secret` is required again, because none is stored");
    }

    #[tokio::test]
    async fn without_authentication_the_secret_is_deleted() {
        let mut tx = store();
        let changed = update(&mut tx, HttpConnectionInput { auth: AuthInput::None {}, ..without_secret() })
            .await
            .unwrap();
        assert!(!changed.has_secret() && tx.sealed.is_empty());
    }

    #[tokio::test]
    async fn others_are_not_found() {
        let mut tx = store();
        tx.connections[0].workspace = id(9);
        assert!(matches!(update(&mut tx, http_input()).await, Err(ConnectionError::NotFound)));
        let mut tx = store();
        tx.connections[0].connector = "stripe".to_owned();
        assert!(matches!(update(&mut tx, http_input()).await, Err(ConnectionError::NotFound)));
        assert!(tx.work.audit.is_empty());
    }
}
