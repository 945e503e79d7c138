//! Number of runs that a workspace started in a month.

use kernel::{StoreError, Timestamp, id::WorkspaceId};
use runs::quota::{Admission, MAX_HELD_RUNS};

use crate::{
    queue_sql::HELD,
    sql::{Sql, SqlExecutor, column, for_update},
};

/// Counts up to `wanted` runs of the month of `now`; returns how many of them the limit allows.
pub(crate) async fn consume<D: SqlExecutor>(
    db: &D,
    workspace: WorkspaceId,
    now: Timestamp,
    wanted: u64,
    limit: Option<u64>,
) -> Result<u64, StoreError> {
    let month = now.format("%Y-%m").to_string();
    let granted = match limit {
        None => wanted,
        Some(limit) => wanted.min(limit.saturating_sub(load_used(db, workspace, &month).await?)),
    };
    if granted > 0 {
        let granted = i64::try_from(granted).unwrap_or(i64::MAX);
        let mut sql = Sql::new("INSERT INTO workspace_usage (workspace_id, month, runs) VALUES (");
        sql.bind(workspace.uuid()).push(", ").bind(month).push(", ").bind(granted);
        sql.push(
            ") ON CONFLICT (workspace_id, month) DO UPDATE SET runs = workspace_usage.runs + excluded.runs",
        );
        sql.execute(db).await?;
    }
    Ok(granted)
}

/// Decides about one run, and counts it if it starts.
pub(crate) async fn admit<D: SqlExecutor>(
    db: &D,
    workspace: WorkspaceId,
    now: Timestamp,
    limit: Option<u64>,
) -> Result<Admission, StoreError> {
    if consume(db, workspace, now, 1, limit).await? == 1 {
        return Ok(Admission::Start);
    }
    // As the partial index has it.
    let mut sql = Sql::new("SELECT count(*) FROM (SELECT 1 FROM run_queue WHERE workspace_id = ");
    sql.bind(workspace.uuid()).push(" AND state = ").push(&HELD.to_string()).push(" LIMIT ");
    sql.push(&MAX_HELD_RUNS.to_string()).push(") held");
    let held: i64 = match sql.fetch_optional(db).await? {
        Some(row) => column(&row, 0)?,
        None => 0,
    };
    let is_full = u64::try_from(held).is_ok_and(|held| held >= MAX_HELD_RUNS);
    Ok(if is_full { Admission::Refuse } else { Admission::Hold })
}

async fn load_used<D: SqlExecutor>(db: &D, workspace: WorkspaceId, month: &str) -> Result<u64, StoreError> {
    // The workspace's row is there before the month's first count: it is what two nodes queue up for.
    let mut sql = Sql::new("SELECT 1 FROM workspaces WHERE id = ");
    sql.bind(workspace.uuid()).push(for_update(db.backend()));
    sql.fetch_all(db).await?;
    let mut sql = Sql::new("SELECT runs FROM workspace_usage WHERE workspace_id = ");
    sql.bind(workspace.uuid()).push(" AND month = ").bind(month);
    match sql.fetch_optional(db).await? {
        Some(row) => Ok(u64::try_from(column::<i64>(&row, 0)?).unwrap_or_default()),
        None => Ok(0),
    }
}
