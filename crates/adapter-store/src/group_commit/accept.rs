//! Accepting webhook calls: keys, deliveries, runs and queue entries of a whole batch in a handful of statements.

mod keys;
mod plan;
pub(super) mod webhook_rows;

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Id, StoreError,
    id::{AutomationId, RunId},
};
use runs::{
    RunStatus,
    webhooks::{AcceptCall, AcceptOutcome},
};

use self::{plan::AcceptPlan, webhook_rows::load_webhook_rows};
use super::{
    signature_cache::SignatureCache,
    slots::{OpenSlots, StartedRun},
    start_on_accept,
};
use crate::{
    convert::millis,
    queue_sql::{CONCURRENCY_BLOCKED, LEASED, READY, promote_blocked_of_locked},
    sql::{Fields, SqlExecutor, insert_rows},
};

/// Outcomes of calls.
#[derive(Default)]
pub(crate) struct AcceptedBatch {
    /// The outcome of each call, in order.
    pub(crate) outcomes: Vec<AcceptOutcome>,
    /// The runs that have a slot already.
    pub(crate) started: Vec<StartedRun>,
}

/// Accepts what can be accepted. Runs take `slots` at once, as far as they go. A signature is held against `signatures`
/// where the lane has them, and is a key like others in the table where several nodes accept.
pub(crate) async fn accept<D: SqlExecutor>(
    db: &D,
    batch: &[&AcceptCall],
    slots: Option<&OpenSlots>,
    signatures: Option<&SignatureCache>,
) -> Result<AcceptedBatch, StoreError> {
    if batch.is_empty() {
        return Ok(AcceptedBatch::default());
    }
    let webhook_rows = load_webhook_rows(db, batch).await?;
    let mut plan = AcceptPlan::new(batch, &webhook_rows);
    plan.claim_keys(db, signatures).await?;
    plan.consume_quota(db, signatures).await?;
    let accepted = plan.accepted();
    let started =
        slots.map(|slots| start_on_accept::start(&accepted, &webhook_rows, slots)).unwrap_or_default();
    insert_accepted(db, &accepted, (slots, &started), signatures.is_some()).await?;
    let outcomes = plan.into_outcomes();
    keys::insert_repeated_keys(db, batch, &outcomes, signatures.is_none()).await?;
    if signatures.is_some() {
        SignatureCache::persist_repeated(db, batch, &outcomes).await?;
    }
    Ok(AcceptedBatch { outcomes, started: started.into_values().collect() })
}

async fn insert_accepted<D: SqlExecutor>(
    db: &D,
    accepted: &[&AcceptCall],
    (slots, started): (Option<&OpenSlots>, &BTreeMap<RunId, StartedRun>),
    with_signatures: bool,
) -> Result<(), StoreError> {
    let deliveries = "id, webhook_id, workspace_id, run_id, received_at, bytes, sample, signature";
    insert_rows(
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
                    .with(call.is_sample)
                    .with(signature.map(|key| SignatureCache::fingerprint(key).to_vec()))
            })
            .collect(),
    )
    .await?;
    let runs = "id, workspace_id, app_id, automation_id, trigger_kind, accepted_at, minutes_saved, status, attempt, \
                started_at, version_id";
    insert_rows(
        db,
        ("runs", runs),
        accepted
            .iter()
            .map(|call| {
                let begun = started.get(&call.run).map(|started| &started.run);
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
    insert_rows(
        db,
        ("run_inputs", "run_id, input"),
        accepted.iter().map(|call| Fields::new().with(call.run.uuid()).with(call.input.get())).collect(),
    )
    .await?;
    let queue = "run_id, workspace_id, automation_id, state, available_at, attempt, leased_by, leased_until";
    insert_rows(
        db,
        ("run_queue", queue),
        accepted
            .iter()
            .map(|call| {
                let begun = started.get(&call.run);
                let state = match (begun, call.max_concurrency) {
                    (Some(_), _) => LEASED,
                    (None, Some(_)) => CONCURRENCY_BLOCKED,
                    (None, None) => READY,
                };
                Fields::new()
                    .with(call.run.uuid())
                    .with(call.workspace.uuid())
                    .with(call.automation.uuid())
                    .with(state)
                    .with(millis(call.at))
                    .with(begun.map_or(0, |begun| i64::from(begun.run.attempt)))
                    .with(begun.and(slots).map(|slots| slots.claim.node.uuid()))
                    .with(begun.map(|begun| millis(begun.lease_until)))
            })
            .collect(),
    )
    .await?;
    let limited = accepted.iter().filter(|call| call.max_concurrency.is_some()).map(|call| call.automation);
    for automation in limited.collect::<BTreeSet<AutomationId>>() {
        promote_blocked_of_locked(db, automation).await?;
    }
    Ok(())
}
