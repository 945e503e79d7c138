//! Finding agent clients by their `client_id`.

use std::{net::IpAddr, sync::Arc};

use identity::oauth::{
    Client,
    clients::{DocumentError, MetadataUrl},
};
use kernel::id::OAuthClientId;

use crate::{Application, Problem, rate_limits::network_prefix};

/// The result of the search for a client.
#[derive(Debug, Clone)]
pub enum FoundClient {
    /// The client.
    Known(Arc<Client>),
    /// There is no such client, or its document is invalid.
    Unknown,
    /// Its document cannot be read now.
    Unreadable,
}

impl Application {
    /// Finds the client with an id. If the id is the URL of a metadata document, the document is fetched, on behalf of a
    /// caller with an address.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn find_oauth_client(&self, id: &str, address: Option<IpAddr>) -> Result<FoundClient, Problem> {
        if let Ok(id) = id.parse::<OAuthClientId>() {
            let registered = self.store().registered_client(id).await?;
            return Ok(registered.map_or(FoundClient::Unknown, |client| FoundClient::Known(Arc::new(client))));
        }
        let Ok(id) = id.parse::<MetadataUrl>() else { return Ok(FoundClient::Unknown) };
        match self.client_documents().fetch_client(&id, address.map(network_prefix)).await {
            Ok(client) => Ok(FoundClient::Known(client)),
            Err(error) => {
                tracing::info!(host = id.host(), %error, "agent client's metadata document refused");
                Ok(match error {
                    DocumentError::Unreachable(_) | DocumentError::Busy => FoundClient::Unreadable,
                    DocumentError::Invalid(_) | DocumentError::Metadata(_) => FoundClient::Unknown,
                })
            }
        }
    }

    /// Returns `true` if there may be a client with this id. The document of a client is not fetched again: what codes
    /// and tokens depend on was stored when the client asked for authorization.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn is_known_oauth_client(&self, id: &str) -> Result<bool, Problem> {
        match id.parse::<OAuthClientId>() {
            Ok(id) => Ok(self.store().registered_client(id).await?.is_some()),
            Err(_) => Ok(id.parse::<MetadataUrl>().is_ok()),
        }
    }
}
