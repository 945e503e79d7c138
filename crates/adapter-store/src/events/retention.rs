//! Deletion of old events, always from the front: what is left has no holes.

use ::observability::feed::{MAX_KEPT_EVENTS, RETENTION};
use kernel::{StoreError, Timestamp, id::kind};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, FromQueryResult, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, Query},
};

use crate::{
    entity::{
        column::{DbId, DbTime},
        workspace_events, workspace_feeds,
    },
    error::OrStoreError as _,
    query,
    store::Store,
};

/// Events that one statement deletes; at most.
const CHUNK_ROWS: u64 = 2_000;
/// Statements of one sweep for one workspace; at most.
const MAX_CHUNKS: usize = 200;

impl Store {
    /// Deletes events that are old, or more than a workspace may have.
    pub(crate) async fn delete_expired_events(&self, now: Timestamp) -> Result<(), StoreError> {
        let feeds = workspace_feeds::Entity::find().all(self.read()).await.or_store_error()?;
        for feed in feeds {
            let (workspace, head) = (feed.workspace_id, feed.seq);
            let too_many = head.saturating_sub(i64::try_from(MAX_KEPT_EVENTS).unwrap_or(i64::MAX));
            for _ in 0..MAX_CHUNKS {
                if !self.delete_oldest_events(workspace, too_many, DbTime(now - RETENTION)).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Deletes the oldest events of a workspace; returns `true` if there may be more that have expired.
    async fn delete_oldest_events(
        &self,
        workspace: DbId<kind::Workspace>,
        up_to: i64,
        before: DbTime,
    ) -> Result<bool, StoreError> {
        use workspace_events::Column;
        // The last of the first few: events stand in the order of their time, give or take the clocks of nodes.
        let oldest = workspace_events::Entity::find()
            .filter(Column::WorkspaceId.eq(workspace))
            .order_by_asc(Column::Seq)
            .limit(CHUNK_ROWS)
            .select_only()
            .columns([Column::Seq, Column::At])
            .into_query();
        let is_expired = Expr::col(Column::Seq).lte(up_to).or(Expr::col(Column::At).lte(before));
        let last = Expr::Case(Box::new(Expr::case(is_expired, Expr::col(Column::Seq))));
        let scan = Query::select()
            .expr_as(Func::count(Expr::col(Asterisk)), "scanned")
            .expr_as(last.max(), "last")
            .from_subquery(oldest, "oldest")
            .to_owned();
        let scan: Option<ScanRow> = query::fetch_one(&scan, self.read()).await?;
        let Some(ScanRow { scanned, last: Some(last) }) = scan else { return Ok(false) };
        let deleted = workspace_events::Entity::delete_many()
            .filter(Column::WorkspaceId.eq(workspace))
            .filter(Column::Seq.lte(last))
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(scanned.unsigned_abs() == CHUNK_ROWS && deleted.rows_affected == CHUNK_ROWS)
    }
}

/// The oldest events of a workspace: their number, and the last of them that has expired.
#[derive(FromQueryResult)]
struct ScanRow {
    scanned: i64,
    last: Option<i64>,
}
