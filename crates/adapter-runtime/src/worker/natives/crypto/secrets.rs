//! Keys of secrets that only the host knows: their text becomes a key without having been a value of the code.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use runs::engine::KeyUse;
use zeroize::Zeroizing;

use super::{
    CryptoError, Result,
    algorithm::{Parameters, Usage},
    import::import,
    key::Key,
};

/// Texts that wait to become keys, at most.
pub(in crate::worker) const MAX_PENDING: usize = 100;

/// The text of a secret, and the uses that the host allows its key.
pub(in crate::worker) struct PendingSecret {
    pub(in crate::worker) text: Zeroizing<String>,
    pub(in crate::worker) uses: Vec<KeyUse>,
}

impl fmt::Debug for PendingSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingSecret").field("uses", &self.uses).finish_non_exhaustive()
    }
}

/// Returns the uses to ask the host for. Who may derive bits may derive keys, which shows no more. Uses that no secret has
/// are left out, so that their import fails.
pub(super) fn key_uses(usages: &[Usage]) -> Vec<KeyUse> {
    let mut uses: Vec<KeyUse> = usages.iter().copied().filter_map(key_use).collect();
    uses.dedup();
    uses
}

fn key_use(usage: Usage) -> Option<KeyUse> {
    match usage {
        Usage::Sign => Some(KeyUse::Sign),
        Usage::Verify => Some(KeyUse::Verify),
        Usage::Encrypt => Some(KeyUse::Encrypt),
        Usage::Decrypt => Some(KeyUse::Decrypt),
        Usage::DeriveKey | Usage::DeriveBits => Some(KeyUse::DeriveBits),
        Usage::WrapKey | Usage::UnwrapKey => None,
    }
}

/// Makes a key of a secret. It is never extractable.
pub(super) fn import_secret(
    secret: &PendingSecret,
    format: &str,
    parameters: &Parameters,
    usages: &[Usage],
) -> Result<Key> {
    let is_allowed = |usage: &Usage| key_use(*usage).is_some_and(|wanted| secret.uses.contains(&wanted));
    if let Some(refused) = usages.iter().find(|usage| !is_allowed(usage)) {
        return Err(CryptoError::invalid_access(format!("the secret may not {}", refused.as_str())));
    }
    match format {
        "raw" | "jwk" => import(format, parameters, secret.text.as_bytes(), false, usages),
        _ => import(format, parameters, &decode_pem(&secret.text)?, false, usages),
    }
}

/// Returns the bytes of a text in base64, with or without the lines around it (RFC 7468).
fn decode_pem(text: &str) -> Result<Zeroizing<Vec<u8>>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
    let base64: Zeroizing<String> = Zeroizing::new(lines.collect());
    let decoded = STANDARD.decode(base64.as_bytes());
    decoded.map(Zeroizing::new).map_err(|_| CryptoError::data("the secret is not in PEM or base64"))
}
