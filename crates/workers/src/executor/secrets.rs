//! The secrets of an app, as its code finds them in `env`.

use apps::{
    Manifest,
    manifest::{SecretPermission, SecretUse},
};
use connections::scrub::Scrubber;
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

/// Bytes of secrets that one app has in clear, at most; those above stay handles. All of them are searched for in what it
/// logs, and the search takes many times their memory.
const MAX_CLEAR_BYTES: usize = 16 << 10;

/// Returns the secrets that a manifest names. One that both the manifest and the admin give in clear has its value; all
/// others are handles, and are not read yet.
pub(super) async fn bind(
    secrets: &AppSecrets,
    scope: (WorkspaceId, AppId),
    manifest: &Manifest,
) -> Result<BoundSecrets, StoreError> {
    let declared = &manifest.permissions.secrets;
    let wants_clear = declared.iter().any(|secret| secret.clear);
    let stored = if wants_clear { secrets.clear(scope).await? } else { Vec::new() };
    let mut shown: Vec<SecretString> = Vec::new();
    let mut bindings = Vec::with_capacity(declared.len());
    let mut room = MAX_CLEAR_BYTES;
    for SecretPermission { name, clear, .. } in declared {
        let stored = stored.iter().find(|stored| *clear && stored.secret.name.as_str() == name);
        let opened = stored.and_then(|stored| secrets.open(stored).ok());
        let opened = opened.filter(|value| value.expose_secret().len() <= room);
        room -= opened.as_ref().map_or(0, |value| value.expose_secret().len());
        let clear = opened.as_ref().map(|value| value.expose_secret().to_owned());
        bindings.push(SecretBinding { name: name.clone(), clear });
        shown.extend(opened);
    }
    let scrubber = if shown.is_empty() { None } else { Scrubber::new(&shown).ok() };
    if scrubber.is_none() {
        // What cannot be kept out of the log is not given.
        bindings.iter_mut().for_each(|binding| binding.clear = None);
    }
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
