//! Ends of attempts: a whole batch is written in a handful of statements.

use std::collections::BTreeSet;

use kernel::{
    StoreError, Timestamp,
    id::{AutomationId, NodeId},
};
use observability::{LogLevel, LogSource, NewLogLine};
use runs::{
    RunStatus,
    approvals::{ApprovalState, LIFETIME},
    engine,
    queue::{AttemptOutcome, FinishedRun, RunFault},
};
use uuid::Uuid;

use super::{
    app_health::{self, Observation, ObservationCache},
    concurrency::promote_waiting_runs,
    dead_letters, event_triggers, failure_streaks,
};
use crate::{
    convert::{millis, to_json},
    observability::log_rows::LogRow,
    queue_sql::{AWAITING_APPROVAL, LEASED, READY},
    sql::{Fields, Sql, SqlExecutor, SqlRow, array_chunks_for, column, insert_rows, statement_chunks_for},
};

/// Outcome of a batch of ends.
#[derive(Default)]
pub(crate) struct FinishedBatch<'b> {
    /// For each attempt, whether its node still held the lease.
    pub(crate) lease_held: Vec<bool>,
    /// The ends of attempts whose lease was held.
    pub(crate) owned: Vec<&'b FinishedRun>,
    /// Runs that these ends started.
    pub(crate) triggered: Vec<event_triggers::TriggeredRun>,
    /// Runs with which an app or automation has failed so often in a row that followers are alerted.
    pub(super) alerts: failure_streaks::FailureAlerts,
    /// The observations of apps that were written.
    pub(super) observed: Vec<Observation>,
    /// True if runs may go on now that were held back before, or that these ends started.
    pub(crate) has_ready_runs: bool,
}

/// Writes the ends of attempts that are still their node's. Of their automations `limited` may hold runs back, and are locked.
pub(crate) async fn finish<'b, D: SqlExecutor>(
    db: &D,
    batch: &[(NodeId, &'b FinishedRun)],
    limited: &BTreeSet<AutomationId>,
    observations: &ObservationCache,
) -> Result<FinishedBatch<'b>, StoreError> {
    if batch.is_empty() {
        return Ok(FinishedBatch::default());
    }
    let mut dequeued = dequeue(db, batch).await?;
    // With its first end the run is nobody's any more.
    let lease_held: Vec<bool> = batch.iter().map(|(_, run)| dequeued.remove(&attempt_key(run))).collect();
    let owned: Vec<&FinishedRun> =
        batch.iter().zip(&lease_held).filter(|(_, held)| **held).map(|((_, run), _)| *run).collect();
    for run in &owned {
        insert_approval(db, run).await?;
    }
    update_runs(db, &owned).await?;
    insert_results(db, &owned).await?;
    dead_letters::insert_failed_runs(db, &owned).await?;
    let triggered = event_triggers::enqueue_triggered_runs(db, &owned).await?;
    let alerts = failure_streaks::count_failures(db, &owned).await?;
    let observed = app_health::record_observations(db, &owned, observations).await?;
    app_health::count_blocked_runs(db, &owned).await?;
    let limited: BTreeSet<AutomationId> =
        owned.iter().filter_map(|run| run.automation).filter(|id| limited.contains(id)).collect();
    let has_ready_runs = promote_waiting_runs(db, &limited).await? || !triggered.is_empty();
    Ok(FinishedBatch { lease_held, owned, triggered, alerts, observed, has_ready_runs })
}

/// A run, and which of its attempts.
type AttemptKey = (Uuid, i64);

fn attempt_key(run: &FinishedRun) -> AttemptKey {
    (run.id.uuid(), run.attempt.into())
}

/// Takes what is over out of the queue, and puts what is tried again back, so far as it is still its node's; which.
async fn dequeue<D: SqlExecutor>(
    db: &D,
    batch: &[(NodeId, &FinishedRun)],
) -> Result<BTreeSet<AttemptKey>, StoreError> {
    let (ended_attempts, requeued_attempts): (Vec<_>, Vec<_>) =
        batch.iter().partition(|(_, run)| run.outcome.is_final());
    let mut dequeued = BTreeSet::new();
    if db.prefers_single_rows() {
        let sql =
            "DELETE FROM run_queue WHERE run_id = $1 AND leased_by = $2 AND attempt = $3 AND state = $4";
        let rows: Vec<Fields<'_>> = ended_attempts
            .iter()
            .map(|(node, run)| {
                let (id, attempt) = attempt_key(run);
                Fields::new().with(id).with(node.uuid()).with(attempt).with(LEASED)
            })
            .collect();
        let gone = db.execute_many(sql.to_owned(), &rows).await?;
        let gone = ended_attempts.iter().zip(gone).filter(|(_, gone)| *gone);
        dequeued.extend(gone.map(|((_, run), _)| attempt_key(run)));
    } else if db.takes_arrays() {
        dequeued.extend(delete_ended(db, &ended_attempts).await?);
    } else {
        for over in statement_chunks_for(db, &ended_attempts) {
            let sql = Sql::new("DELETE FROM run_queue WHERE (");
            dequeued.extend(execute_for_lease_holders(db, sql, over).await?);
        }
    }
    for attempt in &requeued_attempts {
        let mut sql = Sql::new("UPDATE run_queue SET leased_by = NULL, leased_until = NULL, state = ");
        match &attempt.1.outcome {
            AttemptOutcome::Retry { at, .. } => sql.bind(READY).push(", available_at = ").bind(millis(*at)),
            _ => sql.bind(AWAITING_APPROVAL),
        };
        sql.push(" WHERE (");
        dequeued.extend(execute_for_lease_holders(db, sql, &[*attempt]).await?);
    }
    Ok(dequeued)
}

/// Takes the attempts that their nodes still hold out of the queue in PostgreSQL; which those are.
async fn delete_ended<D: SqlExecutor>(
    db: &D,
    attempts: &[(NodeId, &FinishedRun)],
) -> Result<BTreeSet<AttemptKey>, StoreError> {
    let rows = attempts.iter().map(|(node, run)| {
        let (id, attempt) = attempt_key(run);
        Fields::new().with(id).with(node.uuid()).with(attempt)
    });
    let rows: Vec<Fields<'_>> = rows.collect();
    if rows.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut sql = Sql::new("WITH ended (id, node, number) AS (");
    sql.push_rows(db, &rows).push(
        ") DELETE FROM run_queue q USING ended WHERE q.run_id = ended.id AND q.leased_by = ended.node \
         AND q.attempt = ended.number AND q.state = ",
    );
    sql.bind(LEASED).push(" RETURNING q.run_id, q.attempt");
    sql.fetch_all(db).await?.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
}

/// Runs a statement over the attempts that their nodes still hold; which those are.
async fn execute_for_lease_holders<D: SqlExecutor>(
    db: &D,
    mut sql: Sql,
    attempts: &[(NodeId, &FinishedRun)],
) -> Result<BTreeSet<AttemptKey>, StoreError> {
    for (index, (node, run)) in attempts.iter().enumerate() {
        sql.push(if index > 0 { " OR run_id = " } else { "run_id = " }).bind(run.id.uuid());
        sql.push(" AND leased_by = ").bind(node.uuid());
        sql.push(" AND attempt = ").bind(attempt_key(run).1);
    }
    sql.push(") AND state = ").bind(LEASED);
    let key = |row: &SqlRow| Ok((column(row, 0)?, column(row, 1)?));
    sql.execute_returning_keys(db, attempts, ("run_id, attempt", key), |(_, run)| attempt_key(run)).await
}

/// Keeps the question that a run waits for.
async fn insert_approval<D: SqlExecutor>(db: &D, run: &FinishedRun) -> Result<(), StoreError> {
    let AttemptOutcome::Wait { approval, number, question } = &run.outcome else { return Ok(()) };
    let mut sql = Sql::new(
        "INSERT INTO approvals (id, workspace_id, app_id, run_id, number, title, detail, state, created_at, expires_at) \
         VALUES (",
    );
    sql.bind(approval.uuid()).push(", ").bind(run.workspace.uuid()).push(", ").bind(run.app.uuid());
    sql.push(", ").bind(run.id.uuid()).push(", ").bind(i64::from(*number)).push(", ");
    sql.bind(question.title.as_str()).push(", ").bind(question.detail.as_deref()).push(", ");
    sql.bind(ApprovalState::Waiting.as_str()).push(", ").bind(millis(run.at)).push(", ");
    sql.bind(millis(run.at + LIFETIME)).push(")");
    sql.execute(db).await.map(drop)
}

/// The columns of a run's row that follow from an attempt's outcome.
fn status_columns(run: &FinishedRun) -> (RunStatus, Option<Timestamp>, Option<&RunFault>) {
    match &run.outcome {
        AttemptOutcome::Succeeded => (RunStatus::Succeeded, Some(run.at), None),
        AttemptOutcome::Failed(fault) => (RunStatus::Failed, Some(run.at), Some(fault)),
        AttemptOutcome::Blocked(fault) => (RunStatus::Blocked, Some(run.at), Some(fault)),
        AttemptOutcome::Retry { fault, .. } => (RunStatus::Queued, None, Some(fault)),
        AttemptOutcome::Wait { .. } => (RunStatus::WaitingApproval, None, None),
    }
}

async fn update_runs<D: SqlExecutor>(db: &D, owned: &[&FinishedRun]) -> Result<(), StoreError> {
    let rows: Vec<(&FinishedRun, String)> =
        owned.iter().map(|run| Ok((*run, to_json(&run.steps)?))).collect::<Result<_, StoreError>>()?;
    if db.prefers_single_rows() {
        // The same, without the list that it would be read from.
        let sql = "UPDATE runs SET status = $1, finished_at = $2, minutes_saved = $3, error_code = $4, \
                   error_message = $5, steps = $6 WHERE id = $7";
        let rows: Vec<Fields<'_>> = rows.iter().map(|(run, steps)| finished_run_values(run, steps)).collect();
        return db.execute_many(sql.to_owned(), &rows).await.map(drop);
    }
    let rows: Vec<Fields<'_>> = rows.iter().map(|(run, steps)| finished_run_values(run, steps)).collect();
    for rows in array_chunks_for(db, &rows) {
        let mut sql = Sql::new(
            "WITH done (status, finished_at, minutes_saved, error_code, error_message, steps, id) AS (",
        );
        sql.push_rows(db, rows).push(
            ") UPDATE runs SET status = done.status, finished_at = done.finished_at, \
             minutes_saved = done.minutes_saved, error_code = done.error_code, \
             error_message = done.error_message, steps = done.steps FROM done WHERE runs.id = done.id",
        );
        sql.execute(db).await?;
    }
    Ok(())
}

fn finished_run_values<'r>(run: &'r FinishedRun, steps: &'r str) -> Fields<'r> {
    let (status, finished_at, fault) = status_columns(run);
    Fields::new()
        .with(status.as_str())
        .with(finished_at.map(millis))
        .with(run.minutes_saved)
        .with(fault.map(|fault| fault.code.as_str()))
        .with(fault.map(|fault| replace_nul(&fault.message)))
        .with(steps)
        .with(run.id.uuid())
}

/// Keeps what the code of runs returned, as far as it is kept.
async fn insert_results<D: SqlExecutor>(db: &D, owned: &[&FinishedRun]) -> Result<(), StoreError> {
    let results = owned.iter().filter_map(|run| Some((run.id.uuid(), run.result.as_ref()?.get())));
    let rows = results.map(|(run, result)| Fields::new().with(run).with(result)).collect();
    insert_rows(db, ("run_results", "run_id, result"), rows).await
}

/// PostgreSQL keeps no NUL in text.
fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns the lines that runs logged, each with the number of the event of its run's end.
pub(super) fn log_rows<'b>(owned: impl Iterator<Item = (&'b FinishedRun, u64)>) -> Vec<LogRow> {
    let row = |run: &FinishedRun, event: u64, line: &runs::queue::RunLogLine| {
        let level = match line.level {
            engine::LogLevel::Debug => LogLevel::Debug,
            engine::LogLevel::Info => LogLevel::Info,
            engine::LogLevel::Warn => LogLevel::Warn,
            engine::LogLevel::Error => LogLevel::Error,
        };
        let source = if line.is_from_gate { LogSource::Gate } else { LogSource::App };
        let line = NewLogLine::new(line.at, level, source, line.message.clone());
        LogRow { workspace: run.workspace, app: run.app, run: Some(run.id), line, event: Some(event) }
    };
    owned.flat_map(|(run, event)| run.lines.iter().map(move |line| row(run, event, line))).collect()
}
