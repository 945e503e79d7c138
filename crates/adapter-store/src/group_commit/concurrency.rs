//! Concurrency limits of a batch's automations.

use std::collections::BTreeSet;

use kernel::{Id, StoreError, id::AutomationId};
use uuid::Uuid;

use super::batch::Batch;
use crate::{
    queue_sql::{CONCURRENCY_BLOCKED, promote_blocked_of_locked},
    sql::{Sql, SqlExecutor, array_chunks_for, column, for_update, statement_chunks_for},
};

/// Locks the automations of a batch that hold runs back, before anything else of it is written; see
/// [`lock_automations`](crate::queue_sql::lock_automations). Returns them, and on SQLite, whose one writer needs no lock, all
/// automations that may be among them.
pub(super) async fn lock_limited<D: SqlExecutor>(
    db: &D,
    batch: &Batch<'_>,
) -> Result<BTreeSet<AutomationId>, StoreError> {
    let limited_calls = batch.accept.iter().filter(|call| call.max_concurrency.is_some());
    let ended_runs = batch.finish.iter().filter_map(|(_, run)| run.automation);
    let candidates: BTreeSet<AutomationId> =
        limited_calls.map(|call| call.automation).chain(ended_runs).collect();
    let lock = for_update(db.backend());
    if lock.is_empty() {
        return Ok(candidates);
    }
    let candidates: Vec<Uuid> = candidates.into_iter().map(Id::uuid).collect();
    let mut limited = BTreeSet::new();
    for candidates in array_chunks_for(db, &candidates) {
        let mut sql = Sql::new("SELECT a.id FROM automations a WHERE a.id");
        sql.push_any(db, candidates.iter().copied());
        // A limit that is lifted may have left runs behind. As a scalar, they are looked up by automation, and not all read.
        sql.push(
            " AND (a.max_concurrency IS NOT NULL OR (SELECT 1 FROM run_queue q WHERE q.automation_id = a.id AND q.state = ",
        );
        sql.bind(CONCURRENCY_BLOCKED).push(" LIMIT 1) IS NOT NULL) ORDER BY a.id").push(lock).push(" OF a");
        for row in sql.fetch_all(db).await? {
            limited.insert(Id::from_uuid(column(&row, 0)?));
        }
    }
    Ok(limited)
}

/// Lets runs of these automations, which are locked, into the places that are free now; whether any waited.
pub(super) async fn promote_waiting_runs<D: SqlExecutor>(
    db: &D,
    automations: &BTreeSet<AutomationId>,
) -> Result<bool, StoreError> {
    let automations: Vec<Uuid> = automations.iter().map(|id| id.uuid()).collect();
    let mut has_promoted = false;
    for automations in statement_chunks_for(db, &automations) {
        let mut sql = Sql::new(
            "SELECT a.id FROM automations a WHERE EXISTS \
             (SELECT 1 FROM run_queue q WHERE q.automation_id = a.id AND q.state = ",
        );
        sql.bind(CONCURRENCY_BLOCKED)
            .push(") AND a.id IN (")
            .bind_all(automations.iter().copied())
            .push(") ORDER BY a.id");
        for row in sql.fetch_all(db).await? {
            promote_blocked_of_locked(db, Id::from_uuid(column(&row, 0)?)).await?;
            has_promoted = true;
        }
    }
    Ok(has_promoted)
}
