//! `webhook_keys`: what makes two calls of one webhook the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kernel::{
    Id, StoreError, Timestamp,
    id::{DeliveryId, HookId, RunId},
};
use runs::webhooks::{AcceptCall, AcceptOutcome, DedupKey};
use uuid::Uuid;

use crate::{
    convert::millis,
    error::inconsistent,
    sql::{Fields, Sql, SqlExecutor, SqlRow, array_chunks_for, column, statement_chunks_for},
};

/// A key and the webhook it is of.
pub(super) type WebhookKey = (HookId, [u8; 32]);

/// The primary key of a call's key.
pub(super) fn webhook_key(call: &AcceptCall, key: &DedupKey) -> WebhookKey {
    (call.hook, key.digest)
}

/// The keys of a call that are in the table; its signature may be.
pub(super) fn stored_keys(call: &AcceptCall, with_signature: bool) -> impl Iterator<Item = &DedupKey> {
    call.keys.iter().chain(call.signature.as_ref().filter(|_| with_signature))
}

/// Writes keys for their calls; those that were free.
pub(super) async fn claim_keys<D: SqlExecutor>(
    db: &D,
    wanted: &BTreeMap<WebhookKey, (&AcceptCall, &DedupKey)>,
) -> Result<BTreeSet<WebhookKey>, StoreError> {
    let rows: Vec<_> = wanted.iter().collect();
    let mut claimed = BTreeSet::new();
    for rows in array_chunks_for(db, &rows) {
        let keys: Vec<_> = rows
            .iter()
            .map(|(key, (call, dedup))| key_row(key, (call.run, call.delivery), dedup.expires_at))
            .collect();
        let mut sql = insert_keys(db, &keys);
        // A key whose time is over is as good as none.
        let now = rows.iter().map(|(_, (call, _))| call.at).max().map_or(0, millis);
        sql.push(
            " ON CONFLICT (webhook_id, digest) DO UPDATE SET run_id = excluded.run_id, \
             delivery_id = excluded.delivery_id, expires_at = excluded.expires_at \
             WHERE webhook_keys.expires_at <= ",
        );
        sql.bind(now);
        claimed.extend(
            sql.execute_returning_keys(db, rows, ("webhook_id, digest", read_key), |(key, _)| **key).await?,
        );
    }
    Ok(claimed)
}

fn key_row(
    (hook, digest): &WebhookKey,
    (run, delivery): (RunId, DeliveryId),
    expires_at: Timestamp,
) -> Fields<'static> {
    let of_call = Fields::new().with(hook.uuid()).with(digest.to_vec()).with(run.uuid());
    of_call.with(delivery.uuid()).with(millis(expires_at))
}

fn insert_keys<D: SqlExecutor>(db: &D, keys: &[Fields<'_>]) -> Sql {
    let mut sql = Sql::new("INSERT INTO webhook_keys (webhook_id, digest, run_id, delivery_id, expires_at) ");
    sql.push_rows(db, keys);
    sql
}

fn read_key(row: &SqlRow) -> Result<WebhookKey, StoreError> {
    let hook: Uuid = column(row, 0)?;
    let digest: Vec<u8> = column(row, 1)?;
    let digest =
        digest.try_into().map_err(|_| inconsistent("webhook_keys", hook, "a digest has another length"))?;
    Ok((Id::from_uuid(hook), digest))
}

/// The calls that have these keys.
pub(super) async fn find_earlier_calls<D: SqlExecutor>(
    db: &D,
    keys: &[WebhookKey],
) -> Result<HashMap<WebhookKey, (RunId, DeliveryId)>, StoreError> {
    let mut earlier = HashMap::new();
    for keys in statement_chunks_for(db, keys) {
        let mut sql = Sql::new(
            "SELECT webhook_id, digest, run_id, delivery_id FROM webhook_keys WHERE (webhook_id, digest) IN (VALUES ",
        );
        push_keys(&mut sql, keys);
        for row in sql.fetch_all(db).await? {
            earlier
                .insert(read_key(&row)?, (Id::from_uuid(column(&row, 2)?), Id::from_uuid(column(&row, 3)?)));
        }
    }
    Ok(earlier)
}

/// Remembers every key of a repeated call under the call it repeats. Its signature is a fresh one: whoever captured the
/// request could otherwise send it again without the key that made it a repeat.
pub(super) async fn insert_repeated_keys<D: SqlExecutor>(
    db: &D,
    batch: &[&AcceptCall],
    outcomes: &[AcceptOutcome],
    with_signatures: bool,
) -> Result<(), StoreError> {
    let mut keys = BTreeMap::new();
    for (call, verdict) in batch.iter().zip(outcomes) {
        if let AcceptOutcome::Duplicate { run, delivery } = verdict {
            let of_call = stored_keys(call, with_signatures);
            keys.extend(of_call.map(|key| (webhook_key(call, key), (*run, *delivery, key.expires_at))));
        }
    }
    let keys: Vec<_> = keys.into_iter().collect();
    for keys in array_chunks_for(db, &keys) {
        let keys: Vec<_> = keys
            .iter()
            .map(|(key, (run, delivery, expires_at))| key_row(key, (*run, *delivery), *expires_at))
            .collect();
        let mut sql = insert_keys(db, &keys);
        sql.push(" ON CONFLICT (webhook_id, digest) DO NOTHING");
        sql.execute(db).await?;
    }
    Ok(())
}

/// Frees keys.
pub(super) async fn delete_keys<D: SqlExecutor>(db: &D, keys: &[WebhookKey]) -> Result<(), StoreError> {
    for keys in statement_chunks_for(db, keys) {
        let mut sql = Sql::new("DELETE FROM webhook_keys WHERE (webhook_id, digest) IN (VALUES ");
        push_keys(&mut sql, keys);
        sql.execute(db).await?;
    }
    Ok(())
}

fn push_keys(sql: &mut Sql, keys: &[WebhookKey]) {
    sql.push_values(keys, |sql, (hook, digest)| {
        sql.bind(hook.uuid()).push(", ").bind(digest.to_vec());
    });
    sql.push(")");
}
