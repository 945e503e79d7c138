//! Which process serves whom. A process belongs to one workspace from its first invocation to its end.

mod concurrency_limiter;
mod fair_queue;
mod handover;
mod stream_limiter;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Instant,
};

use kernel::id::WorkspaceId;
use runs::engine::{Failure, FailureCode};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{interval, timeout},
};

use crate::{config::RuntimeConfig, cpu_usage::CpuUsage, spawner::Spawner, worker_process::WorkerProcess};
use concurrency_limiter::{ConcurrencyLimiter, WorkloadKey};
use handover::{ActivityId, HandoverQueue, SHORT_INVOCATION};
use stream_limiter::StreamLimiter;

pub(crate) use concurrency_limiter::WorkloadKind;
pub(crate) use stream_limiter::StreamPermit;

/// The processes of one engine.
pub(crate) struct Pool {
    config: RuntimeConfig,
    spawner: Spawner,
    streams: Arc<StreamLimiter>,
    usage: Arc<CpuUsage>,
    state: Mutex<State>,
}

struct State {
    /// Processes that have seen no workspace.
    prewarmed: Vec<WorkerProcess>,
    /// Blank processes on their way.
    starting: usize,
    /// How often processes to come were to be of another make. A blank one of an earlier make serves nobody.
    generation: u64,
    /// Idle processes, the longest idle first.
    idle: Vec<IdleWorker>,
    /// By [`Kind`].
    limiters: [ConcurrencyLimiter<oneshot::Sender<WorkerLease>>; WorkloadKind::ALL.len()],
    handover: HandoverQueue<WorkerLease>,
    is_confinement_logged: bool,
}

struct IdleWorker {
    workspace: WorkspaceId,
    process: WorkerProcess,
    idle_since: Instant,
}

/// The right to run one process for a workspace. Dropped without [`Lease::release`] it gives the place up, and the
/// process in it is killed.
pub(crate) struct WorkerLease {
    pool: Arc<Pool>,
    key: WorkloadKey,
    busy: Option<BusyGuard>,
    process: Option<WorkerProcess>,
}

/// That code is at work whose process may be free soon; to be dropped when it waits for the outside.
pub(crate) struct BusyGuard {
    pool: Arc<Pool>,
    activity: ActivityId,
}

impl Pool {
    /// Must be called inside a tokio runtime.
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
        let reaped = Arc::downgrade(&pool);
        Handle::try_current().map_err(io::Error::other)?.spawn(evict_idle(reaped, pool.config.idle_timeout));
        Ok(pool)
    }

    pub(crate) fn config(&self) -> &RuntimeConfig {
        &self.config
    }

    /// A place for an answer that comes in pieces.
    pub(crate) fn acquire_stream(&self, workspace: WorkspaceId) -> Result<StreamPermit, Failure> {
        self.streams
            .try_acquire(workspace)
            .ok_or_else(|| overloaded("too many answers are being streamed at once"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process of a place for `kind` of work of `workspace`; waits in turn when none is free that it may have. Where
    /// the workspace is over its share of processor time, the process gives way to all others.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        kind: WorkloadKind,
    ) -> Result<(WorkerLease, WorkerProcess), Failure> {
        let (lease, mut process) = self.acquire_worker(WorkloadKey { workspace, kind }).await?;
        process.bind_workspace(&self.usage, workspace);
        process.enforce_fair_share();
        Ok((lease, process))
    }

    async fn acquire_worker(
        self: &Arc<Self>,
        party: WorkloadKey,
    ) -> Result<(WorkerLease, WorkerProcess), Failure> {
        if let Some(mut lease) = self.wait_for_handover(party).await
            && let Some(process) = lease.process.take()
        {
            // It has just answered, so it lives.
            return Ok((lease, process));
        }
        let mut lease = match self.lease_or_enqueue(party)? {
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
        let blank = self.take_prewarmed();
        self.replenish();
        if let Some(process) = blank {
            return Ok((lease, process));
        }
        match self.spawn().await {
            Ok(process) => {
                self.log_confinement_once(&process);
                Ok((lease, process))
            }
            Err(error) => {
                tracing::error!(%error, "a worker process cannot be started");
                Err(overloaded("a worker process cannot be started"))
            }
        }
    }

    /// The place of a process that became free soon, if that was to be expected.
    async fn wait_for_handover(self: &Arc<Self>, party: WorkloadKey) -> Option<WorkerLease> {
        let turn = {
            let mut state = self.state();
            // Where others wait for a place, this caller waits in turn too.
            if state.limiter(party.kind).has_waiters() {
                return None;
            }
            state.handover.try_wait(party, Instant::now())?
        };
        let lease = timeout(SHORT_INVOCATION, turn).await;
        if lease.is_err() {
            self.state().handover.remove_closed(party);
        }
        lease.ok()?.ok()
    }

    /// A place at once, or a turn in the queue.
    fn lease_or_enqueue(
        self: &Arc<Self>,
        party: WorkloadKey,
    ) -> Result<Result<WorkerLease, oneshot::Receiver<WorkerLease>>, Failure> {
        let mut state = self.state();
        if state.limiter(party.kind).can_acquire(party.workspace) {
            let lease = self.grant_lease(&mut state, party);
            let evicted = self.remove_surplus_idle(&mut state);
            drop(state);
            drop(evicted);
            return Ok(Ok(lease));
        }
        let (turn, waiting) = oneshot::channel();
        let bounds = (self.config.max_queued, self.config.max_queued_per_workspace);
        let queued =
            state.limiter(party.kind).enqueue(party.workspace, turn, bounds, oneshot::Sender::is_closed);
        if queued { Ok(Err(waiting)) } else { Err(overloaded("too much code waits for a worker process")) }
    }

    /// A place, with an idle process of the workspace if there is one.
    fn grant_lease(self: &Arc<Self>, state: &mut State, party: WorkloadKey) -> WorkerLease {
        let now = Instant::now();
        state.limiter(party.kind).acquire(party.workspace);
        let with_low_priority = |low| {
            let mine = |idle: &IdleWorker| idle.workspace == party.workspace;
            state.idle.iter().rposition(|idle| mine(idle) && idle.process.has_low_priority() == low)
        };
        let over_share = self.usage.is_over_share(party.workspace, now);
        let low = if over_share { with_low_priority(true) } else { None };
        let at = low.or_else(|| with_low_priority(false));
        let process = at.map(|at| state.idle.remove(at).process);
        let work = state.handover.start(party, now);
        let at_work = Some(BusyGuard { pool: Arc::clone(self), activity: work });
        WorkerLease { pool: Arc::clone(self), key: party, busy: at_work, process }
    }

    /// The idle processes that are too many beside those at work, the longest idle first. To be dropped, which kills
    /// them, outside of the lock.
    fn remove_surplus_idle(&self, state: &mut State) -> Vec<IdleWorker> {
        let taken: usize = state.limiters.iter().map(ConcurrencyLimiter::in_use).sum();
        let max: usize = WorkloadKind::ALL.iter().map(|kind| concurrency_limit(&self.config, *kind)).sum();
        let over = (taken + state.idle.len()).saturating_sub(max);
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

    /// Starts blank processes in the background until there are enough.
    fn replenish(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            if state.prewarmed.len() + state.starting >= self.config.prewarmed {
                return;
            }
            state.starting += 1;
            let make = state.generation;
            drop(state);
            let pool = Arc::downgrade(self);
            let Ok(runtime) = Handle::try_current() else { return };
            let Some(strong) = pool.upgrade() else { return };
            runtime.spawn(async move {
                let process = strong.spawn().await;
                let mut state = strong.state();
                state.starting -= 1;
                match process {
                    Ok(process) if state.generation != make => {
                        drop(state);
                        drop(process);
                        strong.replenish();
                    }
                    Ok(process) => {
                        state.prewarmed.push(process);
                        let told = std::mem::replace(&mut state.is_confinement_logged, true);
                        if let Some(process) = state.prewarmed.last()
                            && !told
                        {
                            log_confinement(process);
                        }
                    }
                    Err(error) => tracing::error!(%error, "a worker process cannot be started"),
                }
            });
        }
    }

    /// A new process, behind all walls where they are required.
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

    /// Gives a place back: to those in the queue that may have one now, or to whoever waits for just this process.
    fn release_slot(self: &Arc<Self>, party: WorkloadKey, process: Option<WorkerProcess>) {
        let is_reusable = |process: &WorkerProcess| {
            !process.has_low_priority() || self.usage.is_over_share(party.workspace, Instant::now())
        };
        let process = process.filter(is_reusable);
        let mut state = self.state();
        state.limiter(party.kind).release(party.workspace);
        let lives = process.is_some();
        let idle = |process| IdleWorker { workspace: party.workspace, process, idle_since: Instant::now() };
        state.idle.extend(process.map(idle));
        let (mut granted, mut releasing) = (Vec::new(), Some(party.workspace));
        while let Some((next, turn)) = state.limiter(party.kind).next_waiter(releasing) {
            if !turn.is_closed() {
                granted.push((
                    turn,
                    self.grant_lease(&mut state, WorkloadKey { workspace: next, kind: party.kind }),
                ));
                releasing = None;
            }
        }
        if lives && granted.is_empty() && state.limiter(party.kind).can_acquire(party.workspace) {
            let turn = state.handover.pop_waiter(party);
            granted.extend(turn.map(|turn| (turn, self.grant_lease(&mut state, party))));
        }
        let surplus = self.remove_surplus_idle(&mut state);
        drop(state);
        for (turn, lease) in granted {
            // Should that caller go away at this very moment, the lease comes back here as it is dropped.
            let _ = turn.send(lease);
        }
        drop(surplus);
    }
}

impl State {
    fn limiter(&mut self, kind: WorkloadKind) -> &mut ConcurrencyLimiter<oneshot::Sender<WorkerLease>> {
        &mut self.limiters[kind as usize]
    }
}

fn concurrency_limit(config: &RuntimeConfig, kind: WorkloadKind) -> usize {
    let places = config.concurrency;
    match kind {
        WorkloadKind::Run => places.runs,
        WorkloadKind::HttpRequest => places.requests,
        WorkloadKind::Check => places.checks,
    }
}

impl WorkerLease {
    /// What counts the code of this lease among the work that may end soon.
    pub(crate) fn take_busy_guard(&mut self) -> Option<BusyGuard> {
        self.busy.take()
    }

    /// Has processes to come be of another make: the code of this lease broke its own, and may know more than it
    /// should.
    pub(crate) fn recycle_workers(&self) {
        let mut state = self.pool.state();
        state.generation += 1;
        let blank = std::mem::take(&mut state.prewarmed);
        self.pool.spawner.recycle();
        drop(state);
        drop(blank);
        self.pool.replenish();
    }

    /// Keeps the process for the next invocation of the workspace.
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

/// Ends processes that have been idle for long.
async fn evict_idle(pool: Weak<Pool>, idle: std::time::Duration) {
    let mut tick = interval((idle / 4).max(std::time::Duration::from_millis(50)));
    loop {
        tick.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        let mut state = pool.state();
        let long: Vec<IdleWorker> =
            state.idle.extract_if(.., |entry| entry.idle_since.elapsed() >= idle).collect();
        drop(state);
        drop(long);
    }
}

fn log_confinement(process: &WorkerProcess) {
    let missing = process.confinement.missing_layers();
    if missing.is_empty() {
        tracing::debug!("app code runs behind all walls of the sandbox");
    } else {
        let missing = missing.join(", ");
        tracing::warn!(missing, "app code runs behind fewer walls than it could");
    }
}

fn overloaded(message: &str) -> Failure {
    Failure { code: FailureCode::Overloaded, message: message.to_owned(), host_code: None }
}
