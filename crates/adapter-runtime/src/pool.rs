//! Which process serves whom. A process belongs to one workspace from its first invocation to its end.

mod handover;
mod places;
mod queue;
mod streams;
mod usage;

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

use crate::{config::RuntimeConfig, process::Process, spawner::Spawner};
use handover::{Handover, SOON, Work};
use places::{Party, Places};
use streams::Streams;

pub(crate) use places::Kind;
pub(crate) use streams::StreamPlace;
pub(crate) use usage::Usage;

/// The processes of one engine.
pub(crate) struct Pool {
    config: RuntimeConfig,
    spawner: Spawner,
    streams: Arc<Streams>,
    usage: Arc<Usage>,
    state: Mutex<State>,
}

struct State {
    /// Processes that have seen no workspace.
    blank: Vec<Process>,
    /// Blank processes on their way.
    starting: usize,
    /// How often processes to come were to be of another make. A blank one of an earlier make serves nobody.
    make: u64,
    /// Idle processes, the longest idle first.
    idle: Vec<Idle>,
    /// By [`Kind`].
    places: [Places<oneshot::Sender<Lease>>; Kind::ALL.len()],
    handover: Handover<Lease>,
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
    party: Party,
    at_work: Option<AtWork>,
    process: Option<Process>,
}

/// That code is at work whose process may be free soon; to be dropped when it waits for the outside.
pub(crate) struct AtWork {
    pool: Arc<Pool>,
    work: Work,
}

impl Pool {
    /// Must be called inside a tokio runtime.
    pub(crate) fn start(config: RuntimeConfig, spawner: Spawner) -> io::Result<Arc<Self>> {
        let streams = Arc::new(Streams::among(config.places.answers));
        let state = State {
            blank: Vec::new(),
            starting: 0,
            make: 0,
            idle: Vec::new(),
            places: Kind::ALL.map(|kind| Places::new(of_kind(&config, kind))),
            handover: Handover::new(config.at_once),
            told: false,
        };
        let usage = Arc::new(Usage::new(Instant::now()));
        let pool = Arc::new(Self { config, spawner, streams, usage, state: Mutex::new(state) });
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

    /// The process of a place for `kind` of work of `workspace`; waits in turn when none is free that it may have. Where
    /// the workspace is over its share of processor time, the process gives way to all others.
    pub(crate) async fn acquire(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        kind: Kind,
    ) -> Result<(Lease, Process), Failure> {
        let (lease, mut process) = self.acquire_any(Party { workspace, kind }).await?;
        process.bind(&self.usage, workspace);
        process.keep_to_share();
        Ok((lease, process))
    }

    async fn acquire_any(self: &Arc<Self>, party: Party) -> Result<(Lease, Process), Failure> {
        if let Some(mut lease) = self.handed_over(party).await
            && let Some(process) = lease.process.take()
        {
            // It has just answered, so it lives.
            return Ok((lease, process));
        }
        let mut lease = match self.place(party)? {
            Ok(lease) => lease,
            Err(turn) => match timeout(self.config.queue_wait, turn).await {
                Ok(Ok(lease)) => lease,
                _ => return Err(overloaded("no worker process became free in time")),
            },
        };
        if let Some(process) = lease.process.take()
            && process.is_alive()
        {
            return Ok((lease, process));
        }
        let blank = self.take_blank();
        self.replenish();
        if let Some(process) = blank {
            return Ok((lease, process));
        }
        match self.spawn().await {
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

    /// The place of a process that became free soon, if that was to be expected.
    async fn handed_over(self: &Arc<Self>, party: Party) -> Option<Lease> {
        let turn = {
            let mut state = self.state();
            // Where others wait for a place, this caller waits in turn too.
            if state.places(party.kind).is_waited_for() {
                return None;
            }
            state.handover.wait(party, Instant::now())?
        };
        let lease = timeout(SOON, turn).await;
        if lease.is_err() {
            self.state().handover.tidy(party);
        }
        lease.ok()?.ok()
    }

    /// A place at once, or a turn in the queue.
    fn place(self: &Arc<Self>, party: Party) -> Result<Result<Lease, oneshot::Receiver<Lease>>, Failure> {
        let mut state = self.state();
        if state.places(party.kind).may_take(party.workspace) {
            let lease = self.grant(&mut state, party);
            let evicted = self.surplus(&mut state);
            drop(state);
            drop(evicted);
            return Ok(Ok(lease));
        }
        let (turn, waiting) = oneshot::channel();
        let bounds = (self.config.queue, self.config.queue_per_workspace);
        let queued = state.places(party.kind).wait(party.workspace, turn, bounds, oneshot::Sender::is_closed);
        if queued { Ok(Err(waiting)) } else { Err(overloaded("too much code waits for a worker process")) }
    }

    /// A place, with an idle process of the workspace if there is one.
    fn grant(self: &Arc<Self>, state: &mut State, party: Party) -> Lease {
        let now = Instant::now();
        state.places(party.kind).take(party.workspace);
        let with_low_priority = |low| {
            let mine = |idle: &Idle| idle.workspace == party.workspace;
            state.idle.iter().rposition(|idle| mine(idle) && idle.process.has_low_priority() == low)
        };
        let over_share = self.usage.is_over_share(party.workspace, now);
        let low = if over_share { with_low_priority(true) } else { None };
        let at = low.or_else(|| with_low_priority(false));
        let process = at.map(|at| state.idle.remove(at).process);
        let work = state.handover.begin(party, now);
        let at_work = Some(AtWork { pool: Arc::clone(self), work });
        Lease { pool: Arc::clone(self), party, at_work, process }
    }

    /// The idle processes that are too many beside those at work, the longest idle first. To be dropped, which kills
    /// them, outside of the lock.
    fn surplus(&self, state: &mut State) -> Vec<Idle> {
        let taken: usize = state.places.iter().map(Places::taken).sum();
        let max: usize = Kind::ALL.iter().map(|kind| of_kind(&self.config, *kind)).sum();
        let over = (taken + state.idle.len()).saturating_sub(max);
        state.idle.drain(..over.min(state.idle.len())).collect()
    }

    fn take_blank(&self) -> Option<Process> {
        let mut state = self.state();
        while let Some(process) = state.blank.pop() {
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
            let make = state.make;
            drop(state);
            let pool = Arc::downgrade(self);
            let Ok(runtime) = Handle::try_current() else { return };
            let Some(strong) = pool.upgrade() else { return };
            runtime.spawn(async move {
                let process = strong.spawn().await;
                let mut state = strong.state();
                state.starting -= 1;
                match process {
                    Ok(process) if state.make != make => {
                        drop(state);
                        drop(process);
                        strong.replenish();
                    }
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

    /// A new process, behind all walls where they are required.
    pub(crate) async fn spawn(&self) -> io::Result<Process> {
        let process = self.spawner.spawn().await?;
        let missing = process.confinement.missing();
        if self.config.require_walls && !missing.is_empty() {
            return Err(io::Error::other(format!(
                "a wall of the sandbox is missing: {}",
                missing.join(", ")
            )));
        }
        Ok(process)
    }

    fn tell(&self, process: &Process) {
        if !std::mem::replace(&mut self.state().told, true) {
            tell_confinement(process);
        }
    }

    /// Gives a place back: to those in the queue that may have one now, or to whoever waits for just this process.
    fn put_back(self: &Arc<Self>, party: Party, process: Option<Process>) {
        let of_use = |process: &Process| {
            !process.has_low_priority() || self.usage.is_over_share(party.workspace, Instant::now())
        };
        let process = process.filter(of_use);
        let mut state = self.state();
        state.places(party.kind).give_back(party.workspace);
        let lives = process.is_some();
        let idle = |process| Idle { workspace: party.workspace, process, since: Instant::now() };
        state.idle.extend(process.map(idle));
        let (mut granted, mut releasing) = (Vec::new(), Some(party.workspace));
        while let Some((next, turn)) = state.places(party.kind).next(releasing) {
            if !turn.is_closed() {
                granted.push((turn, self.grant(&mut state, Party { workspace: next, kind: party.kind })));
                releasing = None;
            }
        }
        if lives && granted.is_empty() && state.places(party.kind).may_take(party.workspace) {
            let turn = state.handover.next(party);
            granted.extend(turn.map(|turn| (turn, self.grant(&mut state, party))));
        }
        let surplus = self.surplus(&mut state);
        drop(state);
        for (turn, lease) in granted {
            // Should that caller go away at this very moment, the lease comes back here as it is dropped.
            let _ = turn.send(lease);
        }
        drop(surplus);
    }
}

impl State {
    fn places(&mut self, kind: Kind) -> &mut Places<oneshot::Sender<Lease>> {
        &mut self.places[kind as usize]
    }
}

fn of_kind(config: &RuntimeConfig, kind: Kind) -> usize {
    let places = config.places;
    match kind {
        Kind::Run => places.runs,
        Kind::Answer => places.answers,
        Kind::Check => places.checks,
    }
}

impl Lease {
    /// What counts the code of this lease among the work that may end soon.
    pub(crate) fn at_work(&mut self) -> Option<AtWork> {
        self.at_work.take()
    }

    /// Has processes to come be of another make: the code of this lease broke its own, and may know more than it
    /// should.
    pub(crate) fn renew(&self) {
        let mut state = self.pool.state();
        state.make += 1;
        let blank = std::mem::take(&mut state.blank);
        self.pool.spawner.renew();
        drop(state);
        drop(blank);
        self.pool.replenish();
    }

    /// Keeps the process for the next invocation of the workspace.
    pub(crate) fn release(mut self, process: Process) {
        self.process = Some(process);
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.pool.state().handover.end(self.work);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.at_work.take());
        self.pool.put_back(self.party, self.process.take());
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
        drop(state);
        drop(long);
    }
}

fn tell_confinement(process: &Process) {
    let missing = process.confinement.missing();
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
