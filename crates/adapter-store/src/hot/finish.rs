//! Writing the ends of attempts: a whole batch in a handful of statements.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{Id, StoreError, Timestamp, id::NodeId};
use observability::{LogLevel, LogSource, NewLogLine};
use runs::{
    RunStatus,
    approvals::{ApprovalState, LIFETIME},
    engine,
    queue::{Conclusion, FinishedRun, RunFault},
};
use uuid::Uuid;

use super::{dead, events};
use crate::{
    convert::{millis, to_json},
    observability::LogRow,
    runs::{
        promote,
        queue_state::{ASKING, HELD, LEASED, READY},
    },
    sql::{Db, Sql, column, for_update, in_few_shapes},
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
    let mut holders = holders(db, batch).await?;
    let held: Vec<bool> = batch
        .iter()
        .map(|(node, run)| {
            let id = run.id.uuid();
            let held = holders.get(&id) == Some(&(node.uuid(), i64::from(run.attempt)));
            // With its first end the run is nobody's any more.
            held && holders.remove(&id).is_some()
        })
        .collect();
    let ours: Vec<&FinishedRun> =
        batch.iter().zip(&held).filter(|(_, held)| **held).map(|((_, run), _)| *run).collect();
    leave_queue(db, &ours).await?;
    update_runs(db, &ours).await?;
    dead::keep_runs(db, &ours).await?;
    let started = events::start(db, &ours).await?;
    let freed_places = free_places(db, &ours).await? || !started.is_empty();
    Ok(Finished { held, ours, started, freed_places })
}

/// Who holds which run, and for which attempt.
async fn holders<D: Db>(
    db: &D,
    batch: &[(NodeId, &FinishedRun)],
) -> Result<BTreeMap<Uuid, (Uuid, i64)>, StoreError> {
    let mut holders = BTreeMap::new();
    for batch in in_few_shapes(batch) {
        let mut sql = Sql::new("SELECT run_id, leased_by, attempt FROM run_queue WHERE state = ");
        sql.bind(LEASED).push(" AND run_id IN (").bind_all(batch.iter().map(|(_, run)| run.id.uuid()));
        sql.push(") ORDER BY run_id").push(for_update(db.backend()));
        for row in sql.all(db).await? {
            holders.insert(column(&row, 0)?, (column(&row, 1)?, column(&row, 2)?));
        }
    }
    Ok(holders)
}

/// Takes what is over out of the queue, and puts what is tried again back.
async fn leave_queue<D: Db>(db: &D, ours: &[&FinishedRun]) -> Result<(), StoreError> {
    let over: Vec<Uuid> =
        ours.iter().filter(|run| run.conclusion.is_end()).map(|run| run.id.uuid()).collect();
    for over in in_few_shapes(&over) {
        let mut sql = Sql::new("DELETE FROM run_queue WHERE run_id IN (");
        sql.bind_all(over.iter().copied()).push(")");
        sql.execute(db).await?;
    }
    for run in ours {
        if let Conclusion::Retry { at, .. } = &run.conclusion {
            let mut sql = Sql::new("UPDATE run_queue SET leased_by = NULL, leased_until = NULL, state = ");
            sql.bind(READY)
                .push(", available_at = ")
                .bind(millis(*at))
                .push(" WHERE run_id = ")
                .bind(run.id.uuid());
            sql.execute(db).await?;
        }
        if let Conclusion::Wait { .. } = &run.conclusion {
            let mut sql = Sql::new("UPDATE run_queue SET leased_by = NULL, leased_until = NULL, state = ");
            sql.bind(ASKING).push(" WHERE run_id = ").bind(run.id.uuid());
            sql.execute(db).await?;
            ask(db, run).await?;
        }
    }
    Ok(())
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
    for rows in in_few_shapes(&rows) {
        let mut sql = Sql::new(
            "WITH done (id, status, finished_at, minutes_saved, error_code, error_message, steps) AS (VALUES ",
        );
        sql.rows(rows, |sql, (run, steps)| {
            let (status, finished_at, fault) = outcome(run);
            sql.bind(run.id.uuid()).push(", ").bind(status.as_str()).push(", ").bind(finished_at.map(millis));
            sql.push(", ").bind(run.minutes_saved).push(", ").bind(fault.map(|fault| fault.code.as_str()));
            sql.push(", ")
                .bind(fault.map(|fault| without_nul(&fault.message)))
                .push(", ")
                .bind(steps.as_str());
        });
        sql.push(
            ") UPDATE runs SET status = done.status, finished_at = done.finished_at, \
             minutes_saved = done.minutes_saved, error_code = done.error_code, \
             error_message = done.error_message, steps = done.steps FROM done WHERE runs.id = done.id",
        );
        sql.execute(db).await?;
    }
    Ok(())
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
    for automations in in_few_shapes(&automations) {
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
