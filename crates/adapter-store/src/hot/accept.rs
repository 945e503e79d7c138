//! Accepting webhook calls: keys, deliveries, runs and queue entries of a whole batch in a handful of statements.

mod keys;
mod plan;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kernel::{
    Id, StoreError,
    id::{AutomationId, HookId, RunId},
};
use runs::{
    RunStatus,
    queue::ClaimedRun,
    webhooks::{Acceptance, Stamp, Verdict},
};
use sea_orm::DbBackend;
use uuid::Uuid;

use self::plan::Plan;
use super::{
    begin::{self, Begun},
    claim::Claim,
    signatures::Signatures,
};
use crate::{
    convert::millis,
    runs::{
        promote,
        queue_state::{HELD, LEASED, READY},
    },
    sql::{Db, Sql, column, pieces},
};

/// What became of calls.
#[derive(Default)]
pub(crate) struct Accepted {
    /// One for each, in order.
    pub(crate) verdicts: Vec<Verdict>,
    /// The runs that are claimed already.
    pub(crate) begun: Vec<ClaimedRun>,
}

/// Accepts what can be accepted. Where nothing else waits, `claim` takes of it at once what it has room for: a run that
/// waits for nobody need not be queued, found and read again. A signature is held against `signatures` where the lane
/// has them, and is a key like others in the table where several nodes accept.
pub(crate) async fn accept<D: Db>(
    db: &D,
    batch: &[&Acceptance],
    claim: Option<Claim>,
    signatures: Option<&Signatures>,
) -> Result<Accepted, StoreError> {
    if batch.is_empty() {
        return Ok(Accepted::default());
    }
    let standings = standings(db, batch).await?;
    let mut plan = Plan::of(batch, &standings);
    plan.claim_keys(db, signatures).await?;
    plan.take_quota(db).await?;
    let accepted = plan.accepted();
    let begun = claim.map(|claim| begin::begin(&accepted, &standings, claim)).unwrap_or_default();
    insert(db, &accepted, &begun, signatures.is_some()).await?;
    let verdicts = plan.into_verdicts();
    keys::remember_repeats(db, batch, &verdicts, signatures.is_none()).await?;
    if signatures.is_some() {
        Signatures::keep_repeats(db, batch, &verdicts).await?;
    }
    Ok(Accepted { verdicts, begun: begun.into_values().map(|begun| begun.run).collect() })
}

/// How a webhook stands at this moment.
pub(super) struct Standing {
    pub(super) stamp: Stamp,
    pub(super) version: Option<Uuid>,
    pub(super) retries: u8,
}

async fn standings<D: Db>(db: &D, batch: &[&Acceptance]) -> Result<HashMap<HookId, Standing>, StoreError> {
    let hooks: BTreeSet<Uuid> = batch.iter().map(|acceptance| acceptance.hook.uuid()).collect();
    let hooks: Vec<Uuid> = hooks.into_iter().collect();
    let mut standings = HashMap::new();
    for hooks in pieces(db, &hooks) {
        let mut sql = Sql::new(
            "SELECT h.id, h.revision, a.revision, p.revision, w.revision, p.current_version_id, a.retries FROM webhooks h \
             JOIN automations a ON a.id = h.automation_id JOIN apps p ON p.id = a.app_id \
             JOIN workspaces w ON w.id = h.workspace_id WHERE h.id IN (",
        );
        sql.bind_all(hooks.iter().copied()).push(")");
        if db.backend() == DbBackend::Postgres {
            // Until the batch is committed nobody deletes the automation: whoever does finds its runs in the queue.
            sql.push(" ORDER BY a.id FOR KEY SHARE OF a");
        }
        for row in sql.all(db).await? {
            let stamp = Stamp([column(&row, 1)?, column(&row, 2)?, column(&row, 3)?, column(&row, 4)?]);
            let retries = column::<i16>(&row, 6)?.try_into().unwrap_or_default();
            let standing = Standing { stamp, version: column(&row, 5)?, retries };
            standings.insert(Id::from_uuid(column(&row, 0)?), standing);
        }
    }
    Ok(standings)
}

async fn insert<D: Db>(
    db: &D,
    accepted: &[&Acceptance],
    begun: &BTreeMap<RunId, Begun>,
    with_signatures: bool,
) -> Result<(), StoreError> {
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO deliveries (id, webhook_id, workspace_id, run_id, received_at, bytes, sample, signature) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            sql.bind(call.delivery.uuid())
                .push(", ")
                .bind(call.hook.uuid())
                .push(", ")
                .bind(call.workspace.uuid());
            sql.push(", ").bind(call.run.uuid()).push(", ").bind(millis(call.at)).push(", ");
            let signature = call.signature.as_ref().filter(|_| with_signatures);
            sql.bind(i64::from(call.bytes)).push(", ").bind(call.sample).push(", ");
            sql.bind(signature.map(|key| Signatures::kept(key).to_vec()));
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO runs (id, workspace_id, app_id, automation_id, trigger_kind, accepted_at, minutes_saved, status, \
             attempt, started_at, version_id) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            sql.bind(call.run.uuid()).push(", ").bind(call.workspace.uuid()).push(", ").bind(call.app.uuid());
            sql.push(", ").bind(call.automation.uuid()).push(", ").bind(call.trigger.as_str());
            sql.push(", ").bind(millis(call.at)).push(", 0, ");
            let begun = begun.get(&call.run).map(|begun| &begun.run);
            let status = if begun.is_some() { RunStatus::Running } else { RunStatus::Queued };
            sql.bind(status.as_str()).push(", ").bind(begun.map_or(0, |run| i64::from(run.attempt)));
            sql.push(", ").bind(begun.map(|run| millis(run.started_at))).push(", ");
            sql.bind(begun.and_then(|run| run.version).map(Id::uuid));
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new("INSERT INTO run_inputs (run_id, input) VALUES ");
        sql.rows(calls, |sql, call| {
            sql.bind(call.run.uuid()).push(", ").bind(call.input.get());
        });
        sql.execute(db).await?;
    }
    for calls in pieces(db, accepted) {
        let mut sql = Sql::new(
            "INSERT INTO run_queue (run_id, workspace_id, automation_id, state, available_at, attempt, leased_by, \
             leased_until) VALUES ",
        );
        sql.rows(calls, |sql, call| {
            let begun = begun.get(&call.run);
            let state = match (begun, call.max_concurrency) {
                (Some(_), _) => LEASED,
                (None, Some(_)) => HELD,
                (None, None) => READY,
            };
            sql.bind(call.run.uuid())
                .push(", ")
                .bind(call.workspace.uuid())
                .push(", ")
                .bind(call.automation.uuid());
            sql.push(", ").bind(state).push(", ").bind(millis(call.at)).push(", ");
            sql.bind(begun.map_or(0, |begun| i64::from(begun.run.attempt))).push(", ");
            sql.bind(begun.map(|begun| begun.node.uuid())).push(", ");
            sql.bind(begun.map(|begun| millis(begun.until)));
        });
        sql.execute(db).await?;
    }
    let limited: BTreeMap<AutomationId, u16> =
        accepted.iter().filter_map(|call| Some((call.automation, call.max_concurrency?))).collect();
    for (automation, max) in limited {
        promote(db, automation, Some(max)).await?;
    }
    Ok(())
}
