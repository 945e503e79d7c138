//! The pool of worker processes. A process is bound to one workspace from its first invocation to its end.
//! See `docs/decisions/0015-run-app-code-in-worker-processes.md`.

mod concurrency_limiter;
mod fair_queue;
mod handover;
mod stream_limiter;
mod workload;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use kernel::{ShareId, id::WorkspaceId};
use runs::engine::{Failure, FailureCode};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{interval, timeout},
};

use crate::{config::RuntimeConfig, cpu_usage::CpuUsage, spawner::Spawner, worker_process::WorkerProcess};
use concurrency_limiter::ConcurrencyLimiter;
use handover::{ActivityId, HandoverQueue, SHORT_INVOCATION};
use stream_limiter::StreamLimiter;

pub(crate) use stream_limiter::StreamPermit;
pub(crate) use workload::{WorkloadKey, WorkloadKind};

/// The worker processes of one engine.
pub(crate) struct Pool {
    config: RuntimeConfig,
    spawner: Spawner,
    streams: Arc<StreamLimiter>,
    usage: Arc<CpuUsage>,
    state: Mutex<State>,
}

struct State {
    /// Processes that are not bound to a workspace.
    prewarmed: Vec<WorkerProcess>,
    /// Prewarmed processes that are being started.
    starting: usize,
    /// Incremented by [`WorkerLease::recycle_workers`]. A prewarmed process of an earlier generation serves nobody.
    generation: u64,
    /// Idle processes, the longest idle first.
    idle: Vec<IdleWorker>,
    /// Indexed by [`WorkloadKind`].
    limiters: [ConcurrencyLimiter<QueuedTurn>; WorkloadKind::ALL.len()],
    handover: HandoverQueue<WorkerLease>,
    is_confinement_logged: bool,
}

/// The channel of a caller in the queue.
type QueuedTurn = oneshot::Sender<WorkerLease>;

struct IdleWorker {
    workspace: WorkspaceId,
    process: WorkerProcess,
    idle_since: Instant,
}

/// The right to run one process for a workspace. Dropping it frees the slot; the process is kept only if it was given back by
/// [`WorkerLease::return_worker`].
pub(crate) struct WorkerLease {
    pool: Arc<Pool>,
    key: WorkloadKey,
    busy: Option<BusyGuard>,
    process: Option<WorkerProcess>,
}

/// Counts an invocation as computing, so that its process may be free soon. Drop it when the code waits for the outside.
pub(crate) struct BusyGuard {
    pool: Arc<Pool>,
    activity: ActivityId,
}

impl Pool {
    /// Starts the prewarmed processes. Must be called inside a tokio runtime.
    pub(crate) fn start(config: RuntimeConfig, spawner: Spawner) -> io::Result<Arc<Self>> {
        let streams = Arc::new(StreamLimiter::for_request_limit(config.concurrency.requests));
        let state = State {
            prewarmed: Vec::new(),
            starting: 0,
            generation: 0,
            idle: Vec::new(),
            limiters: WorkloadKind::ALL.map(|kind| ConcurrencyLimiter::new(concurrency_limit(&config, kind))),
            handover: HandoverQueue::new(config.handover_threshold),
            is_confinement_logged: false,
        };
        let usage = Arc::new(CpuUsage::new(Instant::now()));
        let pool = Arc::new(Self { config, spawner, streams, usage, state: Mutex::new(state) });
        pool.replenish();
        let eviction = evict_idle(Arc::downgrade(&pool), pool.config.idle_timeout);
        Handle::try_current().map_err(io::Error::other)?.spawn(eviction);
        Ok(pool)
    }

    pub(crate) fn config(&self) -> &RuntimeConfig {
        &self.config
    }

    /// Charges a share for processor time that was used outside of its processes.
    pub(crate) fn charge_cpu_time(&self, share: ShareId, used: Duration) {
        self.usage.record(share, used, Instant::now());
    }

    /// Takes a permit for a streamed response.
    pub(crate) fn acquire_stream(&self, share: ShareId) -> Result<StreamPermit, Failure> {
        self.streams
            .try_acquire(share)
            .ok_or_else(|| overloaded("too many answers are being streamed at once"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot of a kind for a workspace, with a process. Waits in the queue if no slot is free that the share may have. If
    /// the share is over what it may use of the processors, the process runs at idle priority.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        key: WorkloadKey,
    ) -> Result<(WorkerLease, WorkerProcess), Failure> {
        let (lease, mut process) = self.acquire_worker(key).await?;
        process.bind_share(&self.usage, key.share);
        process.enforce_fair_share();
        Ok((lease, process))
    }

    async fn acquire_worker(
        self: &Arc<Self>,
        key: WorkloadKey,
    ) -> Result<(WorkerLease, WorkerProcess), Failure> {
        if let Some(mut lease) = self.wait_for_handover(key).await
            && let Some(process) = lease.process.take()
        {
            // It has just completed a job, so it is alive.
            return Ok((lease, process));
        }
        let mut lease = match self.lease_or_enqueue(key)? {
            Ok(lease) => lease,
            Err(turn) => match timeout(self.config.queue_timeout, turn).await {
                Ok(Ok(lease)) => lease,
                _ => return Err(overloaded("no worker process became free in time")),
            },
        };
        if let Some(process) = lease.process.take()
            && process.is_alive()
        {
            return Ok((lease, process));
        }
        let process = self.fresh_worker().await?;
        Ok((lease, process))
    }

    /// Returns a process that has run nothing yet, and that no share pays for.
    async fn fresh_worker(self: &Arc<Self>) -> Result<WorkerProcess, Failure> {
        let prewarmed = self.take_prewarmed();
        self.replenish();
        if let Some(process) = prewarmed {
            return Ok(process);
        }
        match self.spawn().await {
            Ok(process) => {
                self.log_confinement_once(&process);
                Ok(process)
            }
            Err(error) => {
                tracing::error!(%error, "a worker process cannot be started");
                Err(overloaded("a worker process cannot be started"))
            }
        }
    }

    /// Waits a moment for a process that is expected to be free soon; `None` if none is, or it was not.
    async fn wait_for_handover(self: &Arc<Self>, key: WorkloadKey) -> Option<WorkerLease> {
        let turn = {
            let mut state = self.state();
            // Nobody overtakes the queue.
            if state.limiter(key.kind).has_waiters() {
                return None;
            }
            state.handover.try_wait(key, Instant::now())?
        };
        let lease = timeout(SHORT_INVOCATION, turn).await;
        if lease.is_err() {
            self.state().handover.remove_closed(key);
        }
        lease.ok()?.ok()
    }

    /// Takes a slot at once, or a place in the queue.
    fn lease_or_enqueue(
        self: &Arc<Self>,
        key: WorkloadKey,
    ) -> Result<Result<WorkerLease, oneshot::Receiver<WorkerLease>>, Failure> {
        let mut state = self.state();
        if state.limiter(key.kind).can_acquire(key.share) {
            let lease = self.grant_lease(&mut state, key);
            let surplus = self.remove_surplus_idle(&mut state);
            drop(state);
            drop(surplus);
            return Ok(Ok(lease));
        }
        let (turn, waiting) = oneshot::channel();
        let bounds = (self.config.max_queued, self.config.max_queued_per_share);
        let is_gone = |turn: &QueuedTurn| turn.is_closed();
        let queued = state.limiter(key.kind).enqueue(key, turn, bounds, is_gone);
        if queued { Ok(Err(waiting)) } else { Err(overloaded("too much code waits for a worker process")) }
    }

    /// Takes a free slot, with an idle process of the workspace if there is one.
    fn grant_lease(self: &Arc<Self>, state: &mut State, key: WorkloadKey) -> WorkerLease {
        let now = Instant::now();
        state.limiter(key.kind).acquire(key);
        let with_low_priority = |low| {
            let mine = |idle: &IdleWorker| idle.workspace == key.workspace;
            state.idle.iter().rposition(|idle| mine(idle) && idle.process.has_low_priority() == low)
        };
        let over_share = self.usage.is_over_share(key.share, now);
        let low = if over_share { with_low_priority(true) } else { None };
        let at = low.or_else(|| with_low_priority(false));
        let process = at.map(|at| state.idle.remove(at).process);
        let activity = state.handover.start(key, now);
        let busy = Some(BusyGuard { pool: Arc::clone(self), activity });
        WorkerLease { pool: Arc::clone(self), key, busy, process }
    }

    /// Removes the idle processes that are too many beside the busy ones, the longest idle first. Drop them outside of the lock,
    /// which kills them.
    fn remove_surplus_idle(&self, state: &mut State) -> Vec<IdleWorker> {
        let busy: usize = state.limiters.iter().map(ConcurrencyLimiter::in_use).sum();
        let max: usize = WorkloadKind::ALL.iter().map(|kind| concurrency_limit(&self.config, *kind)).sum();
        let over = (busy + state.idle.len()).saturating_sub(max);
        state.idle.drain(..over.min(state.idle.len())).collect()
    }

    fn take_prewarmed(&self) -> Option<WorkerProcess> {
        let mut state = self.state();
        while let Some(process) = state.prewarmed.pop() {
            if process.is_alive() {
                return Some(process);
            }
        }
        None
    }

    /// Starts prewarmed processes in the background until there are enough.
    fn replenish(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            if state.prewarmed.len() + state.starting >= self.config.prewarmed {
                return;
            }
            state.starting += 1;
            let generation = state.generation;
            drop(state);
            let pool = Arc::downgrade(self);
            let Ok(runtime) = Handle::try_current() else { return };
            let Some(strong) = pool.upgrade() else { return };
            runtime.spawn(async move {
                let process = strong.spawn().await;
                let mut state = strong.state();
                state.starting -= 1;
                match process {
                    Ok(process) if state.generation != generation => {
                        drop(state);
                        drop(process);
                        strong.replenish();
                    }
                    Ok(process) => {
                        state.prewarmed.push(process);
                        let is_logged = std::mem::replace(&mut state.is_confinement_logged, true);
                        if let Some(process) = state.prewarmed.last()
                            && !is_logged
                        {
                            log_confinement(process);
                        }
                    }
                    Err(error) => tracing::error!(%error, "a worker process cannot be started"),
                }
            });
        }
    }

    /// Starts a process. Fails if a layer of confinement is missing and all are required.
    pub(crate) async fn spawn(&self) -> io::Result<WorkerProcess> {
        let process = self.spawner.spawn().await?;
        let missing = process.confinement.missing_layers();
        if self.config.require_confinement && !missing.is_empty() {
            return Err(io::Error::other(format!(
                "a wall of the sandbox is missing: {}",
                missing.join(", ")
            )));
        }
        Ok(process)
    }

    fn log_confinement_once(&self, process: &WorkerProcess) {
        if !std::mem::replace(&mut self.state().is_confinement_logged, true) {
            log_confinement(process);
        }
    }

    /// Frees a slot, and grants slots to callers in the queue that may have one now, or to one that waits for this very process.
    fn release_slot(self: &Arc<Self>, key: WorkloadKey, process: Option<WorkerProcess>) {
        let is_reusable = |process: &WorkerProcess| {
            !process.has_low_priority() || self.usage.is_over_share(key.share, Instant::now())
        };
        let process = process.filter(is_reusable);
        let mut state = self.state();
        state.limiter(key.kind).release(key);
        let lives = process.is_some();
        let idle = |process| IdleWorker { workspace: key.workspace, process, idle_since: Instant::now() };
        state.idle.extend(process.map(idle));
        let (mut granted, mut releasing) = (Vec::new(), Some(key));
        while let Some((next, turn)) = state.limiter(key.kind).next_waiter(releasing) {
            if !turn.is_closed() {
                granted.push((turn, self.grant_lease(&mut state, next)));
                releasing = None;
            }
        }
        if lives && granted.is_empty() && state.limiter(key.kind).can_acquire(key.share) {
            let turn = state.handover.pop_waiter(key);
            granted.extend(turn.map(|turn| (turn, self.grant_lease(&mut state, key))));
        }
        let surplus = self.remove_surplus_idle(&mut state);
        drop(state);
        for (turn, lease) in granted {
            // If that caller went away at this very moment, dropping the lease comes back here.
            let _ = turn.send(lease);
        }
        drop(surplus);
    }
}

impl State {
    fn limiter(&mut self, kind: WorkloadKind) -> &mut ConcurrencyLimiter<QueuedTurn> {
        &mut self.limiters[kind as usize]
    }
}

fn concurrency_limit(config: &RuntimeConfig, kind: WorkloadKind) -> usize {
    let limits = config.concurrency;
    match kind {
        WorkloadKind::Run => limits.runs,
        WorkloadKind::HttpRequest => limits.requests,
        WorkloadKind::Check => limits.checks,
    }
}

impl WorkerLease {
    /// Returns another process, which has run nothing yet, at the cost of the lease's share.
    pub(crate) async fn fresh_worker(&self) -> Result<WorkerProcess, Failure> {
        let mut process = self.pool.fresh_worker().await?;
        process.bind_share(&self.pool.usage, self.key.share);
        process.enforce_fair_share();
        Ok(process)
    }

    /// Takes the guard that counts the invocation of this lease as computing.
    pub(crate) fn take_busy_guard(&mut self) -> Option<BusyGuard> {
        self.busy.take()
    }

    /// Replaces the fork server and the prewarmed processes: the code of this lease broke its own process, and may have learnt the
    /// addresses that others of the same fork server have.
    pub(crate) fn recycle_workers(&self) {
        let mut state = self.pool.state();
        state.generation += 1;
        let prewarmed = std::mem::take(&mut state.prewarmed);
        self.pool.spawner.recycle();
        drop(state);
        drop(prewarmed);
        self.pool.replenish();
    }

    /// Gives the process back for the next invocation of the workspace.
    pub(crate) fn return_worker(mut self, process: WorkerProcess) {
        self.process = Some(process);
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.pool.state().handover.finish(self.activity);
    }
}

impl Drop for WorkerLease {
    fn drop(&mut self) {
        drop(self.busy.take());
        self.pool.release_slot(self.key, self.process.take());
    }
}

/// Kills processes that have been idle for `idle_timeout`, until the pool is dropped.
async fn evict_idle(pool: Weak<Pool>, idle_timeout: Duration) {
    let mut tick = interval((idle_timeout / 4).max(Duration::from_millis(50)));
    loop {
        tick.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        let mut state = pool.state();
        let expired: Vec<IdleWorker> =
            state.idle.extract_if(.., |entry| entry.idle_since.elapsed() >= idle_timeout).collect();
        drop(state);
        drop(expired);
    }
}

fn log_confinement(process: &WorkerProcess) {
    let missing = process.confinement.missing_layers();
    if missing.is_empty() {
        tracing::debug!("app code runs with every layer of confinement");
    } else {
        let missing = missing.join(", ");
        tracing::warn!(missing, "app code runs without some layers of confinement");
    }
}

fn overloaded(message: &str) -> Failure {
    Failure { code: FailureCode::Overloaded, message: message.to_owned(), host_code: None }
}
