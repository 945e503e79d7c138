//! Runs that the end of a run starts: automations that wait for `run_finished` or `run_failed`.
//! See `docs/decisions/0077-event-triggers-do-not-chain.md`.

use std::str::FromStr as _;

use ::workspace::Plan;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, AutomationId, RunId, WorkspaceId},
};
use runs::{
    TriggerKind,
    automations::events::{MAX_STARTED_AUTOMATIONS, RUN_FAILED, RUN_FINISHED, RunFinishedInput},
    queue::FinishedRun,
    quota::Admission,
};
use uuid::Uuid;

use super::quota;
use crate::{
    convert::{RowContext, millis, to_json},
    queue_sql::{CONCURRENCY_BLOCKED, HELD, READY, lock_automations, promote_blocked_of_locked},
    sql::{Sql, SqlExecutor, array_chunks_for, column},
};

/// A run that was started.
pub(crate) struct TriggeredRun {
    pub(crate) workspace: WorkspaceId,
    pub(crate) app: AppId,
    pub(crate) run: RunId,
    pub(crate) at: Timestamp,
}

/// A run to start.
struct EventTrigger {
    id: Uuid,
    workspace: WorkspaceId,
    app: Uuid,
    automation: AutomationId,
    max_concurrency: Option<u16>,
    runs_per_month: Option<u64>,
    at: Timestamp,
    ended: RunFinishedInput,
}

/// Starts what waits for the ends of these runs, once their ends are written; what was started. A run that an
/// event started tells nobody of its end, so that no two automations start each other for ever.
pub(crate) async fn enqueue_triggered_runs<D: SqlExecutor>(
    db: &D,
    finished: &[&FinishedRun],
) -> Result<Vec<TriggeredRun>, StoreError> {
    let ended: Vec<Uuid> =
        finished.iter().filter(|run| run.outcome.is_final()).map(|run| run.id.uuid()).collect();
    if ended.is_empty() || !has_event_automations(db).await? {
        return Ok(Vec::new());
    }
    let mut triggered = Vec::new();
    for ended in array_chunks_for(db, &ended) {
        let triggers = find_triggered_automations(db, ended).await?;
        let limited = triggers.iter().filter(|trigger| trigger.max_concurrency.is_some());
        lock_automations(db, &limited.map(|trigger| trigger.automation).collect()).await?;
        for trigger in triggers {
            if enqueue(db, &trigger).await? {
                triggered.push(TriggeredRun {
                    workspace: trigger.workspace,
                    app: Id::from_uuid(trigger.app),
                    run: Id::from_uuid(trigger.id),
                    at: trigger.at,
                });
            }
        }
    }
    Ok(triggered)
}

/// Nearly always nobody does: one step into an index that is empty.
async fn has_event_automations<D: SqlExecutor>(db: &D) -> Result<bool, StoreError> {
    let sql =
        Sql::new("SELECT 1 FROM automations WHERE trigger_kind = 'event' AND status = 'active' LIMIT 1");
    Ok(sql.fetch_optional(db).await?.is_some())
}

/// The automations of the same workspace that wait for one of these ends. Whoever made one must be able to view the app
/// that ended, as they would have to in order to read the run.
async fn find_triggered_automations<D: SqlExecutor>(
    db: &D,
    ended: &[Uuid],
) -> Result<Vec<EventTrigger>, StoreError> {
    let mut sql = Sql::new(
        "SELECT r.id, r.workspace_id, r.app_id, r.automation_id, r.trigger_kind, r.status, r.error_code, r.finished_at, \
         a.id, a.app_id, a.max_concurrency, a.event, w.plan FROM runs r \
         JOIN automations a ON a.workspace_id = r.workspace_id AND a.trigger_kind = 'event' AND a.status = 'active' \
         JOIN apps p ON p.id = a.app_id JOIN apps s ON s.id = r.app_id JOIN workspaces w ON w.id = r.workspace_id \
         LEFT JOIN members m ON m.workspace_id = a.workspace_id AND m.user_id = a.created_by \
         WHERE w.deleted_at IS NULL AND r.trigger_kind <> 'event' AND (r.automation_id IS NULL OR r.automation_id <> a.id) \
         AND p.deleted_at IS NULL AND p.paused = FALSE AND p.current_version_id IS NOT NULL \
         AND (a.app_id = r.app_id OR m.role IN ('owner', 'admin') OR (m.role IS NOT NULL AND (s.created_by = a.created_by \
         OR s.sharing = 'workspace' OR (s.sharing = 'team' AND m.role <> 'viewer')))) AND (a.event = ",
    );
    sql.bind(RUN_FINISHED).push(" OR (a.event = ").bind(RUN_FAILED);
    sql.push(" AND r.status <> 'succeeded')) AND r.id").push_any(db, ended.iter().copied());
    sql.push(" ORDER BY r.id, a.id");
    let mut matches: Vec<EventTrigger> = Vec::new();
    let mut of_run = (Uuid::nil(), 0);
    for found in sql.fetch_all(db).await? {
        let row = RowContext { table: "runs", id: column(&found, 0)? };
        of_run = if of_run.0 == row.id { (row.id, of_run.1 + 1) } else { (row.id, 1) };
        if of_run.1 > MAX_STARTED_AUTOMATIONS {
            continue;
        }
        let finished_at: Option<i64> = column(&found, 7)?;
        let at = row.optional_timestamp(finished_at)?.ok_or_else(|| row.error("its end is missing"))?;
        let (automation, source): (Uuid, Option<Uuid>) = (column(&found, 8)?, column(&found, 3)?);
        let max_concurrency: Option<i64> = column(&found, 10)?;
        let plan = Plan::from_str(&column::<String>(&found, 12)?).map_err(|error| row.error(error))?;
        matches.push(EventTrigger {
            id: triggered_run_id(row.id, automation, at),
            workspace: Id::from_uuid(column(&found, 1)?),
            app: column(&found, 9)?,
            automation: Id::from_uuid(automation),
            max_concurrency: max_concurrency.map(|max| row.number(max)).transpose()?,
            runs_per_month: plan.limits().runs.grace_limit(),
            at,
            ended: RunFinishedInput {
                event: column(&found, 11)?,
                run_id: Id::from_uuid(row.id),
                app_id: Id::from_uuid(column(&found, 2)?),
                automation_id: source.map(Id::from_uuid),
                trigger: row.parse(&column::<String>(&found, 4)?)?,
                status: row.parse(&column::<String>(&found, 5)?)?,
                error_code: column(&found, 6)?,
                finished_at: at,
            },
        });
    }
    Ok(matches)
}

/// The id of the run that this end starts: the same end starts the same run, however often it is written.
fn triggered_run_id(run: Uuid, automation: Uuid, at: Timestamp) -> Uuid {
    let mut tail = [0; 10];
    for (byte, (left, right)) in
        tail.iter_mut().zip(run.as_bytes()[6..].iter().zip(&automation.as_bytes()[6..]))
    {
        *byte = left ^ right;
    }
    uuid::Builder::from_unix_timestamp_millis(u64::try_from(millis(at)).unwrap_or_default(), &tail)
        .into_uuid()
}

/// Puts it into the queue, where it is held if the runs of the month are used up. Returns false if it is there already or
/// refused.
async fn enqueue<D: SqlExecutor>(db: &D, trigger: &EventTrigger) -> Result<bool, StoreError> {
    let is_on_hold = match quota::admit(db, trigger.workspace, trigger.at, trigger.runs_per_month).await? {
        Admission::Start => false,
        Admission::Hold => true,
        Admission::Refuse => return Ok(false),
    };
    let mut sql = Sql::new(
        "INSERT INTO runs (id, workspace_id, app_id, automation_id, trigger_kind, status, accepted_at, attempt, \
         minutes_saved) VALUES (",
    );
    sql.bind(trigger.id).push(", ").bind(trigger.workspace.uuid()).push(", ").bind(trigger.app).push(", ");
    sql.bind(trigger.automation.uuid()).push(", ").bind(TriggerKind::Event.as_str());
    sql.push(", 'queued', ").bind(millis(trigger.at)).push(", 0, 0) ON CONFLICT (id) DO NOTHING");
    if sql.execute(db).await? == 0 {
        return Ok(false);
    }
    let mut sql = Sql::new("INSERT INTO run_inputs (run_id, input) VALUES (");
    sql.bind(trigger.id).push(", ").bind(to_json(&trigger.ended)?).push(")");
    sql.execute(db).await?;
    let state = match trigger.max_concurrency {
        _ if is_on_hold => HELD,
        Some(_) => CONCURRENCY_BLOCKED,
        None => READY,
    };
    let mut sql = Sql::new(
        "INSERT INTO run_queue (run_id, workspace_id, automation_id, state, available_at, attempt) VALUES (",
    );
    sql.bind(trigger.id).push(", ").bind(trigger.workspace.uuid()).push(", ").bind(trigger.automation.uuid());
    sql.push(", ").bind(state).push(", ").bind(millis(trigger.at)).push(", 0)");
    sql.execute(db).await?;
    if trigger.max_concurrency.is_some() {
        promote_blocked_of_locked(db, trigger.automation).await?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn one_end_starts_one_run_of_each_automation() {
        let at = Timestamp::from_timestamp_millis(1_800_000_000_000).unwrap();
        let [run, automation, other] = [1, 2, 3].map(|n| Uuid::from_u128(u128::from(u64::MAX) * n));
        assert_eq!(triggered_run_id(run, automation, at), triggered_run_id(run, automation, at));
        let all: BTreeSet<Uuid> = [
            triggered_run_id(run, automation, at),
            triggered_run_id(run, other, at),
            triggered_run_id(other, automation, at),
        ]
        .into();
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|id| id.get_version_num() == 7));
    }
}
