//! Credentials for requests that app code may abort.

use std::sync::Arc;

use async_trait::async_trait;
use connections::{ConnectionPolicy, CredentialSource, Refusal, RefusalCode, outbound::OpenedCredential};

use crate::connection_credentials::ConnectionCredentials;

/// Opens credentials in a task of their own, which ends even if the request is dropped: a token endpoint may have taken a
/// refresh token by then, and the one that it gave out in return must be stored.
pub(super) struct UninterruptedCredentials(pub(super) Arc<ConnectionCredentials>);

#[async_trait]
impl CredentialSource for UninterruptedCredentials {
    async fn open(&self, policy: &Arc<ConnectionPolicy>) -> Result<OpenedCredential, Refusal> {
        let (credentials, policy) = (Arc::clone(&self.0), Arc::clone(policy));
        let opened = tokio::spawn(async move { credentials.open(&policy).await });
        opened.await.unwrap_or_else(|_| {
            let message = "the credential of the connection cannot be opened";
            Err(Refusal::new(RefusalCode::SecretUnavailable, message))
        })
    }
}
