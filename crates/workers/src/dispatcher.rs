//! Claims runs from the queue, hands them to a [`Runner`], renews their leases and records their outcomes.

mod concurrency_limiter;
mod leases;
mod slots;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Clock, Randomness, StoreError, Timestamp,
    id::{NodeId, RunId},
};
use runs::queue::{ClaimLimit, ClaimedRun, FinishedRun, LEASE, RunQueue};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{backoff::Backoff, run_at_interval};
use concurrency_limiter::{ConcurrencyLimiter, Reservation};
use leases::{LeaseGuard, LeaseTable};
use slots::Offer;

/// Time between extensions of the leases; two in a row may fail before a lease expires.
const EXTEND_INTERVAL: Duration = Duration::from_secs(10);
/// Time between looks, while anything runs, for runs that were taken from this node. It is told at once of what its own
/// process took; another node of the same database cannot tell it.
const LOST_RUNS_INTERVAL: Duration = Duration::from_millis(500);
/// Time between searches for runs whose lease has expired.
const EXPIRED_INTERVAL: Duration = Duration::from_secs(5);
/// Bound on the delay before a due retry is noticed; new work wakes the dispatcher at once.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Time that stopped runs have to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of outcomes being written at once.
const MAX_CONCURRENT_FINISHES: usize = 128;
/// Maximum number of runs per claim.
const MAX_CLAIM_BATCH: u32 = 64;

/// Executes claimed runs.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Executes one run and returns its outcome. Dropping the future stops the run.
    async fn run(&self, run: ClaimedRun) -> FinishedRun;
}

/// Settings of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatcherOptions {
    /// Maximum number of concurrent runs; 0 counts as 1.
    pub slots: u32,
    /// Time that runs may go on after the shutdown began; runs still going on are then released to other nodes.
    pub grace: Duration,
}

impl Default for DispatcherOptions {
    fn default() -> Self {
        Self { slots: 16, grace: Duration::from_secs(8) }
    }
}

/// Works off the queue on one node.
///
/// Claims no more runs than can start within milliseconds, so that the rest stay available to other nodes.
pub struct Dispatcher {
    work: Arc<Shared>,
    grace: Duration,
}

/// State shared by the loops and the tasks of runs.
struct Shared {
    queue: Arc<dyn RunQueue>,
    runner: Arc<dyn Runner>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    node: NodeId,
    leases: Arc<LeaseTable>,
    tasks: TaskTracker,
    limiter: Arc<ConcurrencyLimiter>,
    /// Bounds the number of outcomes being written.
    finish_permits: Semaphore,
}

impl Dispatcher {
    /// Creates the dispatcher of `node`, an id that no other process uses.
    #[must_use]
    pub fn new(
        queue: Arc<dyn RunQueue>,
        runner: Arc<dyn Runner>,
        (clock, random): (Arc<dyn Clock>, Arc<dyn Randomness>),
        node: NodeId,
        options: DispatcherOptions,
    ) -> Self {
        let (leases, tasks) = (Arc::default(), TaskTracker::new());
        let limiter = ConcurrencyLimiter::new(options.slots.max(1));
        let finish_permits = Semaphore::new(MAX_CONCURRENT_FINISHES);
        let work = Shared { queue, runner, clock, random, node, leases, tasks, limiter, finish_permits };
        Self { work: Arc::new(work), grace: options.grace }
    }

    /// Works until `shutdown`, then gives runs the grace period to end and releases the rest.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { work, grace } = self;
        let lease_maintenance = async {
            tokio::join!(
                run_at_interval(EXTEND_INTERVAL, CancellationToken::new(), || work.extend_leases()),
                run_at_interval(EXPIRED_INTERVAL, CancellationToken::new(), || work.release_expired_leases()),
                work.watch_leases(),
            )
        };
        let main = async {
            let offer = Offer::new(&work);
            work.claim_loop(&shutdown).await;
            drop(offer);
            work.drain(grace).await;
        };
        tokio::select! {
            () = main => {}
            _ = lease_maintenance => {}
        }
    }
}

impl Shared {
    /// Claims and starts runs until `shutdown`. A claim in progress is finished: this node holds what it claimed.
    async fn claim_loop(self: &Arc<Self>, shutdown: &CancellationToken) {
        let mut backoff = Backoff::default();
        while let Some(limit) =
            shutdown.run_until_cancelled(self.limiter.wait_for_capacity(MAX_CLAIM_BATCH)).await
        {
            // A share without room may have more runs in the queue: claim again when one of its runs ends.
            let has_exhausted_share = limit.exhausted_shares().next().is_some();
            let pause = match self.claim(limit).await {
                Ok(0) => None,
                Ok(_) => {
                    backoff.reset();
                    continue;
                }
                Err(error) => {
                    let wait = backoff.next_delay(&*self.random);
                    if backoff.is_first_failure() {
                        tracing::warn!(error = &error as &dyn std::error::Error, "cannot claim runs");
                    }
                    Some(wait)
                }
            };
            let pause = async {
                match pause {
                    Some(wait) => sleep(wait).await,
                    None => tokio::select! {
                        () = self.queue.wait_for_work(POLL_INTERVAL) => {}
                        () = self.limiter.changed(), if has_exhausted_share => {}
                    },
                }
            };
            if shutdown.run_until_cancelled(pause).await.is_none() {
                return;
            }
        }
    }

    /// Claims and starts runs within `limit`; returns their number.
    async fn claim(self: &Arc<Self>, limit: ClaimLimit) -> Result<usize, StoreError> {
        let now = self.clock.now();
        let claimed = self.queue.claim(self.node, limit, Arc::clone(&self.clock)).await?;
        let count = claimed.len();
        for run in claimed {
            self.spawn_run(run, now + LEASE);
        }
        Ok(count)
    }

    fn spawn_run(self: &Arc<Self>, run: ClaimedRun, until: Timestamp) {
        let reservation = self.limiter.reserve(run.share);
        self.spawn_reserved(run, until, reservation);
    }

    /// Starts the task of a run that this node holds until `until`.
    fn spawn_reserved(self: &Arc<Self>, run: ClaimedRun, until: Timestamp, mut reservation: Reservation) {
        let (id, attempt) = (run.id, run.attempt);
        let work = Arc::clone(self);
        self.leases.insert(id, attempt, until, |lease| {
            let task = self.tasks.spawn(async move {
                if reservation.acquire().await.is_err() {
                    // The lease goes first: the run may be claimed again, as the same attempt, before this task ends.
                    drop(lease);
                    work.release_runs(&[id]).await;
                    drop(reservation);
                    return;
                }
                let finished = work.runner.run(run).await;
                // The permit is returned once the code has ended: the next run need not wait for this outcome's write.
                let _finish_permit = work.finish_permits.acquire().await;
                drop(reservation);
                work.finish(finished, &lease).await;
                drop(lease);
            });
            task.abort_handle()
        });
    }

    /// Writes an outcome; retries while the store is unavailable and the lease has not expired.
    async fn finish(&self, finished: FinishedRun, lease: &LeaseGuard) {
        let run = finished.id;
        // The lease is no longer extended: a store that cannot be written to must not hold the run for ever.
        let until = lease.stop_renewal();
        let mut backoff = Backoff::default();
        let error = loop {
            match self.queue.finish(self.node, clone_finished_run(&finished)).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::info!(%run, "run ended after its lease was lost; outcome discarded");
                    return;
                }
                Err(error @ StoreError::Unavailable(_)) => {
                    let wait = backoff.next_delay(&*self.random);
                    let wakes = self.clock.now() + TimeDelta::from_std(wait).unwrap_or(LEASE);
                    if until.is_none_or(|until| wakes >= until) {
                        break error;
                    }
                    sleep(wait).await;
                }
                Err(error) => break error,
            }
        };
        tracing::error!(%run, error = &error as &dyn std::error::Error, "cannot write the outcome of a run");
    }

    /// Extends the leases of this node's runs and stops the runs whose lease is lost.
    async fn extend_leases(&self) {
        let runs = self.leases.renewable_runs();
        if runs.is_empty() {
            return;
        }
        let now = self.clock.now();
        match self.queue.extend_leases(self.node, &runs, now).await {
            Ok(kept) => {
                for run in self.leases.apply_extension(&runs, &kept, now + LEASE) {
                    tracing::warn!(%run, "lease lost; stopping the run");
                }
            }
            // Writing the outcome will show whether this node still holds a run.
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "cannot extend leases");
            }
        }
    }

    /// Stops runs that were taken from this node as soon as it is told.
    async fn watch_leases(&self) {
        loop {
            self.queue.wait_for_lost_runs(LOST_RUNS_INTERVAL).await;
            let runs = self.leases.renewable_runs();
            if runs.is_empty() {
                continue;
            }
            match self.queue.held_runs(self.node, &runs).await {
                Ok(held) => {
                    for run in self.leases.abort_lost(&runs, &held) {
                        tracing::info!(%run, "run taken from this node; stopping it");
                    }
                }
                // The next extension will show what was lost.
                Err(error) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "cannot look for lost runs");
                }
            }
        }
    }

    async fn release_expired_leases(&self) {
        match self.queue.release_expired_leases(self.clock.now()).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "released runs with expired leases"),
            Err(error) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "cannot look for expired leases");
            }
        }
    }

    /// Waits up to `grace` for runs to end, then stops and releases the rest.
    async fn drain(&self, grace: Duration) {
        self.limiter.close();
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let left = self.leases.abort_all();
        // Stopped tasks end at once. A slot may be of a batch that the database never answers: its run is claimed again when
        // its lease expires.
        drop(timeout(STOP_TIMEOUT, self.tasks.wait()).await);
        tracing::info!(count = left.len(), "released unfinished runs");
        self.release_runs(&left).await;
    }

    async fn release_runs(&self, runs: &[RunId]) {
        if let Err(error) = self.queue.release(self.node, runs).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot release runs; they become claimable when their leases expire"
            );
        }
    }
}

/// Copies an outcome, because [`RunQueue::finish`] takes it by value and a failed write is retried.
fn clone_finished_run(finished: &FinishedRun) -> FinishedRun {
    let FinishedRun {
        id,
        workspace,
        app,
        automation,
        attempt,
        at,
        started_at,
        outcome: conclusion,
        minutes_saved,
        result,
        steps,
        lines,
    } = finished;
    FinishedRun {
        id: *id,
        workspace: *workspace,
        app: *app,
        automation: *automation,
        attempt: *attempt,
        at: *at,
        started_at: *started_at,
        outcome: conclusion.clone(),
        minutes_saved: *minutes_saved,
        result: result.clone(),
        steps: steps.clone(),
        lines: lines.clone(),
    }
}

#[cfg(test)]
mod tests;
