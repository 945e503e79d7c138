//! Dynamic registration of a client (RFC 7591).

use kernel::{Context, StoreError, id::OAuthClientId};

use super::{Client, ClientKind, ClientMetadata, ClientSnapshot};
use crate::oauth::OAuthTx;

/// Registers a client. Many clients register again each time they connect, so their number is not limited; clients
/// without a grant are deleted after a day.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn register_client(
    tx: &mut dyn OAuthTx,
    ctx: &Context,
    metadata: ClientMetadata,
) -> Result<Client, StoreError> {
    let id: OAuthClientId = ctx.new_id();
    let client = Client {
        snapshot: ClientSnapshot {
            id: id.to_string(),
            kind: ClientKind::Registered,
            name: metadata.name,
            host: None,
        },
        redirect_uris: metadata.redirect_uris,
        homepage_host: metadata.homepage_host,
    };
    tx.insert_client(id, &client, ctx.now).await?;
    tx.audit(ctx.audit_entry("oauth_client.create").target(id));
    Ok(client)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{FakeStore, visitor};

    fn metadata() -> ClientMetadata {
        let members = json!({
            "client_name": "Agent",
            "redirect_uris": ["https://client.example/cb"],
            "client_uri": "https://client.example/",
        });
        let Value::Object(members) = members else { panic!("an object") };
        ClientMetadata::parse(&members).unwrap()
    }

    #[tokio::test]
    async fn each_registration_creates_a_client_of_its_own() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        let first = register_client(&mut store, &ctx, metadata()).await.unwrap();
        let second = register_client(&mut store, &ctx, metadata()).await.unwrap();

        assert_ne!(first.snapshot.id, second.snapshot.id);
        assert_eq!((first.snapshot.kind, first.snapshot.host.as_deref()), (ClientKind::Registered, None));
        assert_eq!(first.snapshot.name, "Agent");
        assert_eq!(first.redirect_uris, metadata().redirect_uris);
        assert_eq!(first.homepage_host.as_deref(), Some("client.example"));
        let stored: Vec<_> = store.clients.iter().map(|(id, client)| (id.to_string(), client)).collect();
        assert_eq!(stored, [(first.snapshot.id.clone(), &first), (second.snapshot.id.clone(), &second)]);
        store.assert_audited(&[
            ("oauth_client.create", &"visitor", &first.snapshot.id),
            ("oauth_client.create", &"visitor", &second.snapshot.id),
        ]);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = register_client(&mut store, &visitor(), metadata()).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
        assert!(store.work.audit.is_empty());
    }
}
