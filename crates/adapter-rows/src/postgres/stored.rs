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
    store::{Answer, Write},
};
use lru::LruCache;
use sqlx::{AssertSqlSafe, PgConnection};

use super::{
    run::{failed, internal},
    schema,
};
use crate::sent::ROW_BYTES;

/// The age from which on a number is looked at again, beside the writes.
const STANDS: Duration = Duration::from_secs(5);
/// How long a project is believed to be full.
const FULL_STANDS: Duration = Duration::from_secs(1);
/// The most projects whose numbers are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// An update of so many rows may write more than its values tell.
const MANY: u64 = 100;
/// How many pages of a table are looked at, about.
const SAMPLED_PAGES: f64 = 400.0;
const PAGE_BYTES: f64 = 8192.0;

/// What is known of projects. A clone is the same.
#[derive(Clone, Debug)]
pub(super) struct Stored(Arc<Mutex<LruCache<ProjectRef, Known>>>);

#[derive(Clone, Copy, Debug)]
struct Known {
    /// What the last look found.
    found: u64,
    /// How much has been sent, from the first write on.
    sent: u64,
    /// How much of that had been sent as the last look began.
    before: u64,
    at: Instant,
    /// Whether somebody is looking.
    asked: bool,
    /// Whether rows were taken away since.
    freed: bool,
}

impl Known {
    /// What the last look found, and what was sent since it began.
    fn bytes(&self) -> u64 {
        self.found.saturating_add(self.sent.saturating_sub(self.before))
    }
}

/// When a look began: how much had been sent by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun(u64);

/// Whether a write fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It does.
    Fits,
    /// It does by a number that is old: whoever is told so looks again, beside it.
    FitsByOld,
    /// It does not.
    Full,
    /// Nobody knows: it waits for a look.
    Unknown,
}

impl Default for Stored {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(REMEMBERED))))
    }
}

impl Stored {
    /// A panic elsewhere leaves a cache that is still whole: each change is one call.
    fn lock(&self) -> MutexGuard<'_, LruCache<ProjectRef, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges a write that adds so many bytes, and adds them where it fits.
    pub(super) fn judge(&self, project: &ProjectRef, limit: u64, adds: u64) -> Verdict {
        let mut all = self.lock();
        let Some(known) = all.get_mut(project) else { return Verdict::Unknown };
        let age = known.at.elapsed();
        if known.bytes() >= limit {
            // What is sent may take less than its length: only a look can tell that a project is full.
            let stands = known.found >= limit && age < FULL_STANDS && !known.freed;
            return if stands { Verdict::Full } else { Verdict::Unknown };
        }
        known.sent = known.sent.saturating_add(adds);
        if age < STANDS || known.asked {
            return Verdict::Fits;
        }
        known.asked = true;
        Verdict::FitsByOld
    }

    /// Begins a look. What is sent from now on is added to what it finds.
    pub(super) fn begin(&self, project: &ProjectRef) -> Begun {
        Begun(self.lock().peek(project).map_or(0, |known| known.sent))
    }

    /// Keeps what a look found; nothing where it found nothing out, or another one began later.
    pub(super) fn learn(&self, project: &ProjectRef, Begun(before): Begun, found: Option<u64>) {
        let mut all = self.lock();
        let last = all.get(project).copied();
        match (last, found) {
            (Some(last), Some(_)) if last.before > before => {}
            (last, Some(found)) => {
                let sent = last.map_or(before, |last| last.sent.max(before));
                let known = Known { found, sent, before, at: Instant::now(), asked: false, freed: false };
                all.put(project.clone(), known);
                return;
            }
            (_, None) => {}
        }
        if let Some(known) = all.get_mut(project) {
            known.asked = false;
        }
    }

    /// Takes into account what a write did beyond what it sent.
    pub(super) fn written(&self, project: &ProjectRef, write: &Write, answer: &Answer) {
        let takes_away = write.max_stored.is_none();
        if answer.rows == 0 || write.rows.is_some() || !takes_away && answer.rows < MANY {
            return;
        }
        if takes_away {
            self.undone(project);
        } else {
            self.forget(project);
        }
    }

    /// Takes into account that rows which were counted have been taken back.
    pub(super) fn undone(&self, project: &ProjectRef) {
        if let Some(known) = self.lock().get_mut(project) {
            known.freed = true;
        }
    }

    /// Forgets a project whose tables have changed.
    pub(super) fn forget(&self, project: &ProjectRef) {
        self.lock().pop(project);
    }
}

/// How many bytes the rows of a project take, with their indexes. What the files of its tables take is the answer where
/// that is below `enough`; beyond it, what rows that were deleted left behind is taken off.
pub(super) async fn measure(
    connection: &mut PgConnection,
    project: &ProjectRef,
    enough: u64,
    keeps: bool,
) -> Result<u64, StoreError> {
    let catalog = schema::catalog(&mut *connection, project, keeps).await?.ok_or(StoreError::Stale)?;
    let name = schema::name(project);
    let tables: Vec<String> =
        catalog.tables.iter().map(|table| format!("\"{name}\".\"{}\"", table.name)).collect();
    // By name, so that the tables of other projects are not looked through.
    let sizes = "SELECT pg_total_relation_size(t.\"oid\"), pg_table_size(t.\"oid\"), pg_relation_size(t.\"oid\") \
        FROM unnest($1::text[]) WITH ORDINALITY AS n(\"name\", \"at\") \
        CROSS JOIN LATERAL (SELECT to_regclass(n.\"name\")) AS t(\"oid\") ORDER BY n.\"at\"";
    let sizes: Vec<(Option<i64>, Option<i64>, Option<i64>)> = sqlx::query_as(sizes)
        .bind(&tables)
        .persistent(keeps)
        .fetch_all(&mut *connection)
        .await
        .map_err(failed)?;
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
    let live = sampled(connection, &catalog, &tables, &sizes).await?;
    let used = sizes.iter().zip(live).map(|([total, table, _], live)| {
        // Pages have some room of their own, and values are aligned.
        let share = (1.1 * live / (*table).max(1) as f64).min(1.0);
        (*total as f64 * share) as u64
    });
    Ok(used.sum())
}

/// About how many bytes the rows of each table take, by some of its pages. The same pages are looked at while it has as many.
async fn sampled(
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
            let row: Vec<String> = columns.chain([ROW_BYTES.to_string()]).collect();
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
        sqlx::query_as(sql).persistent(false).fetch_all(connection).await.map_err(failed)?;
    for (at, bytes) in found {
        if let Some(live) = live.get_mut(usize::try_from(at).map_err(internal)?) {
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
    fn look(stored: &Stored, project: &ProjectRef, found: u64) {
        stored.learn(project, stored.begin(project), Some(found));
    }

    #[test]
    fn what_is_sent_counts_until_the_next_look() {
        let (stored, project) = (Stored::default(), project());
        assert_eq!(stored.judge(&project, 100, 10), Verdict::Unknown);
        look(&stored, &project, 50);
        assert_eq!(stored.judge(&project, 100, 45), Verdict::Fits);
        // The one that goes beyond the limit is let through, and the next one looks whether it really did.
        assert_eq!(stored.judge(&project, 100, 45), Verdict::Fits);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Unknown);
        look(&stored, &project, 140);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Full);
        assert_eq!(stored.judge(&project, 1_000, 1), Verdict::Fits);
        stored.learn(&project, stored.begin(&project), None);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Full);
        stored.undone(&project);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Unknown);
        stored.forget(&project);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Unknown);
    }

    #[test]
    fn a_slow_look_forgets_nothing() {
        let (stored, project) = (Stored::default(), project());
        let slow = stored.begin(&project);
        look(&stored, &project, 0);
        assert_eq!(stored.judge(&project, 100, 60), Verdict::Fits);
        // It began before what was sent, and found none of it.
        stored.learn(&project, slow, Some(0));
        assert_eq!(stored.judge(&project, 100, 60), Verdict::Fits);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Unknown);
        let slow = stored.begin(&project);
        assert_eq!(stored.judge(&project, 1_000, 200), Verdict::Fits);
        look(&stored, &project, 320);
        // A later look has counted it already.
        stored.learn(&project, slow, Some(120));
        assert_eq!(stored.judge(&project, 300, 1), Verdict::Full);
    }

    #[test]
    fn one_of_many_writes_looks_again() {
        let (stored, project) = (Stored::default(), project());
        look(&stored, &project, 0);
        let long_ago = Instant::now().checked_sub(STANDS).unwrap();
        stored.lock().get_mut(&project).unwrap().at = long_ago;
        assert_eq!(stored.judge(&project, 100, 1), Verdict::FitsByOld);
        assert_eq!(stored.judge(&project, 100, 1), Verdict::Fits);
        // One that is full is looked at by whoever comes next.
        assert_eq!(stored.judge(&project, 1, 1), Verdict::Unknown);
    }
}
