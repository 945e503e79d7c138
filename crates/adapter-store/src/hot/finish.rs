//! Writing the ends of attempts: a whole batch in a handful of statements.

use std::collections::BTreeSet;

use kernel::{Id, StoreError, Timestamp, id::NodeId};
use observability::{LogLevel, LogSource, NewLogLine};
use runs::{
    RunStatus,
    approvals::{ApprovalState, LIFETIME},
    engine,
    queue::{Conclusion, FinishedRun, RunFault},
};
use uuid::Uuid;

use super::{dead, events, failing};
use crate::{
    convert::{millis, to_json},
    observability::LogRow,
    runs::{
        promote,
        queue_state::{ASKING, HELD, LEASED, READY},
    },
    sql::{Db, Fields, Sql, SqlRow, column, pieces},
};

/// What a batch of ends came to.
#[derive(Default)]
pub(crate) struct Finished<'b> {
    /// Of each attempt, whether it was still its node's.
    pub(crate) held: Vec<bool>,
    /// Those that were.
    pub(crate) ours: Vec<&'b FinishedRun>,
    /// Runs that these ends started.
    pub(crate) started: Vec<events::Started>,
    /// Those with which their apps have failed so often in a row that followers are told.
    pub(super) failing: failing::Failing,
    /// Whether there are runs that may go on now: held back before, or started by these ends.
    pub(crate) freed_places: bool,
}

/// Writes the ends of attempts that are still their node's.
pub(crate) async fn finish<'b, D: Db>(
    db: &D,
    batch: &[(NodeId, &'b FinishedRun)],
) -> Result<Finished<'b>, StoreError> {
    if batch.is_empty() {
        return Ok(Finished::default());
    }
    let mut left = leave_queue(db, batch).await?;
    // With its first end the run is nobody's any more.
    let held: Vec<bool> = batch.iter().map(|(_, run)| left.remove(&attempt_of(run))).collect();
    let ours: Vec<&FinishedRun> =
        batch.iter().zip(&held).filter(|(_, held)| **held).map(|((_, run), _)| *run).collect();
    for run in &ours {
        ask(db, run).await?;
    }
    update_runs(db, &ours).await?;
    dead::keep_runs(db, &ours).await?;
    let started = events::start(db, &ours).await?;
    let failing = failing::count(db, &ours).await?;
    let freed_places = free_places(db, &ours).await? || !started.is_empty();
    Ok(Finished { held, ours, started, failing, freed_places })
}

/// A run, and which of its attempts.
type Attempt = (Uuid, i64);

fn attempt_of(run: &FinishedRun) -> Attempt {
    (run.id.uuid(), run.attempt.into())
}

/// Takes what is over out of the queue, and puts what is tried again back, so far as it is still its node's; which.
async fn leave_queue<D: Db>(
    db: &D,
    batch: &[(NodeId, &FinishedRun)],
) -> Result<BTreeSet<Attempt>, StoreError> {
    let (over, back): (Vec<_>, Vec<_>) = batch.iter().partition(|(_, run)| run.conclusion.is_end());
    let mut left = BTreeSet::new();
    if db.takes_one_row() {
        let sql =
            "DELETE FROM run_queue WHERE run_id = $1 AND leased_by = $2 AND attempt = $3 AND state = $4";
        let rows: Vec<Fields<'_>> = over
            .iter()
            .map(|(node, run)| {
                let (id, attempt) = attempt_of(run);
                Fields::new().with(id).with(node.uuid()).with(attempt).with(LEASED)
            })
            .collect();
        let gone = db.execute_each(sql.to_owned(), &rows).await?;
        let gone = over.iter().zip(gone).filter(|(_, gone)| *gone);
        left.extend(gone.map(|((_, run), _)| attempt_of(run)));
    } else {
        for over in pieces(db, &over) {
            let sql = Sql::new("DELETE FROM run_queue WHERE (");
            left.extend(of_holders(db, sql, over).await?);
        }
    }
    for attempt in &back {
        let mut sql = Sql::new("UPDATE run_queue SET leased_by = NULL, leased_until = NULL, state = ");
        match &attempt.1.conclusion {
            Conclusion::Retry { at, .. } => sql.bind(READY).push(", available_at = ").bind(millis(*at)),
            _ => sql.bind(ASKING),
        };
        sql.push(" WHERE (");
        left.extend(of_holders(db, sql, &[*attempt]).await?);
    }
    Ok(left)
}

/// Runs a statement over the attempts that their nodes still hold; which those are.
async fn of_holders<D: Db>(
    db: &D,
    mut sql: Sql,
    attempts: &[(NodeId, &FinishedRun)],
) -> Result<BTreeSet<Attempt>, StoreError> {
    for (index, (node, run)) in attempts.iter().enumerate() {
        sql.push(if index > 0 { " OR run_id = " } else { "run_id = " }).bind(run.id.uuid());
        sql.push(" AND leased_by = ").bind(node.uuid());
        sql.push(" AND attempt = ").bind(attempt_of(run).1);
    }
    sql.push(") AND state = ").bind(LEASED);
    let key = |row: &SqlRow| Ok((column(row, 0)?, column(row, 1)?));
    sql.changed(db, attempts, ("run_id, attempt", key), |(_, run)| attempt_of(run)).await
}

/// Keeps the question that a run waits for.
async fn ask<D: Db>(db: &D, run: &FinishedRun) -> Result<(), StoreError> {
    let Conclusion::Wait { approval, number, question } = &run.conclusion else { return Ok(()) };
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

/// What a conclusion writes into the run's row.
fn outcome(run: &FinishedRun) -> (RunStatus, Option<Timestamp>, Option<&RunFault>) {
    match &run.conclusion {
        Conclusion::Succeeded => (RunStatus::Succeeded, Some(run.at), None),
        Conclusion::Failed(fault) => (RunStatus::Failed, Some(run.at), Some(fault)),
        Conclusion::Blocked(fault) => (RunStatus::Blocked, Some(run.at), Some(fault)),
        Conclusion::Retry { fault, .. } => (RunStatus::Queued, None, Some(fault)),
        Conclusion::Wait { .. } => (RunStatus::WaitingApproval, None, None),
    }
}

async fn update_runs<D: Db>(db: &D, ours: &[&FinishedRun]) -> Result<(), StoreError> {
    let rows: Vec<(&FinishedRun, String)> =
        ours.iter().map(|run| Ok((*run, to_json(&run.steps)?))).collect::<Result<_, StoreError>>()?;
    if db.takes_one_row() {
        // The same as `update_many` of one, without the list that it would be read from.
        let sql = "UPDATE runs SET status = $1, finished_at = $2, minutes_saved = $3, error_code = $4, \
                   error_message = $5, steps = $6 WHERE id = $7";
        let rows: Vec<Fields<'_>> = rows.iter().map(|(run, steps)| ended(run, steps)).collect();
        return db.execute_each(sql.to_owned(), &rows).await.map(drop);
    }
    for rows in pieces(db, &rows) {
        update_many(rows).execute(db).await?;
    }
    Ok(())
}

fn ended<'r>(run: &'r FinishedRun, steps: &'r str) -> Fields<'r> {
    let (status, finished_at, fault) = outcome(run);
    Fields::new()
        .with(status.as_str())
        .with(finished_at.map(millis))
        .with(run.minutes_saved)
        .with(fault.map(|fault| fault.code.as_str()))
        .with(fault.map(|fault| without_nul(&fault.message)))
        .with(steps)
        .with(run.id.uuid())
}

fn update_many(rows: &[(&FinishedRun, String)]) -> Sql {
    let mut sql = Sql::new(
        "WITH done (id, status, finished_at, minutes_saved, error_code, error_message, steps) AS (VALUES ",
    );
    sql.rows(rows, |sql, (run, steps)| {
        let (status, finished_at, fault) = outcome(run);
        sql.bind(run.id.uuid()).push(", ").bind(status.as_str()).push(", ").bind(finished_at.map(millis));
        sql.push(", ").bind(run.minutes_saved).push(", ").bind(fault.map(|fault| fault.code.as_str()));
        sql.push(", ").bind(fault.map(|fault| without_nul(&fault.message))).push(", ").bind(steps.as_str());
    });
    sql.push(
        ") UPDATE runs SET status = done.status, finished_at = done.finished_at, \
         minutes_saved = done.minutes_saved, error_code = done.error_code, \
         error_message = done.error_message, steps = done.steps FROM done WHERE runs.id = done.id",
    );
    sql
}

/// PostgreSQL keeps no NUL in text.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// What runs said, each with the number of the event that tells of its end.
pub(super) fn log_rows<'b>(ours: impl Iterator<Item = (&'b FinishedRun, u64)>) -> Vec<LogRow> {
    let row = |run: &FinishedRun, event: u64, line: &runs::queue::RunLine| {
        let level = match line.level {
            engine::LogLevel::Debug => LogLevel::Debug,
            engine::LogLevel::Info => LogLevel::Info,
            engine::LogLevel::Warn => LogLevel::Warn,
            engine::LogLevel::Error => LogLevel::Error,
        };
        let source = if line.by_gate { LogSource::Gate } else { LogSource::App };
        let line = NewLogLine::new(line.at, level, source, line.message.clone());
        LogRow { workspace: run.workspace, app: run.app, run: Some(run.id), line, event: Some(event) }
    };
    ours.flat_map(|(run, event)| run.lines.iter().map(move |line| row(run, event, line))).collect()
}

/// Lets runs that were held back into the places that are free now; whether there were any.
async fn free_places<D: Db>(db: &D, ours: &[&FinishedRun]) -> Result<bool, StoreError> {
    let automations: BTreeSet<Uuid> = ours.iter().filter_map(|run| run.automation).map(Id::uuid).collect();
    let automations: Vec<Uuid> = automations.into_iter().collect();
    let mut freed = false;
    for automations in pieces(db, &automations) {
        let mut sql = Sql::new(
            "SELECT a.id, a.max_concurrency FROM automations a WHERE EXISTS \
             (SELECT 1 FROM run_queue q WHERE q.automation_id = a.id AND q.state = ",
        );
        sql.bind(HELD).push(") AND a.id IN (").bind_all(automations.iter().copied()).push(") ORDER BY a.id");
        for row in sql.all(db).await? {
            let max: Option<i64> = column(&row, 1)?;
            let max = max.map(|max| u16::try_from(max).unwrap_or(u16::MAX));
            promote(db, Id::from_uuid(column(&row, 0)?), max).await?;
            freed = true;
        }
    }
    Ok(freed)
}
