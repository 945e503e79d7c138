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
    sql::{Db, Fields, Sql, column, insert_each, pieces},
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
    claim: Option<&Claim>,
    signatures: Option<&Signatures>,
) -> Result<Accepted, StoreError> {
    if batch.is_empty() {
        return Ok(Accepted::default());
    }
    let standings = standings(db, batch).await?;
    let mut plan = Plan::of(batch, &standings);
    plan.claim_keys(db, signatures).await?;
    plan.take_quota(db, signatures).await?;
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
    let deliveries = "id, webhook_id, workspace_id, run_id, received_at, bytes, sample, signature";
    insert_each(
        db,
        ("deliveries", deliveries),
        accepted
            .iter()
            .map(|call| {
                let signature = call.signature.as_ref().filter(|_| with_signatures);
                Fields::new()
                    .with(call.delivery.uuid())
                    .with(call.hook.uuid())
                    .with(call.workspace.uuid())
                    .with(call.run.uuid())
                    .with(millis(call.at))
                    .with(i64::from(call.bytes))
                    .with(call.sample)
                    .with(signature.map(|key| Signatures::kept(key).to_vec()))
            })
            .collect(),
    )
    .await?;
    let runs = "id, workspace_id, app_id, automation_id, trigger_kind, accepted_at, minutes_saved, status, attempt, \
                started_at, version_id";
    insert_each(
        db,
        ("runs", runs),
        accepted
            .iter()
            .map(|call| {
                let begun = begun.get(&call.run).map(|begun| &begun.run);
                let status = if begun.is_some() { RunStatus::Running } else { RunStatus::Queued };
                Fields::new()
                    .with(call.run.uuid())
                    .with(call.workspace.uuid())
                    .with(call.app.uuid())
                    .with(call.automation.uuid())
                    .with(call.trigger.as_str())
                    .with(millis(call.at))
                    .with(0.0)
                    .with(status.as_str())
                    .with(begun.map_or(0, |run| i64::from(run.attempt)))
                    .with(begun.map(|run| millis(run.started_at)))
                    .with(begun.and_then(|run| run.version).map(Id::uuid))
            })
            .collect(),
    )
    .await?;
    insert_each(
        db,
        ("run_inputs", "run_id, input"),
        accepted.iter().map(|call| Fields::new().with(call.run.uuid()).with(call.input.get())).collect(),
    )
    .await?;
    let queue = "run_id, workspace_id, automation_id, state, available_at, attempt, leased_by, leased_until";
    insert_each(
        db,
        ("run_queue", queue),
        accepted
            .iter()
            .map(|call| {
                let begun = begun.get(&call.run);
                let state = match (begun, call.max_concurrency) {
                    (Some(_), _) => LEASED,
                    (None, Some(_)) => HELD,
                    (None, None) => READY,
                };
                Fields::new()
                    .with(call.run.uuid())
                    .with(call.workspace.uuid())
                    .with(call.automation.uuid())
                    .with(state)
                    .with(millis(call.at))
                    .with(begun.map_or(0, |begun| i64::from(begun.run.attempt)))
                    .with(begun.map(|begun| begun.node.uuid()))
                    .with(begun.map(|begun| millis(begun.until)))
            })
            .collect(),
    )
    .await?;
    let limited: BTreeMap<AutomationId, u16> =
        accepted.iter().filter_map(|call| Some((call.automation, call.max_concurrency?))).collect();
    for (automation, max) in limited {
        promote(db, automation, Some(max)).await?;
    }
    Ok(())
}
