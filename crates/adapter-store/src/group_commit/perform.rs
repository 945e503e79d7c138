//! The writing of a batch: all of its operations in one transaction.

use kernel::StoreError;
use runs::webhooks::AcceptOutcome;

use super::{
    accept::{self, AcceptedBatch},
    app_health::ObservationCache,
    audit,
    batch::{Batch, BatchOutcome},
    claim::{self, ClaimRequest},
    finish::{self, FinishedBatch},
    publish, refusal,
    signature_cache::SignatureCache,
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

    /// Returns the claim that may take what is accepted now: the first, unless anything has waited for longer.
    async fn claim_for_accepted<D: SqlExecutor>(
        &self,
        tx: &D,
    ) -> Result<Option<&'o ClaimRequest>, StoreError> {
        match self.claim.first() {
            Some(claim) if !self.accept.is_empty() && !claim::has_ready_work(tx, claim).await? => {
                Ok(Some(claim))
            }
            _ => Ok(None),
        }
    }

    /// Writes the batch. Claims come late, so that they can take what the batch accepts and makes room for. Events come
    /// last.
    pub(super) async fn perform<D: SqlExecutor>(
        &self,
        tx: &D,
        signatures: Option<&SignatureCache>,
        observations: &ObservationCache,
    ) -> Result<BatchOutcome, StoreError> {
        let finished = finish::finish(tx, &self.finish, observations).await?;
        let AcceptedBatch { outcomes, claimed: claimed_on_accept } =
            accept::accept(tx, &self.accept, self.claim_for_accepted(tx).await?, signatures).await?;
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
        let claimed_on_accept_count = claimed_on_accept.len();
        claimed.extend(Some(claimed_on_accept).filter(|begun| !begun.is_empty()));
        for claim in &self.claim[claimed.len()..] {
            claimed.push(claim::claim(tx, claim).await?);
        }
        let claimed_on_accept =
            if claimed_on_accept_count > 0 { claimed.first().map_or(&[][..], Vec::as_slice) } else { &[] };
        let published =
            publish::publish_events(tx, self, &finished, &outcomes, (claimed_on_accept, &claimed)).await?;
        let FinishedBatch { lease_held, has_ready_runs, observed, .. } = finished;
        Ok(BatchOutcome {
            outcomes,
            claimed_on_accept: claimed_on_accept_count,
            lease_held,
            has_ready_runs,
            claimed,
            observed,
            published_workspaces: published,
        })
    }
}
