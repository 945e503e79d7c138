//! Claims runs from the queue, has them run, keeps their leases, and writes their ends.

mod concurrency_limiter;
mod leases;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Clock, Randomness, StoreError,
    id::{NodeId, RunId},
};
use runs::queue::{ClaimLimit, ClaimedRun, FinishedRun, LEASE, RunQueue};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{backoff::Backoff, run_at_interval};
use concurrency_limiter::ConcurrencyLimiter;
use leases::{LeaseGuard, LeaseTable};

/// How often leases are extended; two extensions may fail before a lease ends.
const EXTEND_INTERVAL: Duration = Duration::from_secs(10);
/// How often runs are looked for whose holder was lost.
const EXPIRED_INTERVAL: Duration = Duration::from_secs(5);
/// How late a run that is tried again is noticed; new work rings.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Ends being written at once.
const MAX_CONCURRENT_FINISHES: usize = 128;
/// Runs claimed in one go.
const MAX_CLAIM_BATCH: u32 = 64;

/// Does the work of one claimed run.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Runs it and says what became of it. Dropping the future stops the run.
    async fn run(&self, run: ClaimedRun) -> FinishedRun;
}

/// What the operator decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatcherOptions {
    /// Runs at work at once; at least one.
    pub slots: u32,
    /// How long runs may go on after the shutdown began; what is left then is handed back.
    pub grace: Duration,
}

impl Default for DispatcherOptions {
    fn default() -> Self {
        Self { slots: 16, grace: Duration::from_secs(8) }
    }
}

/// Works off the queue.
///
/// No more is claimed than can start within milliseconds, so that other nodes find work too.
pub struct Dispatcher {
    work: Arc<Shared>,
    grace: Duration,
}

/// What the loops and the tasks of runs share.
struct Shared {
    queue: Arc<dyn RunQueue>,
    runner: Arc<dyn Runner>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    node: NodeId,
    leases: Arc<LeaseTable>,
    tasks: TaskTracker,
    limiter: Arc<ConcurrencyLimiter>,
    /// Bounds the ends that are being written.
    finish_permits: Semaphore,
}

impl Dispatcher {
    /// A dispatcher of `node`, whose id no other process has.
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

    /// Works until `shutdown`; then lets runs at work end for a while, and hands back the rest.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { work, grace } = self;
        let lease_maintenance = async {
            tokio::join!(
                run_at_interval(EXTEND_INTERVAL, CancellationToken::new(), || work.extend_leases()),
                run_at_interval(EXPIRED_INTERVAL, CancellationToken::new(), || work.release_expired_leases()),
            )
        };
        let main = async {
            work.claim_loop(&shutdown).await;
            work.drain(grace).await;
        };
        tokio::select! {
            () = main => {}
            _ = lease_maintenance => {}
        }
    }
}

impl Shared {
    /// Claims and starts runs until `shutdown`. A claim that was begun is finished, since what it claimed is ours.
    async fn claim_loop(self: &Arc<Self>, shutdown: &CancellationToken) {
        let mut backoff = Backoff::default();
        while let Some(limit) =
            shutdown.run_until_cancelled(self.limiter.wait_for_capacity(MAX_CLAIM_BATCH)).await
        {
            // A workspace that has its share has more in the queue, maybe: it is looked for when one of its runs ends.
            let has_exhausted_workspace = limit.exhausted_workspaces().next().is_some();
            let pause = match self.claim(limit).await {
                Ok(0) => None,
                Ok(_) => {
                    backoff.reset();
                    continue;
                }
                Err(error) => {
                    let wait = backoff.next_delay(&*self.random);
                    if backoff.is_first_failure() {
                        tracing::warn!(
                            error = &error as &dyn std::error::Error,
                            "no runs can be claimed now"
                        );
                    }
                    Some(wait)
                }
            };
            let pause = async {
                match pause {
                    Some(wait) => sleep(wait).await,
                    None => tokio::select! {
                        () = self.queue.wait_for_work(POLL_INTERVAL) => {}
                        () = self.limiter.changed(), if has_exhausted_workspace => {}
                    },
                }
            };
            if shutdown.run_until_cancelled(pause).await.is_none() {
                return;
            }
        }
    }

    /// Claims runs within `limit`, and starts them; how many.
    async fn claim(self: &Arc<Self>, limit: ClaimLimit) -> Result<usize, StoreError> {
        let now = self.clock.now();
        let claimed = self.queue.claim(self.node, limit, Arc::clone(&self.clock)).await?;
        let count = claimed.len();
        for run in claimed {
            self.spawn_run(run, now + LEASE);
        }
        Ok(count)
    }

    fn spawn_run(self: &Arc<Self>, run: ClaimedRun, until: kernel::Timestamp) {
        let (id, attempt) = (run.id, run.attempt);
        let work = Arc::clone(self);
        let mut reservation = self.limiter.reserve(run.workspace);
        self.leases.insert(id, attempt, until, |lease| {
            let task = self.tasks.spawn(async move {
                if reservation.acquire().await.is_err() {
                    // First let go of here: it may be claimed again, as the same attempt, before this task has ended.
                    drop(lease);
                    work.release_runs(&[id]).await;
                    drop(reservation);
                    return;
                }
                let finished = work.runner.run(run).await;
                // The place is free once the code has ended: the next run need not wait until this end is on the disk.
                let _finish_permit = work.finish_permits.acquire().await;
                drop(reservation);
                work.finish(finished, &lease).await;
                drop(lease);
            });
            task.abort_handle()
        });
    }

    /// Writes an end, again and again until the store answers or the lease has ended.
    async fn finish(&self, finished: FinishedRun, lease: &LeaseGuard) {
        let run = finished.id;
        // From here on the lease is not extended: a store that cannot be written to must not hold the run for ever.
        let until = lease.stop_renewal();
        let mut backoff = Backoff::default();
        let error = loop {
            match self.queue.finish(self.node, clone_finished_run(&finished)).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::info!(%run, "a run ended after its lease; the end is not written");
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
        tracing::error!(%run, error = &error as &dyn std::error::Error, "the end of a run cannot be written");
    }

    /// Keeps what is ours, and stops what is ours no more.
    async fn extend_leases(&self) {
        let runs = self.leases.renewable_runs();
        if runs.is_empty() {
            return;
        }
        let now = self.clock.now();
        match self.queue.extend_leases(self.node, &runs, now).await {
            Ok(kept) => {
                for run in self.leases.apply_extension(&runs, &kept, now + LEASE) {
                    tracing::warn!(%run, "the lease of a run was lost; it is stopped");
                }
            }
            // Whether a run is still ours will be told when its end is written.
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "leases cannot be extended now");
            }
        }
    }

    async fn release_expired_leases(&self) {
        match self.queue.release_expired_leases(self.clock.now()).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "runs of lost holders can be claimed again"),
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "expired leases cannot be looked for"
                );
            }
        }
    }

    /// Lets runs at work end, and hands back what has not after `grace`.
    async fn drain(&self, grace: Duration) {
        self.limiter.close();
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let left = self.leases.abort_all();
        self.tasks.wait().await;
        tracing::info!(count = left.len(), "runs are handed back");
        self.release_runs(&left).await;
    }

    async fn release_runs(&self, runs: &[RunId]) {
        if let Err(error) = self.queue.release(self.node, runs).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "runs are handed back by their leases' end"
            );
        }
    }
}

/// The queue takes an end by value; should it fail, another is needed.
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
        steps: steps.clone(),
        lines: lines.clone(),
    }
}

#[cfg(test)]
mod tests;
