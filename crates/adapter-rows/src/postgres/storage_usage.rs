//! The bytes that projects' rows take.
//!
//! The database tells them now and then; the number is kept: between two looks each write adds what it sends. A write of
//! a project that is not full never waits for a look, save the first one of a process.

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
    execute::{internal_error, to_store_error},
    schema,
};
use crate::write_size::ROW_OVERHEAD_BYTES;

/// The age from which on a number is looked at again, beside the writes.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// How long a project is believed to be full.
const FULL_FRESH_FOR: Duration = Duration::from_secs(1);
/// The most projects whose numbers are remembered.
const MAX_PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// An update of so many rows may write more than its values tell.
const BULK_ROWS: u64 = 100;
/// How many pages of a table are looked at, about.
const SAMPLED_PAGES: f64 = 400.0;
const PAGE_BYTES: f64 = 8192.0;

/// What is known of projects. A clone is the same.
#[derive(Clone, Debug)]
pub(super) struct StorageUsage(Arc<Mutex<LruCache<ProjectRef, ProjectUsage>>>);

#[derive(Clone, Copy, Debug)]
struct ProjectUsage {
    /// What the last look found.
    measured_bytes: u64,
    /// How much has been sent, from the first write on.
    sent_bytes: u64,
    /// How much of that had been sent as the last look began.
    sent_before: u64,
    measured_at: Instant,
    /// Whether somebody is looking.
    is_measuring: bool,
    /// Whether rows were taken away since.
    has_freed: bool,
}

impl ProjectUsage {
    /// What the last look found, and what was sent since it began.
    fn bytes(&self) -> u64 {
        self.measured_bytes.saturating_add(self.sent_bytes.saturating_sub(self.sent_before))
    }
}

/// When a look began: how much had been sent by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasurementStart(u64);

/// Whether a write fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CapacityCheck {
    /// It does.
    Fits,
    /// It does by a number that is old: whoever is told so looks again, beside it.
    FitsStale,
    /// It does not.
    Full,
    /// Nobody knows: it waits for a look.
    Unknown,
}

impl Default for StorageUsage {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MAX_PROJECTS))))
    }
}

impl StorageUsage {
    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, ProjectUsage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges a write that adds so many bytes, and adds them where it fits.
    pub(super) fn reserve(&self, project: &ProjectRef, limit: u64, adds: u64) -> CapacityCheck {
        let mut all = self.lock();
        let Some(known) = all.get_mut(project) else { return CapacityCheck::Unknown };
        let age = known.measured_at.elapsed();
        if known.bytes() >= limit {
            // What is sent may take less than its length: only a look can tell that a project is full.
            let stands = known.measured_bytes >= limit && age < FULL_FRESH_FOR && !known.has_freed;
            return if stands { CapacityCheck::Full } else { CapacityCheck::Unknown };
        }
        known.sent_bytes = known.sent_bytes.saturating_add(adds);
        if age < FRESH_FOR || known.is_measuring {
            return CapacityCheck::Fits;
        }
        known.is_measuring = true;
        CapacityCheck::FitsStale
    }

    /// Begins a look. What is sent from now on is added to what it finds.
    pub(super) fn begin_measurement(&self, project: &ProjectRef) -> MeasurementStart {
        MeasurementStart(self.lock().peek(project).map_or(0, |known| known.sent_bytes))
    }

    /// Keeps what a look found; nothing where it found nothing out, or another one began later.
    pub(super) fn record_measurement(
        &self,
        project: &ProjectRef,
        MeasurementStart(before): MeasurementStart,
        found: Option<u64>,
    ) {
        let mut all = self.lock();
        let last = all.get(project).copied();
        match (last, found) {
            (Some(last), Some(_)) if last.sent_before > before => {}
            (last, Some(found)) => {
                let sent = last.map_or(before, |last| last.sent_bytes.max(before));
                let known = ProjectUsage {
                    measured_bytes: found,
                    sent_bytes: sent,
                    sent_before: before,
                    measured_at: Instant::now(),
                    is_measuring: false,
                    has_freed: false,
                };
                all.put(project.clone(), known);
                return;
            }
            (_, None) => {}
        }
        if let Some(known) = all.get_mut(project) {
            known.is_measuring = false;
        }
    }

    /// Takes into account what a write did beyond what it sent.
    pub(super) fn record_write(&self, project: &ProjectRef, write: &Write, answer: &StatementResult) {
        let takes_away = write.max_stored_bytes.is_none();
        if answer.rows == 0 || write.rows.is_some() || !takes_away && answer.rows < BULK_ROWS {
            return;
        }
        if takes_away {
            self.record_rollback(project);
        } else {
            self.invalidate(project);
        }
    }

    /// Takes into account that rows which were counted have been taken back.
    pub(super) fn record_rollback(&self, project: &ProjectRef) {
        if let Some(known) = self.lock().get_mut(project) {
            known.has_freed = true;
        }
    }

    /// Forgets a project whose tables have changed.
    pub(super) fn invalidate(&self, project: &ProjectRef) {
        self.lock().pop(project);
    }
}

/// How many bytes the rows of a project take, with their indexes. What the files of its tables take is the answer where
/// that is below `enough`; beyond it, what rows that were deleted left behind is taken off.
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
    // By name, so that the tables of other projects are not looked through.
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
        // Pages have some room of their own, and values are aligned.
        let share = (1.1 * live / (*table).max(1) as f64).min(1.0);
        (*total as f64 * share) as u64
    });
    Ok(used.sum())
}

/// About how many bytes the rows of each table take, by some of its pages. The same pages are looked at while it has as many.
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

    /// Looks at a project, and finds so many bytes.
    fn record_bytes(stored: &StorageUsage, project: &ProjectRef, found: u64) {
        stored.record_measurement(project, stored.begin_measurement(project), Some(found));
    }

    #[test]
    fn what_is_sent_counts_until_the_next_look() {
        let (stored, project) = (StorageUsage::default(), project());
        assert_eq!(stored.reserve(&project, 100, 10), CapacityCheck::Unknown);
        record_bytes(&stored, &project, 50);
        assert_eq!(stored.reserve(&project, 100, 45), CapacityCheck::Fits);
        // The one that goes beyond the limit is let through, and the next one looks whether it really did.
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
    fn a_slow_look_forgets_nothing() {
        let (stored, project) = (StorageUsage::default(), project());
        let slow = stored.begin_measurement(&project);
        record_bytes(&stored, &project, 0);
        assert_eq!(stored.reserve(&project, 100, 60), CapacityCheck::Fits);
        // It began before what was sent, and found none of it.
        stored.record_measurement(&project, slow, Some(0));
        assert_eq!(stored.reserve(&project, 100, 60), CapacityCheck::Fits);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Unknown);
        let slow = stored.begin_measurement(&project);
        assert_eq!(stored.reserve(&project, 1_000, 200), CapacityCheck::Fits);
        record_bytes(&stored, &project, 320);
        // A later look has counted it already.
        stored.record_measurement(&project, slow, Some(120));
        assert_eq!(stored.reserve(&project, 300, 1), CapacityCheck::Full);
    }

    #[test]
    fn one_of_many_writes_looks_again() {
        let (stored, project) = (StorageUsage::default(), project());
        record_bytes(&stored, &project, 0);
        let long_ago = Instant::now().checked_sub(FRESH_FOR).unwrap();
        stored.lock().get_mut(&project).unwrap().measured_at = long_ago;
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::FitsStale);
        assert_eq!(stored.reserve(&project, 100, 1), CapacityCheck::Fits);
        // One that is full is looked at by whoever comes next.
        assert_eq!(stored.reserve(&project, 1, 1), CapacityCheck::Unknown);
    }
}
