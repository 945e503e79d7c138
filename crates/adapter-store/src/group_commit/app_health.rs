//! The health of apps, from the ends of runs in a batch; failures in a row are counted elsewhere.

use std::collections::{BTreeMap, HashMap};

use kernel::{Id, StoreError, Timestamp, id::AppId};
use runs::queue::{AttemptOutcome, FinishedRun};
use uuid::Uuid;

use crate::{
    convert::millis,
    sql::{Sql, SqlExecutor, statement_chunks_for},
};

/// Milliseconds of a quarter of an hour.
const QUARTER_MILLIS: i64 = 15 * 60 * 1000;

/// Milliseconds for which an observation is not written again.
const OBSERVATION_INTERVAL_MILLIS: i64 = 60 * 1000;

/// Apps that a writer remembers; beyond them it begins anew.
const MAX_REMEMBERED_APPS: usize = 16 * 1024;

/// Returns the quarter of an hour of a time, in quarters since 1970.
pub(crate) fn quarter_of(at: Timestamp) -> i64 {
    millis(at).div_euclid(QUARTER_MILLIS)
}

/// The observations that a writer wrote last, so that one is written at most once a minute for each app.
#[derive(Default)]
pub(super) struct ObservationCache(HashMap<AppId, i64>);

impl ObservationCache {
    fn is_due(&self, app: AppId, at: i64) -> bool {
        self.0.get(&app).is_none_or(|last| at - last >= OBSERVATION_INTERVAL_MILLIS)
    }

    /// Remembers what was committed.
    pub(super) fn insert_committed(&mut self, observed: &[Observation]) {
        if self.0.len() + observed.len() > MAX_REMEMBERED_APPS {
            self.0.clear();
        }
        self.0.extend(observed.iter().map(|observation| (observation.app, observation.at)));
    }
}

/// A run of an app that ended well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    app: AppId,
    workspace: Uuid,
    at: i64,
}

/// Writes when apps were observed, and returns what it wrote.
pub(super) async fn record_observations<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
    cache: &ObservationCache,
) -> Result<Vec<Observation>, StoreError> {
    // In the order of the ids: two that write for the same apps wait for each other one way only.
    let mut observed: BTreeMap<AppId, Observation> = BTreeMap::new();
    for run in finished.iter().filter(|run| matches!(run.outcome, AttemptOutcome::Succeeded)) {
        let (app, at) = (run.app, millis(run.at));
        if cache.is_due(app, at) {
            let observation = Observation { app, workspace: run.workspace.uuid(), at };
            let last = observed.entry(app).or_insert(observation);
            last.at = last.at.max(at);
        }
    }
    let observed: Vec<Observation> = observed.into_values().collect();
    for chunk in statement_chunks_for(db, &observed) {
        let mut sql = Sql::new("INSERT INTO app_observations (app_id, workspace_id, observed_at) VALUES ");
        sql.push_values(chunk, |sql, observation| {
            sql.bind(observation.app.uuid()).push(", ").bind(observation.workspace);
            sql.push(", ").bind(observation.at);
        });
        sql.push(
            " ON CONFLICT (app_id) DO UPDATE SET observed_at = excluded.observed_at \
             WHERE excluded.observed_at > app_observations.observed_at",
        );
        sql.execute(db).await?;
    }
    Ok(observed)
}

/// Counts the runs that were blocked.
pub(super) async fn count_blocked_runs<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
) -> Result<(), StoreError> {
    let mut blocked: BTreeMap<(Uuid, Uuid, i64), i64> = BTreeMap::new();
    for run in finished.iter().filter(|run| matches!(run.outcome, AttemptOutcome::Blocked(_))) {
        let key = (run.workspace.uuid(), Id::uuid(run.app), quarter_of(run.at));
        *blocked.entry(key).or_default() += 1;
    }
    let blocked: Vec<_> = blocked.into_iter().collect();
    for chunk in statement_chunks_for(db, &blocked) {
        let mut sql = Sql::new("INSERT INTO app_blocked_runs (workspace_id, app_id, quarter, runs) VALUES ");
        sql.push_values(chunk, |sql, ((workspace, app, quarter), runs)| {
            sql.bind(*workspace).push(", ").bind(*app).push(", ").bind(*quarter).push(", ").bind(*runs);
        });
        sql.push(
            " ON CONFLICT (workspace_id, app_id, quarter) DO UPDATE SET \
             runs = app_blocked_runs.runs + excluded.runs",
        );
        sql.execute(db).await?;
    }
    Ok(())
}
