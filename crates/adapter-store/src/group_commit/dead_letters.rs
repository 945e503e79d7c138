//! Dead letters, written with the end of a run or the refusal of a call.

use std::collections::BTreeMap;

use kernel::StoreError;
use runs::{
    TriggerKind,
    dead_letters::{DeadLetterKind, DeadLetterState, MAX_OPEN_CALL_DEAD_LETTERS},
    queue::{AttemptOutcome, FinishedRun},
    webhooks::{NewDeadLetter, RefusedDelivery},
};
use uuid::Uuid;

use crate::{
    convert::millis,
    sql::{Sql, SqlExecutor, array_chunks_for, column},
};

/// Keeps what failed for good, once its end is written. What a person started by hand is theirs to start again.
pub(crate) async fn insert_failed_runs<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
) -> Result<(), StoreError> {
    let dead: Vec<Uuid> = finished
        .iter()
        .filter(|run| matches!(run.outcome, AttemptOutcome::Failed(_) | AttemptOutcome::Blocked(_)))
        .map(|run| run.id.uuid())
        .collect();
    for dead in array_chunks_for(db, &dead) {
        let mut sql = Sql::new(
            "INSERT INTO dead_letters (id, workspace_id, app_id, automation_id, kind, state, trigger_kind, reason, \
             message, run_id, version_id, attempt, payload_bytes, created_at) SELECT r.id, r.workspace_id, r.app_id, \
             r.automation_id, ",
        );
        sql.bind(DeadLetterKind::Run.as_str()).push(", ").bind(DeadLetterState::Open.as_str());
        sql.push(
            ", r.trigger_kind, r.error_code, r.error_message, r.id, r.version_id, r.attempt, \
             coalesce(octet_length(i.input), 0), r.finished_at FROM runs r LEFT JOIN run_inputs i ON i.run_id = r.id \
             WHERE r.trigger_kind <> ",
        );
        sql.bind(TriggerKind::Manual.as_str());
        sql.push(" AND r.id").push_any(db, dead.iter().copied()).push(" ON CONFLICT (id) DO NOTHING");
        sql.execute(db).await?;
    }
    Ok(())
}

/// Keeps refused calls that could not run. A call that comes again while it is kept counts as another attempt.
pub(crate) async fn insert_refused_calls<D: SqlExecutor>(
    db: &D,
    refused: &[&RefusedDelivery],
) -> Result<(), StoreError> {
    let mut remaining: BTreeMap<Uuid, u64> = BTreeMap::new();
    for (refused, kept) in
        refused.iter().filter_map(|refused| Some((*refused, refused.dead_letter.as_ref()?)))
    {
        let automation = kept.automation.uuid();
        let left = match remaining.get(&automation) {
            Some(left) => *left,
            None => MAX_OPEN_CALL_DEAD_LETTERS.saturating_sub(count_open_calls(db, automation).await?),
        };
        remaining.insert(automation, left.saturating_sub(1));
        if left > 0 {
            insert_refused_call(db, refused, kept).await?;
        }
    }
    Ok(())
}

async fn count_open_calls<D: SqlExecutor>(db: &D, automation: Uuid) -> Result<u64, StoreError> {
    let mut sql = Sql::new(
        "SELECT count(*) FROM (SELECT 1 FROM dead_letters WHERE state = 'open' AND kind = 'delivery' AND automation_id = ",
    );
    sql.bind(automation).push(" LIMIT ").push(&MAX_OPEN_CALL_DEAD_LETTERS.to_string()).push(") AS kept");
    match sql.fetch_optional(db).await? {
        Some(row) => Ok(u64::try_from(column::<i64>(&row, 0)?).unwrap_or_default()),
        None => Ok(0),
    }
}

async fn insert_refused_call<D: SqlExecutor>(
    db: &D,
    refused: &RefusedDelivery,
    kept: &NewDeadLetter,
) -> Result<(), StoreError> {
    let mut sql = Sql::new(
        "INSERT INTO dead_letters (id, workspace_id, app_id, automation_id, kind, state, trigger_kind, reason, message, \
         delivery_id, call_digest, version_id, attempt, payload, payload_bytes, created_at) VALUES (",
    );
    sql.bind(refused.id.uuid()).push(", ").bind(refused.workspace.uuid()).push(", ").bind(kept.app.uuid());
    sql.push(", ").bind(kept.automation.uuid()).push(", ").bind(DeadLetterKind::Delivery.as_str());
    sql.push(", ").bind(DeadLetterState::Open.as_str()).push(", ").bind(kept.trigger.as_str());
    sql.push(", ").bind(refused.code).push(", ").bind(kept.message.as_str()).push(", ");
    sql.bind(refused.id.uuid()).push(", ").bind(kept.digest.map(|digest| digest.to_vec()));
    sql.push(", (SELECT current_version_id FROM apps WHERE id = ").bind(kept.app.uuid()).push("), 1, ");
    sql.bind(kept.input.get()).push(", ");
    sql.bind(i64::try_from(kept.input.get().len()).unwrap_or(i64::MAX)).push(", ").bind(millis(refused.at));
    // Written out, so that the partial index is the one that is meant.
    sql.push(
        ") ON CONFLICT (automation_id, call_digest) WHERE state = 'open' AND call_digest IS NOT NULL DO UPDATE SET \
         attempt = dead_letters.attempt + 1, reason = excluded.reason, message = excluded.message",
    );
    sql.execute(db).await.map(drop)
}
