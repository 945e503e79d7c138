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
    webhooks::{AcceptCall, AcceptOutcome, RevisionVector},
};
use sea_orm::DbBackend;
use uuid::Uuid;

use self::plan::AcceptPlan;
use super::{
    claim::ClaimRequest,
    claim_on_accept::{self, ClaimedOnAccept},
    signature_cache::SignatureCache,
};
use crate::{
    convert::millis,
    queue_sql::{CONCURRENCY_BLOCKED, LEASED, READY, promote_blocked},
    sql::{Fields, Sql, SqlExecutor, column, insert_rows, statement_chunks_for},
};

/// What became of calls.
#[derive(Default)]
pub(crate) struct AcceptedBatch {
    /// One for each, in order.
    pub(crate) outcomes: Vec<AcceptOutcome>,
    /// The runs that are claimed already.
    pub(crate) claimed: Vec<ClaimedRun>,
}

/// Accepts what can be accepted. Where nothing else waits, `claim` takes of it at once what it has room for: a run that
/// waits for nobody need not be queued, found and read again. A signature is held against `signatures` where the lane
/// has them, and is a key like others in the table where several nodes accept.
pub(crate) async fn accept<D: SqlExecutor>(
    db: &D,
    batch: &[&AcceptCall],
    claim: Option<&ClaimRequest>,
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
    let claimed = claim
        .map(|claim| claim_on_accept::claim_accepted(&accepted, &webhook_rows, claim))
        .unwrap_or_default();
    insert_accepted(db, &accepted, &claimed, signatures.is_some()).await?;
    let outcomes = plan.into_outcomes();
    keys::insert_repeated_keys(db, batch, &outcomes, signatures.is_none()).await?;
    if signatures.is_some() {
        SignatureCache::persist_repeated(db, batch, &outcomes).await?;
    }
    Ok(AcceptedBatch { outcomes, claimed: claimed.into_values().map(|begun| begun.run).collect() })
}

/// How a webhook stands at this moment.
pub(super) struct WebhookRow {
    pub(super) revisions: RevisionVector,
    pub(super) version: Option<Uuid>,
    pub(super) retries: u8,
}

async fn load_webhook_rows<D: SqlExecutor>(
    db: &D,
    batch: &[&AcceptCall],
) -> Result<HashMap<HookId, WebhookRow>, StoreError> {
    let hooks: BTreeSet<Uuid> = batch.iter().map(|acceptance| acceptance.hook.uuid()).collect();
    let hooks: Vec<Uuid> = hooks.into_iter().collect();
    let mut webhook_rows = HashMap::new();
    for hooks in statement_chunks_for(db, &hooks) {
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
        for row in sql.fetch_all(db).await? {
            let revisions =
                RevisionVector([column(&row, 1)?, column(&row, 2)?, column(&row, 3)?, column(&row, 4)?]);
            let retries = column::<i16>(&row, 6)?.try_into().unwrap_or_default();
            let webhook_row = WebhookRow { revisions, version: column(&row, 5)?, retries };
            webhook_rows.insert(Id::from_uuid(column(&row, 0)?), webhook_row);
        }
    }
    Ok(webhook_rows)
}

async fn insert_accepted<D: SqlExecutor>(
    db: &D,
    accepted: &[&AcceptCall],
    claimed: &BTreeMap<RunId, ClaimedOnAccept>,
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
                let begun = claimed.get(&call.run).map(|begun| &begun.run);
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
                let begun = claimed.get(&call.run);
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
                    .with(begun.map(|begun| begun.node.uuid()))
                    .with(begun.map(|begun| millis(begun.lease_until)))
            })
            .collect(),
    )
    .await?;
    let limited: BTreeMap<AutomationId, u16> =
        accepted.iter().filter_map(|call| Some((call.automation, call.max_concurrency?))).collect();
    for (automation, max) in limited {
        promote_blocked(db, automation, Some(max)).await?;
    }
    Ok(())
}
