//! Daily limit of the log that an app's responses over HTTP leave: anonymous visitors cause it.

use ::workspace::Plan;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, WorkspaceId},
};
use observability::{LogLevel, LogSource, NewLogLine};

use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use crate::{
    entity::{
        app_log_volume::{self, Column},
        column::{DbId, DbText},
        workspaces,
    },
    error::OrStoreError as _,
    tx::StoreTx,
};

/// Returns the lines that still fit into the app's day; the last of them says that the day is full, once.
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
    let row = app_log_volume::ActiveModel {
        app_id: Set(DbId(app)),
        day: Set(day),
        bytes: Set(i64::try_from(wanted).unwrap_or(i64::MAX)),
    };
    let stored = Expr::col((app_log_volume::Entity, Column::Bytes));
    let add = OnConflict::columns([Column::AppId, Column::Day])
        .value(Column::Bytes, stored.add(Expr::col(("excluded", Column::Bytes))))
        .to_owned();
    let counted = app_log_volume::Entity::insert(row)
        .on_conflict(add)
        .exec_with_returning(tx.write())
        .await
        .or_store_error()?;
    let after = u64::try_from(counted.bytes).unwrap_or(u64::MAX);
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
    app_log_volume::Entity::update_many()
        .col_expr(Column::Bytes, Expr::value(i64::try_from(Ord::max(daily_limit, after)).unwrap_or(i64::MAX)))
        .filter(Column::AppId.eq(DbId(app)))
        .filter(Column::Day.eq(day))
        .exec(tx.write())
        .await
        .or_store_error()?;
    Ok(lines)
}

/// A workspace's plan.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "workspaces::Entity")]
struct PlanRow {
    plan: DbText<Plan>,
}

async fn load_plan(tx: &mut StoreTx, workspace: WorkspaceId) -> Result<Plan, StoreError> {
    let found = workspaces::Entity::find_by_id(workspace)
        .into_partial_model::<PlanRow>()
        .one(tx.read())
        .await
        .or_store_error()?;
    Ok(found.map_or(Plan::Free, |found| found.plan.0))
}
