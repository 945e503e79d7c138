//! Finding agent clients by their `client_id`.

use std::sync::Arc;

use identity::oauth::{Client, clients::MetadataUrl};
use kernel::id::OAuthClientId;

use crate::{Application, Problem};

impl Application {
    /// Returns the client with an id. If the id is the URL of a metadata document, the document is fetched. Returns
    /// `None` if there is no such client, or its document is invalid or cannot be fetched.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn find_oauth_client(&self, id: &str) -> Result<Option<Arc<Client>>, Problem> {
        if let Ok(id) = id.parse::<OAuthClientId>() {
            return Ok(self.store().registered_client(id).await?.map(Arc::new));
        }
        let Ok(id) = id.parse::<MetadataUrl>() else { return Ok(None) };
        match self.client_documents().fetch_client(&id).await {
            Ok(client) => Ok(Some(client)),
            Err(error) => {
                tracing::info!(host = id.host(), %error, "agent client's metadata document refused");
                Ok(None)
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
