//! Inserts lines of log.

use ::observability::NewLogLine;
use kernel::{
    Id, StoreError,
    id::{AppId, RunId, WorkspaceId},
};

use crate::{
    convert::millis,
    sql::{Fields, SqlExecutor, insert_rows},
};

/// A line of log to be inserted.
pub(crate) struct LogRow {
    pub(crate) workspace: WorkspaceId,
    pub(crate) app: AppId,
    pub(crate) run: Option<RunId>,
    pub(crate) line: NewLogLine,
    /// The event that tells of it.
    pub(crate) event: Option<u64>,
}

/// Inserts lines.
pub(crate) async fn insert_log_lines<D: SqlExecutor>(db: &D, lines: &[LogRow]) -> Result<(), StoreError> {
    let columns = "workspace_id, app_id, run_id, at, level, source, message, event_seq";
    insert_rows(
        db,
        ("log_lines", columns),
        lines
            .iter()
            .map(|row| {
                Fields::new()
                    .with(row.workspace.uuid())
                    .with(row.app.uuid())
                    .with(row.run.map(Id::uuid))
                    .with(millis(row.line.at))
                    .with(row.line.level.number())
                    .with(row.line.source.number())
                    .with(row.line.message.as_str())
                    .with(row.event.and_then(|seq| i64::try_from(seq).ok()))
            })
            .collect(),
    )
    .await
}
