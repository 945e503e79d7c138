//! Apps and automations that fail again and again: how many of their runs have failed since one succeeded.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Id, StoreError, id::RunId};
use runs::queue::{Conclusion, FinishedRun};
use uuid::Uuid;

use crate::sql::{Db, Sql, column, pieces};

/// With how many failures in a row followers are told.
pub(crate) const MANY: i64 = 3;

/// The runs with which something has failed so often in a row that followers are told.
#[derive(Default)]
pub(super) struct Failing {
    pub(super) apps: BTreeSet<RunId>,
    pub(super) automations: BTreeSet<RunId>,
}

/// Counts the ends of a batch. Each is told once, until a run succeeds.
pub(super) async fn count<D: Db>(db: &D, ours: &[&FinishedRun]) -> Result<Failing, StoreError> {
    let apps = count_by(db, ours, ("app_failures", "app_id"), |run| Some(run.app.uuid())).await?;
    let of_automation = |run: &FinishedRun| run.automation.map(Id::uuid);
    let automations = count_by(db, ours, ("automation_failures", "automation_id"), of_automation).await?;
    Ok(Failing { apps, automations })
}

/// What the ends of a batch say of one of them.
#[derive(Default)]
struct Tally {
    succeeded: bool,
    /// Since the last success of the batch.
    failed: Vec<RunId>,
}

/// The runs with which one of those that `key` tells apart comes to fail for the third time in a row.
async fn count_by<D: Db>(
    db: &D,
    ours: &[&FinishedRun],
    (table, column_name): (&str, &str),
    key: impl Fn(&FinishedRun) -> Option<Uuid>,
) -> Result<BTreeSet<RunId>, StoreError> {
    // In the order of the ids: two that count for the same ones wait for each other one way only.
    let mut tallies: BTreeMap<Uuid, Tally> = BTreeMap::new();
    for (run, key) in ours.iter().filter_map(|run| Some((run, key(run)?))) {
        match run.conclusion {
            Conclusion::Succeeded => {
                let succeeded = Tally { succeeded: true, failed: Vec::new() };
                tallies.insert(key, succeeded);
            }
            Conclusion::Failed(_) | Conclusion::Blocked(_) => {
                tallies.entry(key).or_default().failed.push(run.id);
            }
            Conclusion::Retry { .. } | Conclusion::Wait { .. } => {}
        }
    }
    let succeeded: Vec<Uuid> =
        tallies.iter().filter(|(_, tally)| tally.succeeded).map(|(key, _)| *key).collect();
    for apps in pieces(db, &succeeded) {
        let mut sql = Sql::new("DELETE FROM ");
        sql.push(table).push(" WHERE ").push(column_name).push(" IN (");
        sql.bind_all(apps.iter().copied()).push(")");
        sql.execute(db).await?;
    }
    let failed: Vec<(Uuid, i64)> = tallies
        .iter()
        .filter(|(_, tally)| !tally.failed.is_empty())
        .map(|(app, tally)| (*app, tally.failed.len() as i64))
        .collect();
    let mut telling = BTreeSet::new();
    for counts in pieces(db, &failed) {
        let mut sql = Sql::new("INSERT INTO ");
        sql.push(table).push(" (").push(column_name).push(", in_a_row) VALUES ");
        sql.rows(counts, |sql, (app, count)| {
            sql.bind(*app).push(", ").bind(*count);
        });
        sql.push(" ON CONFLICT (").push(column_name).push(") DO UPDATE SET in_a_row = ").push(table);
        sql.push(".in_a_row + excluded.in_a_row RETURNING ").push(column_name).push(", in_a_row");
        for row in sql.all(db).await? {
            let (app, after): (Uuid, i64) = (column(&row, 0)?, column(&row, 1)?);
            let Some(tally) = tallies.get(&app) else { continue };
            let before = after - tally.failed.len() as i64;
            let at = usize::try_from(MANY - 1 - before).ok();
            telling.extend(at.and_then(|at| tally.failed.get(at)));
        }
    }
    Ok(telling)
}
