//! From `client_id` to a client.

use std::sync::Arc;

use identity::oauth::{Client, clients::MetadataUrl};
use kernel::{Problem, id::OAuthClientId};

use crate::Application;

impl Application {
    /// The client of this id, its document fetched where the id is the address of one; none when there is no such
    /// client, or its document does not do.
    pub async fn find_oauth_client(&self, id: &str) -> Result<Option<Arc<Client>>, Problem> {
        if let Ok(id) = id.parse::<OAuthClientId>() {
            return Ok(self.store().registered_client(id).await?.map(Arc::new));
        }
        let Ok(id) = id.parse::<MetadataUrl>() else { return Ok(None) };
        match self.client_documents().fetch_client(&id).await {
            Ok(client) => Ok(Some(client)),
            Err(error) => {
                tracing::info!(host = id.host(), %error, "an agent client's document does not do");
                Ok(None)
            }
        }
    }

    /// Whether there may be a client of this id. What a code or token rests on was kept when the client asked, so its
    /// document is not fetched again.
    pub async fn is_known_oauth_client(&self, id: &str) -> Result<bool, Problem> {
        match id.parse::<OAuthClientId>() {
            Ok(id) => Ok(self.store().registered_client(id).await?.is_some()),
            Err(_) => Ok(id.parse::<MetadataUrl>().is_ok()),
        }
    }
}
