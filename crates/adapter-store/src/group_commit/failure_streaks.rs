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
    let of_app = |run: &FinishedRun| Some(run.app.uuid());
    let apps = count_failures_by(db, finished, &APP_FAILURES, of_app).await?;
    let of_automation = |run: &FinishedRun| run.automation.map(Id::uuid);
    let automations = count_failures_by(db, finished, &AUTOMATION_FAILURES, of_automation).await?;
    Ok(FailureAlerts { apps, automations })
}

/// A table of failures in a row.
struct FailureTable {
    name: &'static str,
    /// Column of what fails, the primary key.
    key: &'static str,
    /// True if a column names the app too.
    names_app: bool,
}

const APP_FAILURES: FailureTable = FailureTable { name: "app_failures", key: "app_id", names_app: false };
const AUTOMATION_FAILURES: FailureTable =
    FailureTable { name: "automation_failures", key: "automation_id", names_app: true };

/// The ends of a batch for one app or automation.
struct FailureStreak {
    workspace: Uuid,
    app: Uuid,
    has_succeeded: bool,
    /// Since the last success of the batch.
    failed_runs: Vec<RunId>,
}

/// The runs with which one of those that `key` tells apart comes to fail for the third time in a row.
async fn count_failures_by<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
    table: &FailureTable,
    key: impl Fn(&FinishedRun) -> Option<Uuid>,
) -> Result<BTreeSet<RunId>, StoreError> {
    // In the order of the ids: two that count for the same ones wait for each other one way only.
    let mut streaks: BTreeMap<Uuid, FailureStreak> = BTreeMap::new();
    for (run, key) in finished.iter().filter_map(|run| Some((run, key(run)?))) {
        let (workspace, app) = (run.workspace.uuid(), run.app.uuid());
        let new = |has_succeeded| FailureStreak { workspace, app, has_succeeded, failed_runs: Vec::new() };
        match run.outcome {
            AttemptOutcome::Succeeded => {
                streaks.insert(key, new(true));
            }
            AttemptOutcome::Failed(_) | AttemptOutcome::Blocked(_) => {
                streaks.entry(key).or_insert_with(|| new(false)).failed_runs.push(run.id);
            }
            AttemptOutcome::Retry { .. } | AttemptOutcome::Wait { .. } => {}
        }
    }
    let succeeded: Vec<Uuid> =
        streaks.iter().filter(|(_, tally)| tally.has_succeeded).map(|(key, _)| *key).collect();
    for apps in statement_chunks_for(db, &succeeded) {
        let mut sql = Sql::new("DELETE FROM ");
        sql.push(table.name).push(" WHERE ").push(table.key).push(" IN (");
        sql.bind_all(apps.iter().copied()).push(")");
        sql.execute(db).await?;
    }
    let failed: Vec<(Uuid, &FailureStreak)> = streaks
        .iter()
        .filter(|(_, streak)| !streak.failed_runs.is_empty())
        .map(|(key, streak)| (*key, streak))
        .collect();
    let mut alerting = BTreeSet::new();
    for counts in statement_chunks_for(db, &failed) {
        let mut sql = Sql::new("INSERT INTO ");
        sql.push(table.name).push(" (").push(table.key).push(", in_a_row, workspace_id");
        sql.push(if table.names_app { ", app_id) VALUES " } else { ") VALUES " });
        sql.push_values(counts, |sql, (key, streak)| {
            sql.bind(*key).push(", ").bind(streak.failed_runs.len() as i64);
            sql.push(", ").bind(streak.workspace);
            if table.names_app {
                sql.push(", ").bind(streak.app);
            }
        });
        // A row of a program that does not know the workspace gets it here.
        sql.push(" ON CONFLICT (").push(table.key).push(") DO UPDATE SET in_a_row = ").push(table.name);
        sql.push(".in_a_row + excluded.in_a_row, workspace_id = excluded.workspace_id");
        sql.push(if table.names_app { ", app_id = excluded.app_id" } else { "" });
        sql.push(" RETURNING ").push(table.key).push(", in_a_row");
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
