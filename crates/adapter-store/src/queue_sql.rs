//! Statements on the queue that requests and the group commit share, and the states of its entries in their text.

use std::collections::BTreeSet;

use kernel::{StoreError, id::AutomationId};
use uuid::Uuid;

use crate::{
    entity::run_queue::QueueState,
    sql::{Sql, SqlExecutor, array_chunks_for, column, for_update},
};

/// See [`QueueState::Ready`].
pub(crate) const READY: i16 = QueueState::Ready as i16;
/// See [`QueueState::Leased`].
pub(crate) const LEASED: i16 = QueueState::Leased as i16;
/// See [`QueueState::ConcurrencyBlocked`].
pub(crate) const CONCURRENCY_BLOCKED: i16 = QueueState::ConcurrencyBlocked as i16;
/// See [`QueueState::Held`].
pub(crate) const HELD: i16 = QueueState::Held as i16;
/// See [`QueueState::AwaitingApproval`].
pub(crate) const AWAITING_APPROVAL: i16 = QueueState::AwaitingApproval as i16;

/// Returns the condition that the workspace in a column is not deleted: nothing of a deleted one is claimed or kept.
pub(crate) fn is_live_workspace(column: &str) -> String {
    format!("NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = {column} AND w.deleted_at IS NOT NULL)")
}

/// Locks automations against others who enter runs of theirs or end them, which SQLite's one writer does not need.
///
/// Whoever also locks a question of a run does so before, and whoever counts runs of the month or locks entries of the queue does
/// so afterwards; several automations are locked in the order of their ids.
pub(crate) async fn lock_automations<D: SqlExecutor>(
    db: &D,
    automations: &BTreeSet<AutomationId>,
) -> Result<(), StoreError> {
    let lock = for_update(db.backend());
    if lock.is_empty() {
        return Ok(());
    }
    let automations: Vec<Uuid> = automations.iter().map(|id| id.uuid()).collect();
    for automations in array_chunks_for(db, &automations) {
        let mut sql = Sql::new("SELECT 1 FROM automations WHERE id");
        sql.push_any(db, automations.iter().copied()).push(" ORDER BY id").push(lock);
        sql.fetch_all(db).await?;
    }
    Ok(())
}

/// Makes runs ready that an automation's limit held back, as many as the limit allows now.
pub(crate) async fn promote_blocked<D: SqlExecutor>(
    db: &D,
    automation: AutomationId,
) -> Result<(), StoreError> {
    // Two nodes must not fill the same free place, and what one of them enters must not be overlooked by the other, which makes
    // room for it.
    lock_automations(db, &BTreeSet::from([automation])).await?;
    promote_blocked_of_locked(db, automation).await
}

/// Like [`promote_blocked`], of an automation that is locked.
pub(crate) async fn promote_blocked_of_locked<D: SqlExecutor>(
    db: &D,
    automation: AutomationId,
) -> Result<(), StoreError> {
    // The limit as it is: the one that a caller knows may have been changed since.
    let mut sql = Sql::new(
        "SELECT a.max_concurrency, (SELECT count(*) FROM run_queue q WHERE q.automation_id = a.id AND q.state IN (",
    );
    sql.bind_all([READY, LEASED]).push(")) FROM automations a WHERE a.id = ").bind(automation.uuid());
    let Some(row) = sql.fetch_optional(db).await? else { return Ok(()) };
    let (max, in_use): (Option<i64>, i64) = (column(&row, 0)?, column(&row, 1)?);
    let available = max.map_or(i64::MAX, |max| max - in_use);
    if available <= 0 {
        return Ok(());
    }
    let mut sql = Sql::new("UPDATE run_queue SET state = ");
    sql.bind(READY).push(" WHERE run_id IN (SELECT run_id FROM run_queue WHERE automation_id = ");
    sql.bind(automation.uuid())
        .push(" AND state = ")
        .bind(CONCURRENCY_BLOCKED)
        .push(" ORDER BY run_id LIMIT ")
        .bind(available)
        .push(")");
    sql.execute(db).await?;
    Ok(())
}
