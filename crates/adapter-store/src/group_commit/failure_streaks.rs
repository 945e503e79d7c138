//! Apps and automations that fail again and again: how many of their runs have failed since one succeeded.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Id, StoreError, id::RunId};
use runs::queue::{AttemptOutcome, FinishedRun};
use uuid::Uuid;

use crate::sql::{Sql, SqlExecutor, column, statement_chunks_for};

/// Failures in a row at which followers are alerted.
pub(crate) const ALERT_AFTER_FAILURES: i64 = 3;

/// The runs with which an app or an automation has failed so often in a row that followers are alerted.
#[derive(Default)]
pub(super) struct FailureAlerts {
    pub(super) apps: BTreeSet<RunId>,
    pub(super) automations: BTreeSet<RunId>,
}

/// Counts the ends of a batch. Each app and automation alerts once, until a run succeeds.
pub(super) async fn count_failures<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
) -> Result<FailureAlerts, StoreError> {
    let apps =
        count_failures_by(db, finished, ("app_failures", "app_id"), |run| Some(run.app.uuid())).await?;
    let of_automation = |run: &FinishedRun| run.automation.map(Id::uuid);
    let automations =
        count_failures_by(db, finished, ("automation_failures", "automation_id"), of_automation).await?;
    Ok(FailureAlerts { apps, automations })
}

/// The ends of a batch for one app or automation.
#[derive(Default)]
struct FailureStreak {
    has_succeeded: bool,
    /// Since the last success of the batch.
    failed_runs: Vec<RunId>,
}

/// The runs with which one of those that `key` tells apart comes to fail for the third time in a row.
async fn count_failures_by<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
    (table, column_name): (&str, &str),
    key: impl Fn(&FinishedRun) -> Option<Uuid>,
) -> Result<BTreeSet<RunId>, StoreError> {
    // In the order of the ids: two that count for the same ones wait for each other one way only.
    let mut streaks: BTreeMap<Uuid, FailureStreak> = BTreeMap::new();
    for (run, key) in finished.iter().filter_map(|run| Some((run, key(run)?))) {
        match run.outcome {
            AttemptOutcome::Succeeded => {
                let succeeded = FailureStreak { has_succeeded: true, failed_runs: Vec::new() };
                streaks.insert(key, succeeded);
            }
            AttemptOutcome::Failed(_) | AttemptOutcome::Blocked(_) => {
                streaks.entry(key).or_default().failed_runs.push(run.id);
            }
            AttemptOutcome::Retry { .. } | AttemptOutcome::Wait { .. } => {}
        }
    }
    let succeeded: Vec<Uuid> =
        streaks.iter().filter(|(_, tally)| tally.has_succeeded).map(|(key, _)| *key).collect();
    for apps in statement_chunks_for(db, &succeeded) {
        let mut sql = Sql::new("DELETE FROM ");
        sql.push(table).push(" WHERE ").push(column_name).push(" IN (");
        sql.bind_all(apps.iter().copied()).push(")");
        sql.execute(db).await?;
    }
    let failed: Vec<(Uuid, i64)> = streaks
        .iter()
        .filter(|(_, tally)| !tally.failed_runs.is_empty())
        .map(|(app, tally)| (*app, tally.failed_runs.len() as i64))
        .collect();
    let mut alerting = BTreeSet::new();
    for counts in statement_chunks_for(db, &failed) {
        let mut sql = Sql::new("INSERT INTO ");
        sql.push(table).push(" (").push(column_name).push(", in_a_row) VALUES ");
        sql.push_values(counts, |sql, (app, count)| {
            sql.bind(*app).push(", ").bind(*count);
        });
        sql.push(" ON CONFLICT (").push(column_name).push(") DO UPDATE SET in_a_row = ").push(table);
        sql.push(".in_a_row + excluded.in_a_row RETURNING ").push(column_name).push(", in_a_row");
        for row in sql.fetch_all(db).await? {
            let (app, after): (Uuid, i64) = (column(&row, 0)?, column(&row, 1)?);
            let Some(tally) = streaks.get(&app) else { continue };
            let before = after - tally.failed_runs.len() as i64;
            let at = usize::try_from(ALERT_AFTER_FAILURES - 1 - before).ok();
            alerting.extend(at.and_then(|at| tally.failed_runs.get(at)));
        }
    }
    Ok(alerting)
}
