//! Making a connection to a service of the catalogue.

use std::collections::BTreeMap;

use kernel::{Context, authority::Admin, vault::Vault};
use secrecy::SecretString;

use super::{
    ConnectionError, ConnectionTx,
    create_http::{NewConnection, insert},
};
use crate::{
    auth::{Auth, AuthInput, without_repeated_word},
    catalogue::find_connector,
    connection::{Connection, check_display_name},
};

/// A connection to a service of the catalogue, not yet validated.
#[derive(Debug, Clone)]
pub struct CatalogueConnectionInput {
    /// Display name; 1 to 60 characters.
    pub display_name: String,
    /// Values of the entry's fields.
    pub values: BTreeMap<String, String>,
    /// Secret.
    pub secret: Option<SecretString>,
}

/// Makes a connection to a service of the catalogue in the admin's workspace, with an open gate.
///
/// # Errors
/// * [`ConnectionError::UnknownConnector`] when the catalogue has no such connector
/// * [`ConnectionError::NeedsAuthorization`] when a person has to allow access in a browser
/// * otherwise as [`create_http_connection`](super::create_http_connection)
#[tracing::instrument(level = "debug", skip_all)]
pub async fn create_catalogue_connection(
    tx: &mut dyn ConnectionTx,
    ctx: &Context,
    admin: &Admin,
    vault: &Vault,
    connector: &str,
    input: CatalogueConnectionInput,
) -> Result<Connection, ConnectionError> {
    let entry = find_connector(connector).ok_or(ConnectionError::UnknownConnector)?;
    let http = entry.http.as_ref().ok_or(ConnectionError::UnknownConnector)?;
    if matches!(http.auth, AuthInput::AuthorizationCode {}) {
        return Err(ConnectionError::NeedsAuthorization);
    }
    let display_name = check_display_name(&input.display_name)?;
    let values = entry.check_values(&input.values)?;
    let secret = input.secret.map(|secret| without_repeated_word(&http.base_url, secret));
    let http = entry.http_connection(&values, secret.as_ref(), None)?;
    debug_assert!(http.auth != Auth::AuthorizationCode);
    if let Some(secret) = &secret {
        http.auth.check_signing_key(secret)?;
    }
    let new = NewConnection { connector: entry.id.clone(), display_name, http, values, secret };
    insert(tx, ctx, admin, vault, new).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FakeStore, admin, request, vault};

    async fn create(
        tx: &mut FakeStore,
        connector: &str,
        values: &[(&str, &str)],
        secret: Option<&str>,
    ) -> Result<Connection, ConnectionError> {
        let ctx = request();
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let input = CatalogueConnectionInput {
            display_name: "Shop".to_owned(),
            values,
            secret: secret.map(Into::into),
        };
        create_catalogue_connection(tx, &ctx, &admin(&ctx), &vault(), connector, input).await
    }

    #[tokio::test]
    async fn values_and_secret_make_the_address() {
        let mut tx = FakeStore::default();
        let shop = create(&mut tx, "shopify", &[("shop", "example")], Some("shpat_1")).await.unwrap();
        assert_eq!(shop.http.host.as_str(), "example.myshopify.com");
        assert_eq!((shop.connector.as_str(), shop.values["shop"].as_str()), ("shopify", "example"));
        let url = "https://example.bitrix24.kz/rest/1/hidden-code/";
        let hook = create(&mut tx, "bitrix24", &[], Some(url)).await.unwrap();
        assert_eq!(hook.http.base_url.as_str(), "https://example.bitrix24.kz/…");
        assert!(!format!("{:?} {:?}", tx.connections, tx.work.audit).contains("hidden-code"));
        assert_eq!(tx.work.audited_actions(), ["connection.create", "connection.create"]);
    }

    #[tokio::test]
    async fn other_inputs_are_refused() {
        let mut tx = FakeStore::default();
        for (connector, values, secret, expected) in [
            ("nothing", vec![], Some("x"), "there is no such connector"),
            ("kaspi", vec![], Some("x"), "there is no such connector"),
            ("http", vec![], Some("x"), "there is no such connector"),
            ("gmail", vec![], Some("x"), "the connector needs an authorization in a browser"),
            ("shopify", vec![], Some("x"), "`values.shop` is required"),
            (
                "shopify",
                vec![("shop", "a/b")],
                Some("x"),
                "`values.shop` must be 1 to 63 letters, digits and hyphens",
            ),
            ("stripe", vec![("x", "y")], Some("x"), "`values.x` is not a field of this connector"),
            ("stripe", vec![], None, "`secret` is required"),
        ] {
            let error = create(&mut tx, connector, &values, secret).await.unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        assert!(tx.connections.is_empty() && tx.work.audit.is_empty());
    }
}
