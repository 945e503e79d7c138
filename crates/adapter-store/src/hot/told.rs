//! What a batch tells those who follow its workspaces.

use std::collections::BTreeSet;

use kernel::{
    StoreError, Timestamp,
    events::{Event, Happening, RunStage},
    id::{AppId, RunId, WorkspaceId},
};
use runs::{
    queue::{ClaimedRun, Conclusion, FinishedRun},
    runs::refused_calls,
    webhooks::{RefusedDelivery, Verdict},
};

use super::{
    Batch,
    finish::{self, Finished},
};
use crate::{events, observability::insert_lines, sql::Db};

/// Writes the events of a batch, and the lines of log that they tell of. Done last: see [`events::write`].
pub(super) async fn tell<D: Db>(
    tx: &D,
    batch: &Batch<'_>,
    finished: &Finished<'_>,
    verdicts: &[Verdict],
    (begun, claimed): (&[ClaimedRun], &[Vec<ClaimedRun>]),
) -> Result<Vec<WorkspaceId>, StoreError> {
    let Finished { ours, started, failing, .. } = finished;
    let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(ours.len()));
    for run in ours {
        // The first step is the run itself.
        for refused in refused_calls(run.steps.get(1..).unwrap_or_default()) {
            all.push(of_run(run, Happening::GateRefusal { run: Some(run.id), refused }));
        }
        ends.push(all.len());
        all.push(of_run(run, Happening::Run { run: run.id, stage: stage(&run.conclusion) }));
        if let Conclusion::Failed(fault) | Conclusion::Blocked(fault) = &run.conclusion {
            if failing.apps.contains(&run.id) {
                all.push(of_run(run, Happening::AppFailing { run: run.id, code: fault.code.clone() }));
            }
            if let Some(automation) = run.automation.filter(|_| failing.automations.contains(&run.id)) {
                let code = fault.code.clone();
                all.push(of_run(run, Happening::AutomationFailing { automation, run: run.id, code }));
            }
        }
    }
    all.extend(started.iter().map(|run| queued(run.workspace, run.app, run.run, run.at)));
    // A run that begins as it is accepted was never in the queue: that it has begun is the first that is told of it.
    let begun: BTreeSet<RunId> = begun.iter().map(|run| run.id).collect();
    let accepted = batch.accept.iter().zip(verdicts).filter(|(_, verdict)| **verdict == Verdict::Accepted);
    let waiting = accepted.filter(|(call, _)| !begun.contains(&call.run));
    all.extend(waiting.map(|(call, _)| queued(call.workspace, call.app, call.run, call.at)));
    all.extend(claimed.iter().flatten().map(running));
    all.extend(batch.refuse.iter().map(|refused| refused_call(refused)));
    let numbered = events::write(tx, &all).await?;
    let seqs = ends.iter().filter_map(|end| numbered.seqs.get(*end).copied());
    insert_lines(tx, &finish::log_rows(ours.iter().copied().zip(seqs))).await?;
    Ok(numbered.workspaces)
}

fn of_run(run: &FinishedRun, what: Happening) -> Event {
    Event { workspace: run.workspace, app: run.app, at: run.at, what }
}

fn stage(conclusion: &Conclusion) -> RunStage {
    match conclusion {
        Conclusion::Succeeded => RunStage::Succeeded,
        Conclusion::Failed(fault) => RunStage::Failed { code: fault.code.clone() },
        Conclusion::Blocked(fault) => RunStage::Blocked { code: fault.code.clone() },
        Conclusion::Retry { fault, .. } => RunStage::Retried { code: fault.code.clone() },
        Conclusion::Wait { approval, .. } => RunStage::Waiting { approval: *approval },
    }
}

fn queued(workspace: WorkspaceId, app: AppId, run: RunId, at: Timestamp) -> Event {
    Event { workspace, app, at, what: Happening::Run { run, stage: RunStage::Queued } }
}

fn running(run: &ClaimedRun) -> Event {
    let what = Happening::Run { run: run.id, stage: RunStage::Running };
    Event { workspace: run.workspace, app: run.app, at: run.started_at, what }
}

fn refused_call(refused: &RefusedDelivery) -> Event {
    let (delivery, automation) = (refused.id, refused.automation);
    let what = Happening::CallRefusal { delivery, automation, code: refused.code.to_owned() };
    Event { workspace: refused.workspace, app: refused.app, at: refused.at, what }
}
