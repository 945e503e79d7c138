//! Keys by which two calls are the same.

use kernel::Timestamp;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{KEY_LIFETIME, SIGNATURE_LIFETIME, verify_proof::VerifiedProof};
use crate::webhooks::{DedupKey, Proof, Webhook, proof};

/// Returns the keys by which a later call is a duplicate. The sender's own key comes first.
pub(super) fn dedup_keys(
    idempotency_key: Option<&str>,
    verified: &VerifiedProof,
    webhook: &Webhook,
    input: &RawValue,
    now: Timestamp,
) -> Vec<DedupKey> {
    let key = |kind: &[u8], key: &[u8]| DedupKey {
        digest: dedup_digest(kind, key),
        expires_at: now + KEY_LIFETIME,
    };
    let mut keys = Vec::new();
    if let Some(own) = idempotency_key {
        keys.push(key(b"key\0", own.as_bytes()));
    }
    if let Some(id) = &verified.delivery_id {
        keys.push(key(b"delivery\0", id.as_bytes()));
    }
    if matches!(webhook.proof, Proof::Messenger(_))
        && let Some(id) = proof::update_id(input)
    {
        keys.push(key(b"update\0", &id.to_be_bytes()));
    }
    keys
}

/// Returns the key by which a later call is a replay. It begins with the time of the signature, so that a store sorted
/// by key has those of one time side by side, and none of yesterday's in between.
pub(super) fn signature_key(signed: &proof::VerifiedSignature, now: Timestamp) -> DedupKey {
    let mut digest = dedup_digest(b"signature\0", &signed.mac);
    digest[..8].copy_from_slice(&signed.signed_at.timestamp().to_be_bytes());
    DedupKey { digest, expires_at: now + SIGNATURE_LIFETIME }
}

/// Digests a key of a kind. Keys of different kinds never collide, because each kind ends with a zero byte.
fn dedup_digest(kind: &[u8], key: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(kind).chain_update(key).finalize().into()
}
