//! The secrets of an app, as its code finds them in `env`.

use apps::{
    Manifest,
    manifest::{SecretPermission, SecretUse},
};
use connections::{app_secrets::SealedAppSecret, scrub::Scrubber};
use kernel::{
    StoreError,
    id::{AppId, WorkspaceId},
};
use runs::engine::{KeyUse, SecretBinding};
use secrecy::{ExposeSecret as _, SecretString};

use crate::AppSecrets;

/// The names in `env.secrets`, and the search for the values that the code gets.
pub(super) struct BoundSecrets {
    pub(super) bindings: Vec<SecretBinding>,
    /// None if the code gets handles only.
    pub(super) scrubber: Option<Scrubber>,
}

/// Returns the secrets that a manifest names. One that both the manifest and the admin give in clear has its value; all
/// others are handles, and are not read yet.
pub(super) async fn bind(
    secrets: &AppSecrets,
    scope: (WorkspaceId, AppId),
    manifest: &Manifest,
) -> Result<BoundSecrets, StoreError> {
    let mut shown = Vec::new();
    let mut bindings = Vec::with_capacity(manifest.permissions.secrets.len());
    for SecretPermission { name, clear, .. } in &manifest.permissions.secrets {
        let stored = if *clear { secrets.find(scope, name).await? } else { None };
        let is_clear = |stored: &SealedAppSecret| stored.secret.clear;
        let opened: Option<SecretString> =
            stored.filter(is_clear).and_then(|stored| secrets.open(&stored).ok());
        let clear = opened.as_ref().map(|value| value.expose_secret().to_owned());
        bindings.push(SecretBinding { name: name.clone(), clear });
        shown.extend(opened);
    }
    // Four thousand characters each are never too long to be searched for.
    let scrubber = if shown.is_empty() { None } else { Scrubber::new(&shown).ok() };
    Ok(BoundSecrets { bindings, scrubber })
}

/// Returns the use that a manifest names so.
pub(super) fn permission_for(key_use: KeyUse) -> SecretUse {
    match key_use {
        KeyUse::Sign => SecretUse::Sign,
        KeyUse::Verify => SecretUse::Verify,
        KeyUse::Encrypt => SecretUse::Encrypt,
        KeyUse::Decrypt => SecretUse::Decrypt,
        KeyUse::DeriveBits => SecretUse::DeriveBits,
    }
}
