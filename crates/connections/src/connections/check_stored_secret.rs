//! Checking a stored secret without a request.

use kernel::{StoreError, vault::Vault};

use super::ConnectionReader;
use crate::{
    auth::Auth,
    connection::{Connection, SecretPurpose},
    stored_token::StoredToken,
};

/// Returns true if what is stored for a connection opens, and requests can carry it; also if the connection needs no secret.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn has_usable_secret(
    reader: &dyn ConnectionReader,
    vault: &Vault,
    connection: &Connection,
) -> Result<bool, StoreError> {
    if !connection.http.auth.needs_secret() {
        return Ok(true);
    }
    let is_authorized = connection.http.auth == Auth::AuthorizationCode;
    let purpose = if is_authorized { SecretPurpose::Tokens } else { SecretPurpose::Secret };
    let sealed = reader.sealed_secret(connection.workspace, connection.id, purpose).await?;
    let context = connection.sealing_context(purpose);
    let opened = sealed.and_then(|sealed| {
        let opened = vault.open(&context.parts(), &sealed);
        opened
            .inspect_err(|error| {
                let (workspace, id) = (connection.workspace, connection.id);
                tracing::warn!(%workspace, connection = %id, %error, "cannot open the secret of a connection");
            })
            .ok()
    });
    Ok(opened.is_some_and(|secret| match purpose {
        SecretPurpose::Tokens => StoredToken::parse(&secret).is_some(),
        SecretPurpose::Secret => connection.http.check_secret(&secret).is_ok(),
    }))
}

#[cfg(test)]
mod tests {
    use kernel::{
        testing::id,
        vault::{MasterKeys, Vault},
    };

    use super::*;
    use crate::{
        auth::{AuthInput, KeyPlace},
        connection::HttpConnectionInput,
        connections::create_http_connection,
        testing::{FakeStore, admin, http_input, request, vault},
    };

    async fn create(tx: &mut FakeStore, secret: &str, auth: AuthInput) -> Connection {
        let ctx = request();
        let secret = (!matches!(auth, AuthInput::None {})).then(|| secret.into());
        let input = HttpConnectionInput { secret, auth, ..http_input() };
        create_http_connection(tx, &ctx, &admin(&ctx), &vault(), input).await.unwrap()
    }

    fn key(place: KeyPlace) -> AuthInput {
        AuthInput::ApiKey { place, name: "key".to_owned(), prefix: None }
    }

    #[tokio::test]
    async fn a_secret_that_does_not_open_or_fit_is_not_usable() {
        let mut tx = FakeStore::default();
        let bearer = || AuthInput::Bearer { prefix: None };
        let one = create(&mut tx, "secret-one", bearer()).await;
        let text = tx.sealed[&(one.id, SecretPurpose::Secret)].clone();
        assert!(has_usable_secret(&tx, &vault(), &one).await.unwrap());
        let other_key = Vault::new(&MasterKeys::new(vec![[2; 32]]).unwrap());
        assert!(!has_usable_secret(&tx, &other_key, &one).await.unwrap());

        // The ciphertext of another row.
        let moved = Connection { id: id(77), ..one.clone() };
        tx.connections.push(moved.clone());
        tx.sealed.insert((moved.id, SecretPurpose::Secret), text);
        assert!(!has_usable_secret(&tx, &vault(), &moved).await.unwrap());
        tx.sealed.clear();
        assert!(!has_usable_secret(&tx, &vault(), &one).await.unwrap());

        let mut tx = FakeStore::default();
        let mut in_query = create(&mut tx, "пароль-сервиса", key(KeyPlace::Query)).await;
        assert!(has_usable_secret(&tx, &vault(), &in_query).await.unwrap());
        in_query.http.auth = Auth::parse(key(KeyPlace::Header)).unwrap();
        assert!(!has_usable_secret(&tx, &vault(), &in_query).await.unwrap());

        let mut tx = FakeStore::default();
        let open = create(&mut tx, "", AuthInput::None {}).await;
        assert!(has_usable_secret(&tx, &vault(), &open).await.unwrap());
    }
}
