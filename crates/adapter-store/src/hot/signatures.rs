//! The signatures of calls that were accepted lately, in the memory of who alone accepts calls: SQLite's lane.
//!
//! Their digests fall anywhere in an index. One that every call must write into would be a quarter of all pages that
//! are written. So a delivery keeps its signature where it stands, in the order of arrival, and what a new call is held
//! against is here. It is read from the deliveries once, before the first call after a start.

use std::collections::{BTreeMap, HashSet};

use kernel::{Id, StoreError, Timestamp, id::HookId};
use runs::webhooks::{Acceptance, DedupKey, SIGNATURE_LIFETIME, Verdict};
use uuid::Uuid;

use crate::{
    convert::{Row, first_id_at, millis},
    sql::{Db, Sql, column},
};

/// How much of a digest is kept: the moment the call was signed at, and eight bytes that tell it from the others of
/// that moment and webhook. Two are taken for one once in 10^15 calls, at ten thousand calls a second.
const KEPT: usize = 16;

/// How many are read at once.
const AT_ONCE: i64 = 4096;

/// What is kept of a digest.
type Kept = [u8; KEPT];

/// The signatures that may not come again.
#[derive(Default)]
pub(super) struct Signatures {
    /// By when they were signed.
    by_moment: BTreeMap<[u8; 8], OfMoment>,
    loaded: bool,
}

/// The signatures of one moment.
struct OfMoment {
    marks: HashSet<u64>,
    /// When the last of them is forgotten.
    until: Timestamp,
}

impl Signatures {
    /// What a delivery keeps of its signature.
    pub(super) fn kept(key: &DedupKey) -> Kept {
        let mut kept = [0; KEPT];
        kept.copy_from_slice(&key.digest[..KEPT]);
        kept
    }

    /// Whether a webhook's signature was accepted before.
    pub(super) fn know(&self, hook: HookId, key: &DedupKey) -> bool {
        let (moment, mark) = place(hook, Self::kept(key));
        self.by_moment.get(&moment).is_some_and(|known| known.marks.contains(&mark))
    }

    /// Remembers those of a batch that is committed, and forgets what is over.
    pub(super) fn remember(&mut self, batch: &[&Acceptance], verdicts: &[Verdict]) {
        for (call, verdict) in batch.iter().zip(verdicts) {
            if let (Verdict::Accepted | Verdict::Repeated { .. }, Some(key)) = (verdict, &call.signature) {
                self.insert(call.hook, Self::kept(key), key.expires_at, call.at);
            }
        }
    }

    fn insert(&mut self, hook: HookId, kept: Kept, expires_at: Timestamp, now: Timestamp) {
        let (moment, mark) = place(hook, kept);
        if !self.by_moment.contains_key(&moment) {
            self.by_moment.retain(|_, known| known.until > now);
        }
        let new = || OfMoment { marks: HashSet::new(), until: expires_at };
        let known = self.by_moment.entry(moment).or_insert_with(new);
        known.marks.insert(mark);
        known.until = known.until.max(expires_at);
    }

    /// Keeps the signatures of calls that only repeated an earlier one: they have no delivery that would.
    pub(super) async fn keep_repeats<D: Db>(
        db: &D,
        batch: &[&Acceptance],
        verdicts: &[Verdict],
    ) -> Result<(), StoreError> {
        for (call, verdict) in batch.iter().zip(verdicts) {
            if let (Verdict::Repeated { .. }, Some(key)) = (verdict, &call.signature) {
                let mut sql =
                    Sql::new("INSERT INTO repeat_signatures (expires_at, webhook_id, signature) VALUES (");
                sql.bind(millis(key.expires_at)).push(", ").bind(call.hook.uuid()).push(", ");
                sql.bind(Self::kept(key).to_vec()).push(") ON CONFLICT DO NOTHING");
                sql.execute(db).await?;
            }
        }
        Ok(())
    }

    /// Reads what the calls of `batch` are held against, the first time that there are any.
    pub(super) async fn load<D: Db>(&mut self, db: &D, batch: &[&Acceptance]) -> Result<(), StoreError> {
        let Some(now) = batch.iter().map(|call| call.at).max().filter(|_| !self.loaded) else {
            return Ok(());
        };
        self.load_deliveries(db, now).await?;
        self.load_repeats(db, now).await?;
        self.loaded = true;
        Ok(())
    }

    async fn load_deliveries<D: Db>(&mut self, db: &D, now: Timestamp) -> Result<(), StoreError> {
        let mut next = first_id_at(now - SIGNATURE_LIFETIME);
        loop {
            let mut sql =
                Sql::new("SELECT id, webhook_id, signature, received_at FROM deliveries WHERE id > ");
            sql.bind(next).push(" AND signature IS NOT NULL ORDER BY id LIMIT ").bind(AT_ONCE);
            let rows = sql.all(db).await?;
            for row in &rows {
                let row_of = Row { table: "deliveries", id: column(row, 0)? };
                let received_at = row_of.moment(column(row, 3)?)?;
                let kept = kept(row_of, &column::<Vec<u8>>(row, 2)?)?;
                self.insert(Id::from_uuid(column(row, 1)?), kept, received_at + SIGNATURE_LIFETIME, now);
                next = row_of.id;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    async fn load_repeats<D: Db>(&mut self, db: &D, now: Timestamp) -> Result<(), StoreError> {
        let mut next = (millis(now), Uuid::nil(), Vec::new());
        loop {
            let mut sql = Sql::new(
                "SELECT expires_at, webhook_id, signature FROM repeat_signatures \
                 WHERE (expires_at, webhook_id, signature) > (",
            );
            sql.bind(next.0).push(", ").bind(next.1).push(", ").bind(next.2.clone());
            sql.push(") ORDER BY expires_at, webhook_id, signature LIMIT ").bind(AT_ONCE);
            let rows = sql.all(db).await?;
            for row in &rows {
                next = (column(row, 0)?, column(row, 1)?, column(row, 2)?);
                let row_of = Row { table: "repeat_signatures", id: next.1 };
                self.insert(Id::from_uuid(next.1), kept(row_of, &next.2)?, row_of.moment(next.0)?, now);
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }
}

fn kept(row: Row, bytes: &[u8]) -> Result<Kept, StoreError> {
    bytes.try_into().map_err(|_| row.error("the signature has another length"))
}

/// By when it was signed, and its mark among the others of that moment.
fn place(hook: HookId, kept: Kept) -> ([u8; 8], u64) {
    let [mut moment, mut mark] = [[0; 8]; 2];
    moment.copy_from_slice(&kept[..8]);
    mark.copy_from_slice(&kept[8..]);
    // Two webhooks may have one secret: the end of an id is as random as a digest.
    let hook = hook.uuid().as_u64_pair().1;
    (moment, u64::from_be_bytes(mark) ^ hook)
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
        let mut signatures = Signatures::default();
        signatures.insert(hook(1), Signatures::kept(&key(7, 1)), at(60), at(0));
        assert!(signatures.know(hook(1), &key(7, 1)));
        for (other, key) in [(hook(2), key(7, 1)), (hook(1), key(8, 1)), (hook(1), key(7, 2))] {
            assert!(!signatures.know(other, &key));
        }
    }

    #[test]
    fn what_is_over_is_forgotten_with_the_last_of_its_moment() {
        let mut signatures = Signatures::default();
        signatures.insert(hook(1), Signatures::kept(&key(7, 1)), at(60), at(0));
        signatures.insert(hook(1), Signatures::kept(&key(7, 2)), at(70), at(10));
        signatures.insert(hook(1), Signatures::kept(&key(8, 1)), at(90), at(69));
        assert!(signatures.know(hook(1), &key(7, 1)));
        signatures.insert(hook(1), Signatures::kept(&key(9, 1)), at(130), at(70));
        assert!(!signatures.know(hook(1), &key(7, 1)));
        assert!(signatures.know(hook(1), &key(8, 1)));
        assert_eq!(signatures.by_moment.len(), 2);
    }
}
