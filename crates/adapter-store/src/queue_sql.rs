//! Statements on the queue that requests and the group commit share, and the states of its entries in their text.

use kernel::{StoreError, id::AutomationId};

use crate::{
    entity::run_queue::QueueState,
    sql::{Sql, SqlExecutor, column, for_update},
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

/// Makes runs ready that an automation's limit held back, as many as the limit allows now.
pub(crate) async fn promote_blocked<D: SqlExecutor>(
    db: &D,
    automation: AutomationId,
    max_concurrency: Option<u16>,
) -> Result<(), StoreError> {
    // Two nodes must not fill the same free place.
    let lock = for_update(db.backend());
    if !lock.is_empty() {
        let mut sql = Sql::new("SELECT 1 FROM automations WHERE id = ");
        sql.bind(automation.uuid()).push(lock);
        sql.fetch_all(db).await?;
    }
    let mut sql = Sql::new("SELECT count(*) FROM run_queue WHERE automation_id = ");
    sql.bind(automation.uuid()).push(" AND state IN (").bind_all([READY, LEASED]).push(")");
    let in_use: i64 = match sql.fetch_optional(db).await? {
        Some(row) => column(&row, 0)?,
        None => 0,
    };
    let available = max_concurrency.map_or(i64::MAX, |max| i64::from(max) - in_use);
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
