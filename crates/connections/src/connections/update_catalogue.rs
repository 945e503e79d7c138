//! Changing a connection to a service of the catalogue.

use std::collections::BTreeMap;

use kernel::{Context, authority::Admin, id::ConnectionId, vault::Vault};
use secrecy::SecretString;

use super::{ConnectionError, ConnectionTx, store_secret::check_need, update_http::replace};
use crate::{
    auth::{Auth, without_repeated_word},
    catalogue::find_connector,
    connection::{Connection, check_display_name},
};

/// Changes to a connection; a field that is `None` stays as it is.
#[derive(Debug, Clone, Default)]
pub struct CatalogueConnectionChange {
    /// Display name; 1 to 60 characters.
    pub display_name: Option<String>,
    /// Values of the entry's fields, all of them.
    pub values: Option<BTreeMap<String, String>>,
    /// Secret.
    pub secret: Option<SecretString>,
}

/// Changes a connection to a service of the catalogue. A new host needs the secret again.
///
/// # Errors
/// * [`ConnectionError::NotFound`] when the workspace has no such connection, or it was described by hand
/// * [`ConnectionError::NeedsAuthorization`] for a secret, or a new host, of a connector that is connected in a browser
/// * [`ConnectionError::InvalidInput`] when a field is refused, or the secret is needed again
/// * [`ConnectionError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn update_catalogue_connection(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    vault: &Vault,
    connection: ConnectionId,
    change: CatalogueConnectionChange,
) -> Result<Connection, ConnectionError> {
    let found = tx.connection_for_update(admin.workspace(), connection).await?;
    let before = found.ok_or(ConnectionError::NotFound)?;
    let entry = find_connector(&before.connector).filter(|entry| entry.http.is_some());
    let entry = entry.ok_or(ConnectionError::NotFound)?;
    if change.secret.is_some() && before.http.auth == Auth::AuthorizationCode {
        return Err(ConnectionError::NeedsAuthorization);
    }
    let mut after = before.clone();
    if let Some(name) = &change.display_name {
        after.display_name = check_display_name(name)?;
    }
    if let Some(values) = &change.values {
        after.values = entry.check_values(values)?;
    }
    let base_url = entry.http.as_ref().map_or("", |http| http.base_url.as_str());
    let secret = change.secret.map(|secret| without_repeated_word(base_url, secret));
    let http = entry.http_connection(&after.values, secret.as_ref(), Some(&before.http))?;
    if let Some(secret) = &secret {
        http.auth.check_signing_key(secret)?;
    }
    if http.auth == Auth::AuthorizationCode && check_need(&before, &http, None).is_err() {
        return Err(ConnectionError::NeedsAuthorization);
    }
    replace(tx, ctx, vault, &before, after, http, secret.as_ref()).await
}

#[cfg(test)]
mod tests {
    use kernel::testing::id;

    use super::*;
    use crate::{
        connections::{CatalogueConnectionInput, create_catalogue_connection},
        testing::{FakeStore, admin, http_connection, request, vault},
    };

    async fn shop(tx: &mut FakeStore, connector: &str, shop: &str, secret: &str) -> Connection {
        let ctx = request();
        let values = if shop.is_empty() { BTreeMap::new() } else { values(shop) };
        let input =
            CatalogueConnectionInput { display_name: "Shop".to_owned(), values, secret: Some(secret.into()) };
        create_catalogue_connection(tx, &ctx, &admin(&ctx), &vault(), connector, input).await.unwrap()
    }

    fn values(shop: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("shop".to_owned(), shop.to_owned())])
    }

    async fn update(
        tx: &mut FakeStore,
        connection: ConnectionId,
        change: CatalogueConnectionChange,
    ) -> Result<Connection, ConnectionError> {
        let ctx = request();
        update_catalogue_connection(tx, &ctx, &admin(&ctx), &vault(), connection, change).await
    }

    #[tokio::test]
    async fn a_new_host_needs_the_secret_again() {
        let mut tx = FakeStore::default();
        let made = shop(&mut tx, "shopify", "one", "shpat_1").await;
        let change = CatalogueConnectionChange { values: Some(values("two")), ..Default::default() };
        let error = update(&mut tx, made.id, change.clone()).await.unwrap_err().to_string();
        assert_eq!(error, "`secret` is required again, because the host has changed");
        let given = CatalogueConnectionChange { secret: Some("shpat_2".into()), ..change };
        let changed = update(&mut tx, made.id, given).await.unwrap();
        assert_eq!((changed.http.host.as_str(), changed.revision), ("two.myshopify.com", 2));
        let renamed =
            CatalogueConnectionChange { display_name: Some("Other".to_owned()), ..Default::default() };
        let changed = update(&mut tx, made.id, renamed).await.unwrap();
        assert_eq!(
            (changed.display_name.as_str(), changed.http.host.as_str()),
            ("Other", "two.myshopify.com")
        );
    }

    #[tokio::test]
    async fn a_secret_url_keeps_its_host_without_a_new_one() {
        let mut tx = FakeStore::default();
        let made = shop(&mut tx, "bitrix24", "", "https://a.bitrix24.kz/rest/1/code/").await;
        let renamed =
            CatalogueConnectionChange { display_name: Some("Other".to_owned()), ..Default::default() };
        assert_eq!(update(&mut tx, made.id, renamed).await.unwrap().http, made.http);
        let moved = CatalogueConnectionChange {
            secret: Some("https://b.bitrix24.kz/rest/".into()),
            ..Default::default()
        };
        assert_eq!(update(&mut tx, made.id, moved).await.unwrap().http.host.as_str(), "b.bitrix24.kz");
    }

    #[tokio::test]
    async fn one_described_by_hand_is_not_found_here() {
        let mut tx =
            FakeStore { connections: vec![http_connection(1, "https://a.example")], ..FakeStore::default() };
        for connection in [id(1), id(2)] {
            let refused = update(&mut tx, connection, CatalogueConnectionChange::default()).await;
            assert!(matches!(refused, Err(ConnectionError::NotFound)));
        }
    }
}
