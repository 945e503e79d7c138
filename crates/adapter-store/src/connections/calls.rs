//! Counts of requests by gate and five minutes.

use std::collections::HashMap;

use ::connections::{
    calls::{CallLog, CallLogEntry, CallSum},
    health::{Bucket, CallCounts},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{GateId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, FromQueryResult, QueryFilter as _, QuerySelect as _,
    sea_query::{Alias, CaseStatement, Expr, ExprTrait as _, OnConflict},
};

use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        gate_calls,
    },
    error::OrStoreError as _,
    store::Store,
};

/// Rows that one statement writes.
const CHUNK_ROWS: usize = 200;

/// Requests of a gate.
#[derive(FromQueryResult)]
struct SumRow {
    gate_id: DbId<kind::Gate>,
    calls: i64,
    errors: i64,
    blocked: i64,
    last_call_at: Option<DbTime>,
}

/// Adds up the requests of gates since the bucket of a time.
pub(super) async fn calls_of_day<C: ConnectionTrait>(
    db: &C,
    gates: &[GateId],
    since: Timestamp,
) -> Result<HashMap<GateId, CallSum>, StoreError> {
    let sum = |column: gate_calls::Column| {
        // `SUM` of bigints is a numeric in PostgreSQL.
        Expr::col(column).sum().cast_as("bigint")
    };
    let mut sums = HashMap::new();
    for gates in gates.chunks(CHUNK_ROWS) {
        let found = gate_calls::Entity::find()
            .select_only()
            .column(gate_calls::Column::GateId)
            .expr_as(sum(gate_calls::Column::Calls), "calls")
            .expr_as(sum(gate_calls::Column::Errors), "errors")
            .expr_as(sum(gate_calls::Column::Blocked), "blocked")
            .expr_as(Expr::col(gate_calls::Column::LastCallAt).max(), "last_call_at")
            .filter(gate_calls::Column::GateId.is_in(gates.iter().map(|gate| DbId(*gate))))
            .filter(gate_calls::Column::Bucket.gt(Bucket::of(since).0))
            .group_by(gate_calls::Column::GateId)
            .into_model::<SumRow>()
            .all(db)
            .await
            .or_store_error()?;
        for row in found {
            let context = RowContext::new("gate_calls", row.gate_id);
            let counts = CallCounts {
                calls: context.number(row.calls)?,
                errors: context.number(row.errors)?,
                blocked: context.number(row.blocked)?,
            };
            let last_call_at = row.last_call_at.map(DbTime::into_inner);
            sums.insert(row.gate_id.0, CallSum { counts, last_call_at });
        }
    }
    Ok(sums)
}

#[span_macros::traced]
#[async_trait]
impl CallLog for Store {
    async fn add_calls(&self, entries: &[CallLogEntry]) -> Result<(), StoreError> {
        let add = |column: gate_calls::Column| {
            let new = Expr::col((Alias::new("excluded"), column));
            (column, Expr::col((gate_calls::Entity, column)).add(new))
        };
        let stored = || Expr::col((gate_calls::Entity, gate_calls::Column::LastCallAt));
        let new = || Expr::col((Alias::new("excluded"), gate_calls::Column::LastCallAt));
        let last: Expr = CaseStatement::new()
            .case(stored().is_null().or(new().gt(stored())), new())
            .finally(stored())
            .into();
        for chunk in entries.chunks(CHUNK_ROWS) {
            let rows = chunk.iter().map(|entry| gate_calls::ActiveModel {
                gate_id: Set(DbId(entry.gate)),
                bucket: Set(entry.bucket.0),
                workspace_id: Set(DbId(entry.workspace)),
                calls: Set(entry.sum.counts.calls.try_into().unwrap_or(i64::MAX)),
                errors: Set(entry.sum.counts.errors.try_into().unwrap_or(i64::MAX)),
                blocked: Set(entry.sum.counts.blocked.try_into().unwrap_or(i64::MAX)),
                last_call_at: Set(entry.sum.last_call_at.map(DbTime)),
            });
            let added = OnConflict::columns([gate_calls::Column::GateId, gate_calls::Column::Bucket])
                .values([
                    add(gate_calls::Column::Calls),
                    add(gate_calls::Column::Errors),
                    add(gate_calls::Column::Blocked),
                    (gate_calls::Column::LastCallAt, last.clone()),
                ])
                .to_owned();
            gate_calls::Entity::insert_many(rows)
                .on_conflict(added)
                .exec_without_returning(&*self.write().await?)
                .await
                .or_store_error()?;
        }
        Ok(())
    }
}
