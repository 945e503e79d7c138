//! Opens secrets of apps. Nothing that is opened is kept in memory beyond its use.

use std::sync::Arc;

use async_trait::async_trait;
use connections::{
    GateHost, Refusal, RefusalCode,
    app_secrets::{AppSecretReader, SealedAppSecret, headers::SecretHeader},
    outbound::SecretSource,
};
use kernel::{
    StoreError,
    id::{AppId, WorkspaceId},
    vault::Vault,
};
use secrecy::SecretString;

/// Reads and opens the secrets of apps.
pub struct AppSecrets {
    store: Arc<dyn AppSecretReader>,
    vault: Vault,
}

impl AppSecrets {
    /// Creates a source of secrets.
    #[must_use]
    pub fn new(store: Arc<dyn AppSecretReader>, vault: Vault) -> Self {
        Self { store, vault }
    }

    /// Returns a secret of an app; none if it has no value.
    pub(crate) async fn find(
        &self,
        (workspace, app): (WorkspaceId, AppId),
        name: &str,
    ) -> Result<Option<SealedAppSecret>, StoreError> {
        let Ok(name) = name.parse() else { return Ok(None) };
        self.store.find_app_secret(workspace, app, &name).await
    }

    /// Returns the secrets of an app that an admin gives its code in clear.
    pub(crate) async fn clear(
        &self,
        (workspace, app): (WorkspaceId, AppId),
    ) -> Result<Vec<SealedAppSecret>, StoreError> {
        self.store.clear_app_secrets(workspace, app).await
    }

    /// Opens a secret.
    pub(crate) fn open(&self, stored: &SealedAppSecret) -> Result<SecretString, Refusal> {
        let SealedAppSecret { secret, sealed } = stored;
        let context = secret.sealing_context();
        self.vault.open(&context.each_ref().map(String::as_str), sealed).map_err(|error| {
            let (app, name) = (secret.app, &secret.name);
            tracing::warn!(%app, %name, error = &error as &dyn std::error::Error, "cannot open a secret of an app");
            Refusal::new(RefusalCode::SecretUnavailable, format!("the secret {name} cannot be opened"))
        })
    }

    /// Finds the secrets of headers, which are opened once the request can be sent to the host.
    pub(crate) async fn for_headers<'a>(
        &'a self,
        scope: (WorkspaceId, AppId),
        headers: &[SecretHeader],
        host: &GateHost,
    ) -> Result<Result<HeaderSecrets<'a>, Refusal>, StoreError> {
        let mut found = Vec::with_capacity(headers.len());
        for SecretHeader { secret: name, .. } in headers {
            let Some(stored) = self.find(scope, name).await? else { return Ok(Err(missing(name))) };
            if !stored.secret.may_be_sent_to(host) {
                let message = format!("the secret {name} may not be sent to {host}");
                return Ok(Err(Refusal::new(RefusalCode::HeaderDenied, message)));
            }
            found.push(stored);
        }
        Ok(Ok(HeaderSecrets { secrets: self, found }))
    }
}

impl std::fmt::Debug for AppSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppSecrets").finish_non_exhaustive()
    }
}

/// The secrets that one request may carry.
pub(crate) struct HeaderSecrets<'a> {
    secrets: &'a AppSecrets,
    found: Vec<SealedAppSecret>,
}

#[async_trait]
impl SecretSource for HeaderSecrets<'_> {
    async fn open_secret(&self, name: &str) -> Result<SecretString, Refusal> {
        let stored = self.found.iter().find(|stored| stored.secret.name.as_str() == name);
        self.secrets.open(stored.ok_or_else(|| missing(name))?)
    }
}

/// The refusal of a use of a secret without a value.
pub(crate) fn missing(name: &str) -> Refusal {
    let message = format!("the secret {name} has no value; an admin gives it one on the app's page");
    Refusal::new(RefusalCode::SecretUnavailable, message)
}
