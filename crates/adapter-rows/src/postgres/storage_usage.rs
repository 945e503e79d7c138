//! The bytes that the rows of projects take.
//!
//! The database measures them now and then. The number is kept, and between two measurements each write adds what it
//! sends. A write to a project that is not full never waits for a measurement, except for the first one of a process.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend_data::{
    Catalog, ProjectRef, StoreError,
    store::{StatementResult, Write},
};
use lru::LruCache;
use sqlx::{AssertSqlSafe, PgConnection};

use super::{
    error::{internal_error, to_store_error},
    schema,
};
use crate::write_size::ROW_OVERHEAD_BYTES;

/// Age after which a measurement is repeated in the background.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// Age after which a full project is measured again before a write is refused.
const FULL_FRESH_FOR: Duration = Duration::from_secs(1);
/// Maximum number of projects whose usage is kept.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// Number of rows from which on an update may write much more than the bytes that it sends.
const BULK_ROWS: u64 = 100;
/// Approximate number of pages of a table that are sampled.
const SAMPLED_PAGES: f64 = 400.0;
const PAGE_BYTES: f64 = 8192.0;

/// The usage of projects. A clone shares it.
#[derive(Clone, Debug)]
pub(super) struct StorageUsage(Arc<Mutex<LruCache<ProjectRef, ProjectUsage>>>);

#[derive(Clone, Copy, Debug)]
struct ProjectUsage {
    /// Bytes at the last measurement.
    measured_bytes: u64,
    /// Bytes that all writes sent.
    sent_bytes: u64,
    /// The part of `sent_bytes` that was sent before the last measurement began.
    sent_before: u64,
    measured_at: Instant,
    /// True while a measurement runs in the background.
    is_measuring: bool,
    /// True if rows were removed since the last measurement.
    has_freed: bool,
}

impl ProjectUsage {
    /// Returns the bytes at the last measurement and those that were sent since it began.
    fn bytes(&self) -> u64 {
        self.measured_bytes.saturating_add(self.sent_bytes.saturating_sub(self.sent_before))
    }
}

/// The start of a measurement: the bytes that had been sent by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasurementStart(u64);

/// The result of the check of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CapacityCheck {
    /// The write fits.
    Fits,
    /// The write fits by an old measurement. The caller repeats it in the background.
    FitsStale,
    /// The project is full.
    Full,
    /// The usage is not known. The write waits for a measurement.
    Unknown,
}

impl Default for StorageUsage {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MAX_PROJECTS))))
    }
}

impl StorageUsage {
    /// Locks the usage. A poisoned lock is no problem: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, ProjectUsage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a write that adds this number of bytes, and adds them if it fits.
    pub(super) fn reserve(&self, project: &ProjectRef, limit: u64, bytes: u64) -> CapacityCheck {
        let mut all = self.lock();
        let Some(usage) = all.get_mut(project) else { return CapacityCheck::Unknown };
        let age = usage.measured_at.elapsed();
        if usage.bytes() >= limit {
            // Sent bytes may take less when stored, so only a measurement shows that a project is full.
            let is_full = usage.measured_bytes >= limit && age < FULL_FRESH_FOR && !usage.has_freed;
            return if is_full { CapacityCheck::Full } else { CapacityCheck::Unknown };
        }
        usage.sent_bytes = usage.sent_bytes.saturating_add(bytes);
        if age < FRESH_FOR || usage.is_measuring {
            return CapacityCheck::Fits;
        }
        usage.is_measuring = true;
        CapacityCheck::FitsStale
    }

    /// Starts a measurement. Bytes that are sent from now on are added to its result.
    pub(super) fn begin_measurement(&self, project: &ProjectRef) -> MeasurementStart {
        MeasurementStart(self.lock().peek(project).map_or(0, |usage| usage.sent_bytes))
    }

    /// Records the result of a measurement, unless it failed or another one that began later was recorded.
    pub(super) fn record_measurement(
        &self,
        project: &ProjectRef,
        MeasurementStart(before): MeasurementStart,
        measured: Option<u64>,
    ) {
        let mut all = self.lock();
        let last = all.get(project).copied();
        match (last, measured) {
            (Some(last), Some(_)) if last.sent_before > before => {}
            (last, Some(measured)) => {
                let sent = last.map_or(before, |last| last.sent_bytes.max(before));
                let usage = ProjectUsage {
                    measured_bytes: measured,
                    sent_bytes: sent,
                    sent_before: before,
                    measured_at: Instant::now(),
                    is_measuring: false,
                    has_freed: false,
                };
                all.put(project.clone(), usage);
                return;
            }
            (_, None) => {}
        }
        if let Some(usage) = all.get_mut(project) {
            usage.is_measuring = false;
        }
    }

    /// Accounts for a write that removed rows, or stored more than it sent.
    pub(super) fn record_write(&self, project: &ProjectRef, write: &Write, result: &StatementResult) {
        let removes = write.max_stored_bytes.is_none();
        if result.rows == 0 || write.rows.is_some() || !removes && result.rows < BULK_ROWS {
            return;
        }
        if removes {
            self.record_rollback(project);
        } else {
            self.invalidate(project);
        }
    }

    /// Accounts for rows that were counted and then removed, or rolled back.
    pub(super) fn record_rollback(&self, project: &ProjectRef) {
        if let Some(usage) = self.lock().get_mut(project) {
            usage.has_freed = true;
        }
    }

    /// Drops the measurement of a project whose tables have changed.
    pub(super) fn invalidate(&self, project: &ProjectRef) {
        self.lock().pop(project);
    }
}

/// Measures the bytes that the rows of a project take, with their indexes: the size of the files of its tables if that
/// is less than `enough`, otherwise without the estimated space that deleted rows left.
pub(super) async fn measure_bytes(
    connection: &mut PgConnection,
    project: &ProjectRef,
    enough: u64,
    is_persistent: bool,
) -> Result<u64, StoreError> {
    let catalog =
        schema::catalog(&mut *connection, project, is_persistent).await?.ok_or(StoreError::Stale)?;
    let name = schema::schema_name(project);
    let tables: Vec<String> =
        catalog.tables.iter().map(|table| format!("\"{name}\".\"{}\"", table.name)).collect();
    // By name, so that the query does not look at the tables of other projects.
    let sizes = "SELECT pg_total_relation_size(t.\"oid\"), pg_table_size(t.\"oid\"), pg_relation_size(t.\"oid\") \
        FROM unnest($1::text[]) WITH ORDINALITY AS n(\"name\", \"at\") \
        CROSS JOIN LATERAL (SELECT to_regclass(n.\"name\")) AS t(\"oid\") ORDER BY n.\"at\"";
    let sizes: Vec<(Option<i64>, Option<i64>, Option<i64>)> = sqlx::query_as(sizes)
        .bind(&tables)
        .persistent(is_persistent)
        .fetch_all(&mut *connection)
        .await
        .map_err(to_store_error)?;
    let sizes: Vec<[u64; 3]> = sizes
        .into_iter()
        .map(|(total, table, heap)| {
            [total, table, heap].map(|size| u64::try_from(size.unwrap_or_default()).unwrap_or_default())
        })
        .collect();
    let total: u64 = sizes.iter().map(|[total, ..]| total).sum();
    if total < enough {
        return Ok(total);
    }
    let live = sample_live_bytes(connection, &catalog, &tables, &sizes).await?;
    let used = sizes.iter().zip(live).map(|([total, table, _], live)| {
        // Pages have headers and free space, and values are aligned.
        let share = (1.1 * live / (*table).max(1) as f64).min(1.0);
        (*total as f64 * share) as u64
    });
    Ok(used.sum())
}

/// Estimates the bytes that the rows of each table take from a sample of its pages. The sample stays the same while the
/// table has the same number of pages.
async fn sample_live_bytes(
    connection: &mut PgConnection,
    catalog: &Catalog,
    names: &[String],
    sizes: &[[u64; 3]],
) -> Result<Vec<f64>, StoreError> {
    let parts = catalog.tables.iter().zip(names).zip(sizes).enumerate();
    let parts = parts.filter(|(_, (_, [.., heap]))| *heap > 0);
    let parts: Vec<String> = parts
        .map(|(at, ((table, name), [.., heap]))| {
            let percent = (100.0 * SAMPLED_PAGES * PAGE_BYTES / *heap as f64).min(100.0);
            let columns = table
                .columns
                .iter()
                .map(|column| format!("coalesce(pg_column_size(\"{}\"), 0)", column.name));
            let row: Vec<String> = columns.chain([ROW_OVERHEAD_BYTES.to_string()]).collect();
            format!(
                "SELECT {at}::bigint, (coalesce(sum({}), 0) * {})::float8 \
                 FROM {name} TABLESAMPLE SYSTEM ({percent}) REPEATABLE (0)",
                row.join(" + "),
                100.0 / percent,
            )
        })
        .collect();
    let mut live = vec![0.0; sizes.len()];
    if parts.is_empty() {
        return Ok(live);
    }
    let sql = AssertSqlSafe(parts.join(" UNION ALL "));
    let found: Vec<(i64, f64)> =
        sqlx::query_as(sql).persistent(false).fetch_all(connection).await.map_err(to_store_error)?;
    for (at, bytes) in found {
        if let Some(live) = live.get_mut(usize::try_from(at).map_err(internal_error)?) {
            *live = bytes;
        }
    }
    Ok(live)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> ProjectRef {
        ProjectRef::new("p".parse().unwrap(), 0)
    }

    /// Records a measurement of this number of bytes.
    fn record_bytes(stored: &StorageUsage, project: &ProjectRef, measured: u64) {
        stored.record_measurement(project, stored.begin_measurement(project), Some(measured));
    }

    #[test]
    fn sent_bytes_count_until_the_next_measurement() {
        let (stored, project) = (StorageUsage::default(), project());
        assert_eq!(stored.reserve(&project, 100, 10), CapacityCheck::Unknown);
        record_bytes(&stored, &project, 50);
        assert_eq!(stored.reserve(&project, 100, 45), CapacityCheck::Fits);
        // The write that exceeds the limit is accepted, and the next one measures if it really did.
        assert_eq!(stored.reserve(&project, 100, 45), CapacityCheck::Fits);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Unknown);
        record_bytes(&stored, &project, 140);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Full);
        assert_eq!(stored.reserve(&project, 1_000, 1), CapacityCheck::Fits);
        stored.record_measurement(&project, stored.begin_measurement(&project), None);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Full);
        stored.record_rollback(&project);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Unknown);
        stored.invalidate(&project);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Unknown);
    }

    #[test]
    fn a_slow_measurement_keeps_what_was_sent_meanwhile() {
        let (stored, project) = (StorageUsage::default(), project());
        let slow = stored.begin_measurement(&project);
        record_bytes(&stored, &project, 0);
        assert_eq!(stored.reserve(&project, 100, 60), CapacityCheck::Fits);
        // It began before these bytes were sent, and does not include them.
        stored.record_measurement(&project, slow, Some(0));
        assert_eq!(stored.reserve(&project, 100, 60), CapacityCheck::Fits);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Unknown);
        let slow = stored.begin_measurement(&project);
        assert_eq!(stored.reserve(&project, 1_000, 200), CapacityCheck::Fits);
        record_bytes(&stored, &project, 320);
        // A measurement that began later has included them already.
        stored.record_measurement(&project, slow, Some(120));
        assert_eq!(stored.reserve(&project, 300, 1), CapacityCheck::Full);
    }

    #[test]
    fn one_of_many_writes_repeats_an_old_measurement() {
        let (stored, project) = (StorageUsage::default(), project());
        record_bytes(&stored, &project, 0);
        let long_ago = Instant::now().checked_sub(FRESH_FOR).unwrap();
        stored.lock().get_mut(&project).unwrap().measured_at = long_ago;
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::FitsStale);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Fits);
        // The next write measures a project that seems to be full.
        assert_eq!(stored.reserve(&project, 1, 1), CapacityCheck::Unknown);
    }
}
