//! Cache of the signatures of calls that were accepted lately, for SQLite, whose one writer alone accepts calls.
//!
//! Their digests fall anywhere in an index. One that every call must write into would be a quarter of all pages that
//! are written. So a delivery keeps its signature where it stands, in the order of arrival, and what a new call is held
//! against is here. It is read from the deliveries once, before the first call after a start.

use std::collections::{BTreeMap, HashSet};

use kernel::{Id, StoreError, Timestamp, id::HookId};
use runs::webhooks::{AcceptCall, AcceptOutcome, DedupKey, SIGNATURE_LIFETIME};
use uuid::Uuid;

use crate::{
    convert::{RowContext, millis, min_uuid_v7_at},
    sql::{Sql, SqlExecutor, column},
};

/// Bytes of a digest that are kept: the time at which the call was signed, and eight bytes that tell it from the others
/// of that time and webhook. Two are taken for one once in 10^15 calls, at ten thousand calls a second.
const FINGERPRINT_LEN: usize = 16;

/// Signatures that are read at once; at most.
const LOAD_CHUNK: i64 = 4096;

/// The part of a digest that is kept.
type Fingerprint = [u8; FINGERPRINT_LEN];

/// The signatures that may not come again.
#[derive(Default)]
pub(super) struct SignatureCache {
    /// The signatures by the time at which they were signed.
    by_signed_at: BTreeMap<[u8; 8], SignedAtBucket>,
    is_loaded: bool,
}

/// The signatures of one moment.
struct SignedAtBucket {
    suffixes: HashSet<u64>,
    /// Time at which the last of them expires.
    expires_at: Timestamp,
}

impl SignatureCache {
    /// The part of its signature that a delivery keeps.
    pub(super) fn fingerprint(key: &DedupKey) -> Fingerprint {
        let mut fingerprint = [0; FINGERPRINT_LEN];
        fingerprint.copy_from_slice(&key.digest[..FINGERPRINT_LEN]);
        fingerprint
    }

    /// Returns `true` if a webhook's signature was accepted before.
    pub(super) fn contains(&self, hook: HookId, key: &DedupKey) -> bool {
        let (signed_at, suffix) = split_fingerprint(hook, Self::fingerprint(key));
        self.by_signed_at.get(&signed_at).is_some_and(|known| known.suffixes.contains(&suffix))
    }

    /// Inserts the signatures of a batch that is committed, and removes those that have expired.
    pub(super) fn insert_committed(&mut self, batch: &[&AcceptCall], outcomes: &[AcceptOutcome]) {
        for (call, verdict) in batch.iter().zip(outcomes) {
            if let (AcceptOutcome::Accepted | AcceptOutcome::Duplicate { .. }, Some(key)) =
                (verdict, &call.signature)
            {
                self.insert(call.hook, Self::fingerprint(key), key.expires_at, call.at);
            }
        }
    }

    fn insert(&mut self, hook: HookId, fingerprint: Fingerprint, expires_at: Timestamp, now: Timestamp) {
        let (signed_at, suffix) = split_fingerprint(hook, fingerprint);
        if !self.by_signed_at.contains_key(&signed_at) {
            self.by_signed_at.retain(|_, known| known.expires_at > now);
        }
        let new = || SignedAtBucket { suffixes: HashSet::new(), expires_at };
        let known = self.by_signed_at.entry(signed_at).or_insert_with(new);
        known.suffixes.insert(suffix);
        known.expires_at = known.expires_at.max(expires_at);
    }

    /// Keeps the signatures of calls that only repeated an earlier one: they have no delivery that would.
    pub(super) async fn persist_repeated<D: SqlExecutor>(
        db: &D,
        batch: &[&AcceptCall],
        outcomes: &[AcceptOutcome],
    ) -> Result<(), StoreError> {
        for (call, verdict) in batch.iter().zip(outcomes) {
            if let (AcceptOutcome::Duplicate { .. }, Some(key)) = (verdict, &call.signature) {
                let mut sql =
                    Sql::new("INSERT INTO repeat_signatures (expires_at, webhook_id, signature) VALUES (");
                sql.bind(millis(key.expires_at)).push(", ").bind(call.hook.uuid()).push(", ");
                sql.bind(Self::fingerprint(key).to_vec()).push(") ON CONFLICT DO NOTHING");
                sql.execute(db).await?;
            }
        }
        Ok(())
    }

    /// Reads what the calls of `batch` are held against, the first time that there are any.
    pub(super) async fn load_once<D: SqlExecutor>(
        &mut self,
        db: &D,
        batch: &[&AcceptCall],
    ) -> Result<(), StoreError> {
        let Some(now) = batch.iter().map(|call| call.at).max().filter(|_| !self.is_loaded) else {
            return Ok(());
        };
        self.load_deliveries(db, now).await?;
        self.load_repeats(db, now).await?;
        self.is_loaded = true;
        Ok(())
    }

    async fn load_deliveries<D: SqlExecutor>(&mut self, db: &D, now: Timestamp) -> Result<(), StoreError> {
        let mut next = min_uuid_v7_at(now - SIGNATURE_LIFETIME);
        loop {
            let mut sql =
                Sql::new("SELECT id, webhook_id, signature, received_at FROM deliveries WHERE id > ");
            sql.bind(next).push(" AND signature IS NOT NULL ORDER BY id LIMIT ").bind(LOAD_CHUNK);
            let rows = sql.fetch_all(db).await?;
            for row in &rows {
                let row_of = RowContext { table: "deliveries", id: column(row, 0)? };
                let received_at = row_of.timestamp(column(row, 3)?)?;
                let fingerprint = parse_fingerprint(row_of, &column::<Vec<u8>>(row, 2)?)?;
                self.insert(
                    Id::from_uuid(column(row, 1)?),
                    fingerprint,
                    received_at + SIGNATURE_LIFETIME,
                    now,
                );
                next = row_of.id;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    async fn load_repeats<D: SqlExecutor>(&mut self, db: &D, now: Timestamp) -> Result<(), StoreError> {
        let mut next = (millis(now), Uuid::nil(), Vec::new());
        loop {
            let mut sql = Sql::new(
                "SELECT expires_at, webhook_id, signature FROM repeat_signatures \
                 WHERE (expires_at, webhook_id, signature) > (",
            );
            sql.bind(next.0).push(", ").bind(next.1).push(", ").bind(next.2.clone());
            sql.push(") ORDER BY expires_at, webhook_id, signature LIMIT ").bind(LOAD_CHUNK);
            let rows = sql.fetch_all(db).await?;
            for row in &rows {
                next = (column(row, 0)?, column(row, 1)?, column(row, 2)?);
                let row_of = RowContext { table: "repeat_signatures", id: next.1 };
                self.insert(
                    Id::from_uuid(next.1),
                    parse_fingerprint(row_of, &next.2)?,
                    row_of.timestamp(next.0)?,
                    now,
                );
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }
}

fn parse_fingerprint(row: RowContext, bytes: &[u8]) -> Result<Fingerprint, StoreError> {
    bytes.try_into().map_err(|_| row.error("the signature has another length"))
}

/// Returns the time at which a call was signed, and its suffix among the others of that time.
fn split_fingerprint(hook: HookId, fingerprint: Fingerprint) -> ([u8; 8], u64) {
    let [mut signed_at, mut suffix] = [[0; 8]; 2];
    signed_at.copy_from_slice(&fingerprint[..8]);
    suffix.copy_from_slice(&fingerprint[8..]);
    // Two webhooks may have one secret: the end of an id is as random as a digest.
    let hook = hook.uuid().as_u64_pair().1;
    (signed_at, u64::from_be_bytes(suffix) ^ hook)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn hook(number: u128) -> HookId {
        Id::from_uuid(Uuid::from_u128(number))
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn key(moment: u64, mark: u8) -> DedupKey {
        let mut digest = [mark; 32];
        digest[..8].copy_from_slice(&moment.to_be_bytes());
        DedupKey { digest, expires_at: at(0) }
    }

    #[test]
    fn a_signature_is_of_its_webhook_and_its_moment() {
        let mut signatures = SignatureCache::default();
        signatures.insert(hook(1), SignatureCache::fingerprint(&key(7, 1)), at(60), at(0));
        assert!(signatures.contains(hook(1), &key(7, 1)));
        for (other, key) in [(hook(2), key(7, 1)), (hook(1), key(8, 1)), (hook(1), key(7, 2))] {
            assert!(!signatures.contains(other, &key));
        }
    }

    #[test]
    fn what_is_over_is_forgotten_with_the_last_of_its_moment() {
        let mut signatures = SignatureCache::default();
        signatures.insert(hook(1), SignatureCache::fingerprint(&key(7, 1)), at(60), at(0));
        signatures.insert(hook(1), SignatureCache::fingerprint(&key(7, 2)), at(70), at(10));
        signatures.insert(hook(1), SignatureCache::fingerprint(&key(8, 1)), at(90), at(69));
        assert!(signatures.contains(hook(1), &key(7, 1)));
        signatures.insert(hook(1), SignatureCache::fingerprint(&key(9, 1)), at(130), at(70));
        assert!(!signatures.contains(hook(1), &key(7, 1)));
        assert!(signatures.contains(hook(1), &key(8, 1)));
        assert_eq!(signatures.by_signed_at.len(), 2);
    }
}
