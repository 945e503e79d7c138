//! What makes two calls the same.

use kernel::Timestamp;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{KEY_LIFETIME, SIGNATURE_LIFETIME, verify_proof::VerifiedProof};
use crate::webhooks::{DedupKey, Proof, Webhook, proof};

/// What makes a later call the same; a caller's own key comes first.
pub(super) fn dedup_keys(
    idempotency_key: Option<&str>,
    proven: &VerifiedProof,
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
    if let Some(id) = &proven.delivery_id {
        keys.push(key(b"delivery\0", id.as_bytes()));
    }
    if matches!(webhook.proof, Proof::Messenger(_))
        && let Some(id) = proof::update_id(input)
    {
        keys.push(key(b"update\0", &id.to_be_bytes()));
    }
    keys
}

/// A store that keeps keys in their order has those of one time side by side, and none of yesterday's between.
pub(super) fn signature_key(signed: &proof::VerifiedSignature, now: Timestamp) -> DedupKey {
    let mut digest = dedup_digest(b"signature\0", &signed.mac);
    digest[..8].copy_from_slice(&signed.signed_at.timestamp().to_be_bytes());
    DedupKey { digest, expires_at: now + SIGNATURE_LIFETIME }
}

/// Different kinds never collide.
fn dedup_digest(kind: &[u8], key: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(kind).chain_update(key).finalize().into()
}
