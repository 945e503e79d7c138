//! The writing of a batch: all of its operations in one transaction.

use kernel::StoreError;
use runs::webhooks::AcceptOutcome;

use super::{
    accept::{self, AcceptedBatch},
    app_health::ObservationCache,
    audit,
    batch::{Batch, BatchOutcome},
    claim,
    claim_for_slots::{SlotClaim, claim_for_slots},
    concurrency::lock_limited,
    finish::{self, FinishedBatch},
    publish, refusal,
    signature_cache::SignatureCache,
    slots::{OfferedSlots, OpenSlots, StartedRun},
};
use crate::sql::SqlExecutor;

impl<'o> Batch<'o> {
    /// Returns the outcome of a batch that only claims, if there is nothing to claim: it needs no transaction.
    pub(super) async fn outcome_if_idle<D: SqlExecutor>(
        &self,
        db: &D,
    ) -> Result<Option<BatchOutcome>, StoreError> {
        if !(self.accept.is_empty() && self.refuse.is_empty() && self.finish.is_empty()) {
            return Ok(None);
        }
        for claim in &self.claim {
            if claim::has_ready_work(db, claim).await? {
                return Ok(None);
            }
        }
        let claimed = self.claim.iter().map(|_| Vec::new()).collect();
        Ok(Some(BatchOutcome { claimed, ..BatchOutcome::default() }))
    }

    /// Gives slots that are free to what has waited for longest. Returns the slots that calls may take as they are accepted: none
    /// while anything waits.
    async fn fill_slots<D: SqlExecutor>(
        &self,
        tx: &D,
        slots: &OfferedSlots,
    ) -> Result<(Vec<StartedRun>, Option<OpenSlots>), StoreError> {
        // An end makes room; whether anything waits for it is asked only if something did.
        let may_have_work = !self.accept.is_empty() || (!self.finish.is_empty() && slots.has_backlog());
        let Some(open) = slots.open().filter(|_| may_have_work) else { return Ok((Vec::new(), None)) };
        let SlotClaim { started, is_queue_empty } = claim_for_slots(tx, &open).await?;
        slots.set_backlog(!is_queue_empty);
        Ok((started, Some(open).filter(|_| is_queue_empty)))
    }

    /// Writes the batch. Claims come late, so that they can take what the batch accepts and makes room for. Events come
    /// last.
    pub(super) async fn perform<D: SqlExecutor>(
        &self,
        tx: &D,
        signatures: Option<&SignatureCache>,
        observations: &ObservationCache,
        slots: &OfferedSlots,
    ) -> Result<BatchOutcome, StoreError> {
        let limited = lock_limited(tx, self).await?;
        let finished = finish::finish(tx, &self.finish, &limited, observations).await?;
        let (mut started, open) = self.fill_slots(tx, slots).await?;
        let accepted = accept::accept(tx, &self.accept, open.as_ref(), signatures).await?;
        let AcceptedBatch { outcomes, started: started_at_once } = accepted;
        let accepted = outcomes.iter().filter(|outcome| **outcome == AcceptOutcome::Accepted).count();
        let is_work_queued = accepted > started_at_once.len();
        if is_work_queued {
            slots.set_backlog(true);
        }
        started.extend(started_at_once);
        refusal::insert_refusals(tx, &self.refuse).await?;
        let of_accepted =
            self.accept.iter().zip(&outcomes).filter(|(_, verdict)| **verdict == AcceptOutcome::Accepted);
        let audited_accepts = of_accepted.filter_map(|(call, _)| call.audit.as_ref());
        audit::insert(
            tx,
            audited_accepts.chain(self.refuse.iter().filter_map(|refused| refused.audit.as_ref())),
        )
        .await?;
        let mut claimed = Vec::with_capacity(self.claim.len());
        for claim in &self.claim {
            // Their room was counted before these slots were taken.
            claimed.push(claim::claim(tx, &claim.reduced_by(started.len())).await?);
        }
        let published = publish::publish_events(tx, self, &finished, &outcomes, (&started, &claimed)).await?;
        let FinishedBatch { lease_held, has_ready_runs, observed, .. } = finished;
        Ok(BatchOutcome {
            outcomes,
            started,
            lease_held,
            has_ready_runs: has_ready_runs || is_work_queued,
            claimed,
            observed,
            published_workspaces: published,
        })
    }
}
