//! Metrics of apps.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::observability::{
    AppMetrics, Histogram, MetricsLog, MetricsRead, Resolution,
    metrics::{MetricsEntry, MetricsInterval, MetricsQuery},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, NodeId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use crate::{
    convert::RowContext,
    entity::{
        app_metrics::{self, Column},
        app_observations,
        column::{DbId, DbNumber, DbTime},
    },
    error::OrStoreError as _,
    store::Store,
};

/// What stands in one row of a node, beside the node.
type Interval = (AppId, Resolution, Timestamp);

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn metrics_of(row: &app_metrics::Model) -> Result<AppMetrics, StoreError> {
    let context = RowContext::new("app_metrics", row.app_id);
    let histogram = |bytes: &[u8]| Histogram::decode(bytes).map_err(|error| context.error(error));
    Ok(AppMetrics {
        requests: context.number(row.requests)?,
        failed_requests: context.number(row.failed_requests)?,
        runs: context.number(row.runs)?,
        failed_runs: context.number(row.failed_runs)?,
        retried_attempts: context.number(row.retried_attempts)?,
        request_cpu_micros: context.number(row.request_cpu_micros)?,
        run_cpu_micros: context.number(row.run_cpu_micros)?,
        request_durations: histogram(&row.request_durations)?,
        run_durations: histogram(&row.run_durations)?,
    })
}

fn row_of(
    node: NodeId,
    (app, resolution, at): Interval,
    (workspace, metrics): &(WorkspaceId, AppMetrics),
) -> app_metrics::ActiveModel {
    app_metrics::ActiveModel {
        app_id: Set(DbId(app)),
        resolution: Set(DbNumber(resolution)),
        at: Set(DbTime(at)),
        node_id: Set(DbId(node)),
        workspace_id: Set(DbId(*workspace)),
        requests: Set(to_i64(metrics.requests)),
        failed_requests: Set(to_i64(metrics.failed_requests)),
        runs: Set(to_i64(metrics.runs)),
        failed_runs: Set(to_i64(metrics.failed_runs)),
        retried_attempts: Set(to_i64(metrics.retried_attempts)),
        request_cpu_micros: Set(to_i64(metrics.request_cpu_micros)),
        run_cpu_micros: Set(to_i64(metrics.run_cpu_micros)),
        request_durations: Set(metrics.request_durations.encode()),
        run_durations: Set(metrics.run_durations.encode()),
    }
}

/// Replaces a row of the node.
fn replace_metrics() -> OnConflict {
    OnConflict::columns([Column::AppId, Column::Resolution, Column::At, Column::NodeId])
        .update_columns([
            Column::Requests,
            Column::FailedRequests,
            Column::Runs,
            Column::FailedRuns,
            Column::RetriedAttempts,
            Column::RequestCpuMicros,
            Column::RunCpuMicros,
            Column::RequestDurations,
            Column::RunDurations,
        ])
        .to_owned()
}

impl Store {
    /// Writes when apps responded well, to the minute.
    async fn record_responses(&self, entries: &[MetricsEntry]) -> Result<(), StoreError> {
        use app_observations::Column;
        // In the order of the ids: two that write for the same apps wait for each other one way only.
        let mut responded: BTreeMap<AppId, (WorkspaceId, Timestamp)> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.has_responded) {
            let last = responded.entry(entry.app).or_insert((entry.workspace, entry.minute));
            last.1 = Ord::max(last.1, entry.minute);
        }
        if responded.is_empty() {
            return Ok(());
        }
        let observed_at = || Expr::col((app_observations::Entity, Column::ObservedAt));
        let is_newer = Expr::col(("excluded", Column::ObservedAt)).gt(observed_at());
        let newer = OnConflict::column(Column::AppId)
            .update_column(Column::ObservedAt)
            .action_and_where(is_newer)
            .to_owned();
        let rows = responded.into_iter().map(|(app, (workspace, at))| app_observations::ActiveModel {
            app_id: Set(DbId(app)),
            workspace_id: Set(DbId(workspace)),
            observed_at: Set(DbTime(at)),
        });
        app_observations::Entity::insert_many(rows)
            .on_conflict(newer)
            .exec_without_returning(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(())
    }
}

#[span_macros::traced]
#[async_trait]
impl MetricsLog for Store {
    async fn add_metrics(&self, node: NodeId, entries: &[MetricsEntry]) -> Result<(), StoreError> {
        let mut sums = HashMap::<Interval, (WorkspaceId, AppMetrics)>::new();
        for entry in entries {
            for resolution in Resolution::ALL {
                let interval = (entry.app, resolution, resolution.start_of(entry.minute));
                let sum = sums.entry(interval).or_insert_with(|| (entry.workspace, AppMetrics::default()));
                sum.1.merge(&entry.metrics);
            }
        }
        if sums.is_empty() {
            return Ok(());
        }
        // Before the counts: written twice it is the same, which they are not.
        self.record_responses(entries).await?;
        // Nobody else writes rows of this node, so none changes between the two statements.
        let apps: BTreeSet<_> = sums.keys().map(|(app, ..)| app.uuid()).collect();
        let starts: BTreeSet<_> = sums.keys().map(|(.., at)| *at).collect();
        let stored = app_metrics::Entity::find()
            .filter(Column::AppId.is_in(apps))
            .filter(Column::Resolution.is_in(Resolution::ALL.map(DbNumber)))
            .filter(Column::At.is_in(starts.into_iter().map(DbTime)))
            .filter(Column::NodeId.eq(DbId(node)))
            .all(self.read())
            .await
            .or_store_error()?;
        for row in stored {
            if let Some((_, sum)) = sums.get_mut(&(row.app_id.0, row.resolution.0, row.at.0)) {
                sum.merge(&metrics_of(&row)?);
            }
        }
        // One statement for all rows, so that what a failure leaves is what was there.
        app_metrics::Entity::insert_many(sums.iter().map(|(interval, sum)| row_of(node, *interval, sum)))
            .on_conflict(replace_metrics())
            .exec_without_returning(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(())
    }
}

#[span_macros::traced]
#[async_trait]
impl MetricsRead for Store {
    async fn app_metrics(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        query: MetricsQuery,
    ) -> Result<Vec<MetricsInterval>, StoreError> {
        let found = app_metrics::Entity::find()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::Resolution.eq(DbNumber(query.resolution())))
            .filter(Column::At.gte(DbTime(query.from())))
            .filter(Column::At.lt(DbTime(query.to())))
            .order_by_asc(Column::At)
            .all(self.read())
            .await
            .or_store_error()?;
        let mut intervals = Vec::<MetricsInterval>::new();
        for row in found {
            let (at, metrics) = (row.at.0, metrics_of(&row)?);
            match intervals.last_mut() {
                Some(last) if last.at == at => last.metrics.merge(&metrics),
                _ => intervals.push(MetricsInterval { at, metrics }),
            }
        }
        Ok(intervals)
    }
}
