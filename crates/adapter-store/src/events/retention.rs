//! Taking old events away, always from the front: what is left has no holes.

use ::observability::feed::{MAX_KEPT_EVENTS, RETENTION};
use kernel::{StoreError, Timestamp};
use uuid::Uuid;

use crate::{
    Store,
    convert::millis,
    sql::{Sql, column},
};

/// How many events one statement takes away.
const CHUNK_ROWS: i64 = 2_000;
/// How many statements one sweep takes at most for one workspace.
const MAX_CHUNKS: usize = 200;

impl Store {
    /// Takes away events that are old, or more than a workspace may have.
    pub(crate) async fn delete_expired_events(&self, now: Timestamp) -> Result<(), StoreError> {
        let rows = Sql::new("SELECT workspace_id, seq FROM workspace_feeds").fetch_all(self.read()).await?;
        for row in rows {
            let (workspace, head): (Uuid, i64) = (column(&row, 0)?, column(&row, 1)?);
            let too_many = head.saturating_sub(i64::try_from(MAX_KEPT_EVENTS).unwrap_or(i64::MAX));
            for _ in 0..MAX_CHUNKS {
                if !self.delete_oldest_events(workspace, too_many, millis(now - RETENTION)).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes the oldest events of a workspace away; whether there may be more of them.
    async fn delete_oldest_events(
        &self,
        workspace: Uuid,
        up_to: i64,
        before: i64,
    ) -> Result<bool, StoreError> {
        // The last of the first few: events stand in the order of their time, give or take the clocks of nodes.
        let mut sql = Sql::new("SELECT count(*), max(CASE WHEN seq <= ");
        sql.bind(up_to)
            .push(" OR at <= ")
            .bind(before)
            .push(" THEN seq END) FROM (SELECT seq, at FROM workspace_events WHERE workspace_id = ");
        sql.bind(workspace).push(" ORDER BY seq LIMIT ").push(&CHUNK_ROWS.to_string()).push(") AS oldest");
        let Some(row) = sql.fetch_optional(self.read()).await? else { return Ok(false) };
        let (scanned, last): (i64, Option<i64>) = (column(&row, 0)?, column(&row, 1)?);
        let Some(last) = last else { return Ok(false) };
        let mut sql = Sql::new("DELETE FROM workspace_events WHERE workspace_id = ");
        sql.bind(workspace).push(" AND seq <= ").bind(last);
        let deleted = sql.execute(&self.write()).await?;
        Ok(scanned == CHUNK_ROWS && i64::try_from(deleted).unwrap_or(i64::MAX) == CHUNK_ROWS)
    }
}
