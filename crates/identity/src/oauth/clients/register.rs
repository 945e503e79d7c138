//! A client registers itself (RFC 7591).

use kernel::{Context, StoreError, id::OAuthClientId};

use super::{Client, ClientKind, ClientSnapshot, Metadata};
use crate::oauth::OAuthTx;

/// Registers a client. Many register anew each time they connect, so nobody is told that there are too many; those
/// that nobody let in go after a day.
///
/// # Errors
/// What the store says.
pub async fn register_client<T: OAuthTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    metadata: Metadata,
) -> Result<Client, StoreError> {
    let id: OAuthClientId = ctx.id();
    let client = Client {
        who: ClientSnapshot {
            id: id.to_string(),
            kind: ClientKind::Registered,
            name: metadata.name,
            host: None,
        },
        redirects: metadata.redirects,
        homepage_host: metadata.homepage_host,
    };
    tx.insert_client(id, &client, ctx.now).await?;
    tx.audit(ctx.audit("oauth_client.create").target(id));
    Ok(client)
}
