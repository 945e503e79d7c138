//! Events of a batch, for those who follow its workspaces.

use std::collections::BTreeSet;

use kernel::{
    StoreError, Timestamp,
    events::{Event, EventKind, RunStage},
    id::{AppId, RunId, WorkspaceId},
};
use runs::{
    queue::{AttemptOutcome, ClaimedRun, FinishedRun},
    runs::refused_calls,
    webhooks::{AcceptOutcome, RefusedDelivery},
};

use super::{
    batch::Batch,
    finish::{self, FinishedBatch},
    slots::StartedRun,
};
use crate::{events, observability::log_rows::insert_log_lines, sql::SqlExecutor};

/// Writes the events of a batch, and the lines of log that they tell of. Done last: see [`events::write`].
pub(super) async fn publish_events<D: SqlExecutor>(
    tx: &D,
    batch: &Batch<'_>,
    finished: &FinishedBatch<'_>,
    outcomes: &[AcceptOutcome],
    (started, claimed): (&[StartedRun], &[Vec<ClaimedRun>]),
) -> Result<Vec<WorkspaceId>, StoreError> {
    let FinishedBatch { owned, triggered, alerts, .. } = finished;
    let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(owned.len()));
    for run in owned {
        // The first step is the run itself.
        for refused in refused_calls(run.steps.get(1..).unwrap_or_default()) {
            all.push(run_event(run, EventKind::EgressRefused { run: Some(run.id), request: refused }));
        }
        ends.push(all.len());
        all.push(run_event(run, EventKind::Run { run: run.id, stage: run_stage(&run.outcome) }));
        if let AttemptOutcome::Failed(fault) | AttemptOutcome::Blocked(fault) = &run.outcome {
            if alerts.apps.contains(&run.id) {
                all.push(run_event(run, EventKind::AppFailing { run: run.id, code: fault.code.clone() }));
            }
            if let Some(automation) = run.automation.filter(|_| alerts.automations.contains(&run.id)) {
                let code = fault.code.clone();
                all.push(run_event(run, EventKind::AutomationFailing { automation, run: run.id, code }));
            }
        }
    }
    all.extend(triggered.iter().map(|run| queued_event(run.workspace, run.app, run.run, run.at)));
    // A run that has a slot as it is accepted was never in the queue: its first event is that it runs.
    let started_ids: BTreeSet<RunId> = started.iter().map(|started| started.run.id).collect();
    let accepted =
        batch.accept.iter().zip(outcomes).filter(|(_, verdict)| **verdict == AcceptOutcome::Accepted);
    let waiting = accepted.filter(|(call, _)| !started_ids.contains(&call.run));
    all.extend(waiting.map(|(call, _)| queued_event(call.workspace, call.app, call.run, call.at)));
    let running = started.iter().map(|started| &started.run).chain(claimed.iter().flatten());
    all.extend(running.map(running_event));
    all.extend(batch.refuse.iter().map(|refused| refused_call_event(refused)));
    let numbered = events::write::append(tx, &all).await?;
    let seqs = ends.iter().filter_map(|end| numbered.seqs.get(*end).copied());
    insert_log_lines(tx, &finish::log_rows(owned.iter().copied().zip(seqs))).await?;
    Ok(numbered.workspaces)
}

fn run_event(run: &FinishedRun, what: EventKind) -> Event {
    Event::of_app(run.workspace, run.app, run.at, what)
}

fn run_stage(conclusion: &AttemptOutcome) -> RunStage {
    match conclusion {
        AttemptOutcome::Succeeded => RunStage::Succeeded,
        AttemptOutcome::Failed(fault) => RunStage::Failed { code: fault.code.clone() },
        AttemptOutcome::Blocked(fault) => RunStage::Blocked { code: fault.code.clone() },
        AttemptOutcome::Retry { fault, .. } => RunStage::Retried { code: fault.code.clone() },
        AttemptOutcome::Wait { approval, .. } => RunStage::AwaitingApproval { approval: *approval },
    }
}

fn queued_event(workspace: WorkspaceId, app: AppId, run: RunId, at: Timestamp) -> Event {
    Event::of_app(workspace, app, at, EventKind::Run { run, stage: RunStage::Queued })
}

fn running_event(run: &ClaimedRun) -> Event {
    let what = EventKind::Run { run: run.id, stage: RunStage::Running };
    Event::of_app(run.workspace, run.app, run.started_at, what)
}

fn refused_call_event(refused: &RefusedDelivery) -> Event {
    let (delivery, automation) = (refused.id, refused.automation);
    let what = EventKind::WebhookCallRefused { delivery, automation, code: refused.code.to_owned() };
    Event::of_app(refused.workspace, refused.app, refused.at, what)
}
