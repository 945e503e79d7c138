//! Claims runs from the queue, has them run, keeps their leases, and writes their ends.

mod held;
mod places;

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

use crate::{backoff::Backoff, every};
use held::{Held, Hold};
use places::Places;

/// How often leases are extended; two extensions may fail before a lease ends.
const EXTEND: Duration = Duration::from_secs(10);
/// How often runs are looked for whose holder was lost.
const EXPIRED: Duration = Duration::from_secs(5);
/// How late a run that is tried again is noticed; new work rings.
const LOOK: Duration = Duration::from_secs(1);
/// Ends being written at once.
const ENDINGS: usize = 128;
/// Runs claimed in one go.
const BATCH: u32 = 64;

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
    work: Arc<Work>,
    grace: Duration,
}

/// What the loops and the tasks of runs share.
struct Work {
    queue: Arc<dyn RunQueue>,
    runner: Arc<dyn Runner>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    node: NodeId,
    held: Arc<Held>,
    tasks: TaskTracker,
    places: Arc<Places>,
    /// Bounds the ends that are being written.
    endings: Semaphore,
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
        let (held, tasks) = (Arc::default(), TaskTracker::new());
        let places = Places::new(options.slots.max(1));
        let endings = Semaphore::new(ENDINGS);
        let work = Work { queue, runner, clock, random, node, held, tasks, places, endings };
        Self { work: Arc::new(work), grace: options.grace }
    }

    /// Works until `shutdown`; then lets runs at work end for a while, and hands back the rest.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { work, grace } = self;
        let duties = async {
            tokio::join!(
                every(EXTEND, CancellationToken::new(), || work.extend_leases()),
                every(EXPIRED, CancellationToken::new(), || work.release_expired()),
            )
        };
        let main = async {
            work.claim_until(&shutdown).await;
            work.drain(grace).await;
        };
        tokio::select! {
            () = main => {}
            _ = duties => {}
        }
    }
}

impl Work {
    /// Claims and starts runs until `shutdown`. A claim that was begun is finished, since what it claimed is ours.
    async fn claim_until(self: &Arc<Self>, shutdown: &CancellationToken) {
        let mut backoff = Backoff::default();
        while let Some(room) = shutdown.run_until_cancelled(self.places.wait_for_room(BATCH)).await {
            // A workspace that has its share has more in the queue, maybe: it is looked for when one of its runs ends.
            let someone_is_full = room.full().next().is_some();
            let pause = match self.claim(room).await {
                Ok(0) => None,
                Ok(_) => {
                    backoff.reset();
                    continue;
                }
                Err(error) => {
                    let wait = backoff.after_failure(&*self.random);
                    if backoff.is_first() {
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
                        () = self.queue.wait_for_work(LOOK) => {}
                        () = self.places.changed(), if someone_is_full => {}
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
            self.start(run, now + LEASE);
        }
        Ok(count)
    }

    fn start(self: &Arc<Self>, run: ClaimedRun, until: kernel::Timestamp) {
        let (id, attempt) = (run.id, run.attempt);
        let work = Arc::clone(self);
        let mut turn = self.places.turn(run.workspace);
        self.held.insert(id, attempt, until, |hold| {
            let task = self.tasks.spawn(async move {
                if turn.begin().await.is_err() {
                    // First let go of here: it may be claimed again, as the same attempt, before this task has ended.
                    drop(hold);
                    work.hand_back(&[id]).await;
                    drop(turn);
                    return;
                }
                let finished = work.runner.run(run).await;
                // The place is free once the code has ended: the next run need not wait until this end is on the disk.
                let _ending = work.endings.acquire().await;
                drop(turn);
                work.finish(finished, &hold).await;
                drop(hold);
            });
            task.abort_handle()
        });
    }

    /// Writes an end, again and again until the store answers or the lease has ended.
    async fn finish(&self, finished: FinishedRun, hold: &Hold) {
        let run = finished.id;
        // From here on the lease is not extended: a store that cannot be written to must not hold the run for ever.
        let until = hold.close();
        let mut backoff = Backoff::default();
        let error = loop {
            match self.queue.finish(self.node, copy(&finished)).await {
                Ok(true) => return,
                Ok(false) => {
                    tracing::info!(%run, "a run ended after its lease; the end is not written");
                    return;
                }
                Err(error @ StoreError::Unavailable(_)) => {
                    let wait = backoff.after_failure(&*self.random);
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
        let runs = self.held.open();
        if runs.is_empty() {
            return;
        }
        let now = self.clock.now();
        match self.queue.extend(self.node, &runs, now).await {
            Ok(kept) => {
                for run in self.held.extended(&runs, &kept, now + LEASE) {
                    tracing::warn!(%run, "the lease of a run was lost; it is stopped");
                }
            }
            // Whether a run is still ours will be told when its end is written.
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "leases cannot be extended now");
            }
        }
    }

    async fn release_expired(&self) {
        match self.queue.release_expired(self.clock.now()).await {
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
        self.places.close();
        self.tasks.close();
        if timeout(grace, self.tasks.wait()).await.is_ok() {
            return;
        }
        let left = self.held.abort_all();
        self.tasks.wait().await;
        tracing::info!(count = left.len(), "runs are handed back");
        self.hand_back(&left).await;
    }

    async fn hand_back(&self, runs: &[RunId]) {
        if let Err(error) = self.queue.release(self.node, runs).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "runs are handed back by their leases' end"
            );
        }
    }
}

/// The queue takes an end by value; should it fail, another is needed.
fn copy(finished: &FinishedRun) -> FinishedRun {
    let FinishedRun {
        id,
        workspace,
        app,
        automation,
        attempt,
        at,
        started_at,
        conclusion,
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
        conclusion: conclusion.clone(),
        minutes_saved: *minutes_saved,
        steps: steps.clone(),
        lines: lines.clone(),
    }
}

#[cfg(test)]
mod tests;
