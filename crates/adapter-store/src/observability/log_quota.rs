//! How much log an app's answers over HTTP leave in a day: visitors, whom nobody knows, cause them.

use ::workspace::Plan;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, WorkspaceId},
};
use observability::{LogLevel, LogSource, NewLogLine};

use crate::{
    convert::RowContext,
    sql::{Sql, column},
    tx::StoreTx,
};

/// The lines that still fit into the app's day; the last of them says that the day is full, once.
pub(super) async fn enforce_daily_quota(
    tx: &mut StoreTx,
    (workspace, app): (WorkspaceId, AppId),
    at: Timestamp,
    mut lines: Vec<NewLogLine>,
) -> Result<Vec<NewLogLine>, StoreError> {
    let day = at.timestamp().div_euclid(86_400) * 86_400_000;
    let bytes = |line: &NewLogLine| u64::try_from(line.message.len()).unwrap_or(u64::MAX);
    let wanted: u64 = lines.iter().map(bytes).sum();
    let daily_limit = load_plan(tx, workspace).await?.limits().log_bytes_per_day;
    // One statement, so that visits at once count each other.
    let mut sql = Sql::new("INSERT INTO app_log_volume (app_id, day, bytes) VALUES (");
    sql.bind(app.uuid()).push(", ").bind(day).push(", ").bind(i64::try_from(wanted).unwrap_or(i64::MAX));
    sql.push(") ON CONFLICT (app_id, day) DO UPDATE SET bytes = app_log_volume.bytes + excluded.bytes RETURNING bytes");
    let after = match sql.fetch_optional(tx.write()).await? {
        Some(row) => u64::try_from(column::<i64>(&row, 0)?).unwrap_or(u64::MAX),
        None => wanted,
    };
    let mut left = daily_limit.saturating_sub(after.saturating_sub(wanted));
    if after <= daily_limit {
        return Ok(lines);
    }
    if left == 0 {
        return Ok(Vec::new());
    }
    let kept = lines.iter().take_while(|line| {
        let fits = bytes(line) <= left;
        left = left.saturating_sub(bytes(line));
        fits
    });
    let kept = kept.count();
    let dropped = lines.len() - kept;
    lines.truncate(kept);
    let message = format!(
        "The log of this app's answers is full for today: at most {} MiB a day (UTC) are kept. {dropped} lines of this \
         answer and all of later ones are dropped until the day is over.",
        daily_limit >> 20
    );
    lines.push(NewLogLine::new(at, LogLevel::Warn, LogSource::Platform, message));
    // What was cut off counts as used up, so that this is said once.
    let mut sql = Sql::new("UPDATE app_log_volume SET bytes = ");
    sql.bind(i64::try_from(daily_limit.max(after)).unwrap_or(i64::MAX))
        .push(" WHERE app_id = ")
        .bind(app.uuid());
    sql.push(" AND day = ").bind(day);
    sql.execute(tx.write()).await?;
    Ok(lines)
}

async fn load_plan(tx: &mut StoreTx, workspace: WorkspaceId) -> Result<Plan, StoreError> {
    let mut sql = Sql::new("SELECT plan FROM workspaces WHERE id = ");
    sql.bind(workspace.uuid());
    match sql.fetch_optional(tx.read()).await? {
        Some(row) => {
            RowContext { table: "workspaces", id: workspace.uuid() }.parse(&column::<String>(&row, 0)?)
        }
        None => Ok(Plan::Free),
    }
}
