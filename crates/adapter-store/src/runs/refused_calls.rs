//! Counts of webhook calls that proved nothing, by webhook and minute.

use ::runs::webhooks::{RefusedCalls, RefusedCallsEntry, RefusedCallsLog, refused_calls::minute_of};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{HookId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    sea_query::{Alias, Expr, ExprTrait as _, OnConflict},
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        webhook_refusals,
    },
    error::OrStoreError as _,
    store::Store,
};

/// Rows that one statement writes.
const CHUNK_ROWS: usize = 200;

#[span_macros::traced]
#[async_trait]
impl RefusedCallsLog for Store {
    async fn add_refused_calls(&self, entries: &[RefusedCallsEntry]) -> Result<(), StoreError> {
        use webhook_refusals::Column;
        let new = |column: Column| Expr::col((Alias::new("excluded"), column));
        let stored = |column: Column| Expr::col((webhook_refusals::Entity, column));
        for chunk in entries.chunks(CHUNK_ROWS) {
            let rows = chunk.iter().map(|entry| webhook_refusals::ActiveModel {
                webhook_id: Set(DbId(entry.hook)),
                minute: Set(minute_of(entry.last_at)),
                workspace_id: Set(DbId(entry.workspace)),
                calls: Set(entry.calls.try_into().unwrap_or(i64::MAX)),
                code: Set(entry.code.to_owned()),
                last_at: Set(DbTime(entry.last_at)),
            });
            let added = OnConflict::columns([Column::WebhookId, Column::Minute])
                .value(Column::Calls, stored(Column::Calls).add(new(Column::Calls)))
                .update_columns([Column::Code, Column::LastAt])
                .to_owned();
            webhook_refusals::Entity::insert_many(rows)
                .on_conflict(added)
                .exec_without_returning(&*self.write().await?)
                .await
                .or_store_error()?;
        }
        Ok(())
    }

    async fn refused_calls(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        since: Timestamp,
    ) -> Result<Option<RefusedCalls>, StoreError> {
        use webhook_refusals::Column;
        // At most one row a minute. An index by workspace would find those of all its webhooks.
        let mut minutes = webhook_refusals::Entity::find()
            .filter(Column::WebhookId.eq(DbId(hook)))
            .filter(Column::Minute.gt(minute_of(since)))
            .order_by_desc(Column::Minute)
            .all(self.read())
            .await
            .or_store_error()?;
        minutes.retain(|minute| minute.workspace_id.0 == workspace);
        let mut calls = 0_u64;
        for minute in &minutes {
            calls += RowContext::new("webhook_refusals", minute.webhook_id).number::<u64>(minute.calls)?;
        }
        let last = minutes.into_iter().next();
        Ok(last.map(|last| RefusedCalls { calls, last_at: last.last_at.0, code: last.code }))
    }
}
