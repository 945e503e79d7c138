//! Which process serves whom. A process belongs to one workspace from its first invocation to its end.

mod queue;
mod streams;

use std::{
    collections::HashMap,
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

use crate::{
    config::RuntimeConfig,
    process::{Process, Spawner},
};
use queue::Queue;
use streams::Streams;

pub(crate) use streams::StreamPlace;

/// The processes of one engine.
pub(crate) struct Pool {
    config: RuntimeConfig,
    spawner: Spawner,
    streams: Arc<Streams>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Processes that have seen no workspace.
    blank: Vec<Process>,
    /// Blank processes on their way.
    starting: usize,
    /// Idle processes, the longest idle first.
    idle: Vec<Idle>,
    /// Places taken, by workspace: busy, idle and starting processes.
    held: HashMap<WorkspaceId, usize>,
    queue: Queue<oneshot::Sender<Lease>>,
    told: bool,
}

struct Idle {
    workspace: WorkspaceId,
    process: Process,
    since: Instant,
}

/// The right to run one process for a workspace. Dropped without [`Lease::release`] it gives the place up, and the
/// process in it is killed.
pub(crate) struct Lease {
    pool: Arc<Pool>,
    workspace: WorkspaceId,
    process: Option<Process>,
}

impl Pool {
    /// Must be called inside a tokio runtime.
    pub(crate) fn start(config: RuntimeConfig) -> io::Result<Arc<Self>> {
        let spawner = Spawner::start(&config)?;
        let streams = Arc::new(Streams::among(config.max_processes));
        let pool = Arc::new(Self { config, spawner, streams, state: Mutex::default() });
        pool.replenish();
        let reaped = Arc::downgrade(&pool);
        Handle::try_current().map_err(io::Error::other)?.spawn(reap(reaped, pool.config.idle));
        Ok(pool)
    }

    pub(crate) fn config(&self) -> &RuntimeConfig {
        &self.config
    }

    /// A place for an answer that comes in pieces.
    pub(crate) fn stream(&self, workspace: WorkspaceId) -> Result<StreamPlace, Failure> {
        self.streams.take(workspace).ok_or_else(|| overloaded("too many answers are being streamed at once"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process of an idle or new place for `workspace`; waits in turn when there is none.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        workspace: WorkspaceId,
    ) -> Result<(Lease, Process), Failure> {
        let mut lease = match self.place(workspace)? {
            Ok(lease) => lease,
            Err(turn) => match timeout(self.config.queue_wait, turn).await {
                Ok(Ok(lease)) => lease,
                _ => return Err(overloaded("no worker process became free in time")),
            },
        };
        if let Some(mut process) = lease.process.take()
            && process.is_alive()
        {
            return Ok((lease, process));
        }
        let blank = self.take_blank();
        self.replenish();
        if let Some(process) = blank {
            return Ok((lease, process));
        }
        match self.spawner.spawn().await {
            Ok(process) => {
                self.tell(&process);
                Ok((lease, process))
            }
            Err(error) => {
                tracing::error!(%error, "a worker process cannot be started");
                Err(overloaded("a worker process cannot be started"))
            }
        }
    }

    /// A place at once, or a turn in the queue.
    fn place(
        self: &Arc<Self>,
        workspace: WorkspaceId,
    ) -> Result<Result<Lease, oneshot::Receiver<Lease>>, Failure> {
        let lease = |process| Ok(Ok(Lease { pool: Arc::clone(self), workspace, process }));
        let mut state = self.state();
        if let Some(at) = state.idle.iter().rposition(|idle| idle.workspace == workspace) {
            let process = state.idle.remove(at).process;
            return lease(Some(process));
        }
        let room = state.held.values().sum::<usize>() < self.config.max_processes;
        if room || !state.idle.is_empty() {
            // The longest idle one belongs to another workspace; it is killed as it is dropped.
            let evicted = if room { None } else { Some(state.idle.remove(0)) };
            if let Some(evicted) = &evicted {
                state.give_up(evicted.workspace);
            }
            *state.held.entry(workspace).or_default() += 1;
            drop(state);
            return lease(None);
        }
        let (turn, waiting) = oneshot::channel();
        let queued = state.queue.push(workspace, turn, self.config.queue, self.config.queue_per_workspace);
        if queued { Ok(Err(waiting)) } else { Err(overloaded("too many runs wait for a worker process")) }
    }

    fn take_blank(&self) -> Option<Process> {
        let mut state = self.state();
        while let Some(mut process) = state.blank.pop() {
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
            if state.blank.len() + state.starting >= self.config.blank {
                return;
            }
            state.starting += 1;
            drop(state);
            let pool = Arc::downgrade(self);
            let Ok(runtime) = Handle::try_current() else { return };
            let Some(strong) = pool.upgrade() else { return };
            runtime.spawn(async move {
                let process = strong.spawner.spawn().await;
                let mut state = strong.state();
                state.starting -= 1;
                match process {
                    Ok(process) => {
                        state.blank.push(process);
                        let told = std::mem::replace(&mut state.told, true);
                        if let Some(process) = state.blank.last()
                            && !told
                        {
                            tell_confinement(process);
                        }
                    }
                    Err(error) => tracing::error!(%error, "a worker process cannot be started"),
                }
            });
        }
    }

    fn tell(&self, process: &Process) {
        if !std::mem::replace(&mut self.state().told, true) {
            tell_confinement(process);
        }
    }

    /// Gives a place back: to the next in the queue, to the idle, or up.
    fn put_back(self: &Arc<Self>, workspace: WorkspaceId, mut process: Option<Process>) {
        let mut state = self.state();
        let State { queue, held, .. } = &mut *state;
        let held_by = |workspace| held.get(&workspace).copied().unwrap_or_default();
        let next = loop {
            match queue.pop(workspace, held_by) {
                Some((_, turn)) if turn.is_closed() => {}
                other => break other,
            }
        };
        let Some((next, turn)) = next else {
            match process {
                Some(process) => state.idle.push(Idle { workspace, process, since: Instant::now() }),
                None => state.give_up(workspace),
            }
            return;
        };
        if next != workspace {
            state.give_up(workspace);
            *state.held.entry(next).or_default() += 1;
        }
        let goes_on = if next == workspace { process.take() } else { None };
        drop(state);
        // Should that caller go away at this very moment, the lease comes back here as it is dropped.
        let _ = turn.send(Lease { pool: Arc::clone(self), workspace: next, process: goes_on });
    }
}

impl State {
    fn give_up(&mut self, workspace: WorkspaceId) {
        if let Some(count) = self.held.get_mut(&workspace) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.held.remove(&workspace);
            }
        }
    }
}

impl Lease {
    /// Keeps the process for the next invocation of the workspace.
    pub(crate) fn release(mut self, process: Process) {
        self.process = Some(process);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.put_back(self.workspace, self.process.take());
    }
}

/// Ends processes that have been idle for long.
async fn reap(pool: Weak<Pool>, idle: std::time::Duration) {
    let mut tick = interval((idle / 4).max(std::time::Duration::from_millis(50)));
    loop {
        tick.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        let mut state = pool.state();
        let long: Vec<Idle> = state.idle.extract_if(.., |entry| entry.since.elapsed() >= idle).collect();
        for entry in &long {
            state.give_up(entry.workspace);
        }
        drop(state);
    }
}

fn tell_confinement(process: &Process) {
    let held = process.confinement;
    if held.seccomp && held.no_new_privs && held.rlimits && held.dies_with_parent {
        tracing::info!(?held, "app code runs confined");
    } else {
        tracing::warn!(?held, "app code runs less confined than it could");
    }
}

fn overloaded(message: &str) -> Failure {
    Failure { code: FailureCode::Overloaded, message: message.to_owned(), host_code: None }
}
