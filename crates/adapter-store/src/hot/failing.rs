//! Apps that fail again and again: how many of an app's runs have failed since one succeeded.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{StoreError, id::RunId};
use runs::queue::{Conclusion, FinishedRun};
use uuid::Uuid;

use crate::sql::{Db, Sql, column, pieces};

/// With how many failures in a row followers are told.
pub(crate) const MANY: i64 = 3;

/// What the ends of a batch say of one app.
#[derive(Default)]
struct Tally {
    succeeded: bool,
    /// Since the last success of the batch.
    failed: Vec<RunId>,
}

/// Counts the ends of a batch; the runs with which an app has failed so often in a row that followers are told. They are
/// told once, until a run of the app succeeds.
pub(super) async fn count<D: Db>(db: &D, ours: &[&FinishedRun]) -> Result<BTreeSet<RunId>, StoreError> {
    // In the order of the ids: two that count for the same apps wait for each other one way only.
    let mut apps: BTreeMap<Uuid, Tally> = BTreeMap::new();
    for run in ours {
        match run.conclusion {
            Conclusion::Succeeded => {
                let succeeded = Tally { succeeded: true, failed: Vec::new() };
                apps.insert(run.app.uuid(), succeeded);
            }
            Conclusion::Failed(_) | Conclusion::Blocked(_) => {
                apps.entry(run.app.uuid()).or_default().failed.push(run.id);
            }
            Conclusion::Retry { .. } | Conclusion::Wait { .. } => {}
        }
    }
    let succeeded: Vec<Uuid> =
        apps.iter().filter(|(_, tally)| tally.succeeded).map(|(app, _)| *app).collect();
    for apps in pieces(db, &succeeded) {
        let mut sql = Sql::new("DELETE FROM app_failures WHERE app_id IN (");
        sql.bind_all(apps.iter().copied()).push(")");
        sql.execute(db).await?;
    }
    let failed: Vec<(Uuid, i64)> = apps
        .iter()
        .filter(|(_, tally)| !tally.failed.is_empty())
        .map(|(app, tally)| (*app, tally.failed.len() as i64))
        .collect();
    let mut telling = BTreeSet::new();
    for counts in pieces(db, &failed) {
        let mut sql = Sql::new("INSERT INTO app_failures (app_id, in_a_row) VALUES ");
        sql.rows(counts, |sql, (app, count)| {
            sql.bind(*app).push(", ").bind(*count);
        });
        sql.push(
            " ON CONFLICT (app_id) DO UPDATE SET in_a_row = app_failures.in_a_row + excluded.in_a_row \
             RETURNING app_id, in_a_row",
        );
        for row in sql.all(db).await? {
            let (app, after): (Uuid, i64) = (column(&row, 0)?, column(&row, 1)?);
            let Some(tally) = apps.get(&app) else { continue };
            let before = after - tally.failed.len() as i64;
            let at = usize::try_from(MANY - 1 - before).ok();
            telling.extend(at.and_then(|at| tally.failed.get(at)));
        }
    }
    Ok(telling)
}
