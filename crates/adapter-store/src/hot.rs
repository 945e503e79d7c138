//! The hot path: many requests share one transaction (group commit).
//!
//! Each lane takes what has queued up, up to [`MAX_BATCH`] operations, writes it in one transaction and answers after
//! the commit. While it commits, the next batch queues up: under load the batches grow and the cost of a commit is
//! shared, at rest nobody waits. SQLite has one writer, so one lane, on a thread with a connection of its own;
//! PostgreSQL has several, and a workspace always uses the same one, so that lanes do not wait for each other's rows.

mod accept;
mod audit;
mod begin;
mod checkpoint;
mod claim;
mod dead;
mod desk;
mod events;
mod failing;
mod finish;
mod own;
mod pooled;
mod promises;
mod queue;
pub(crate) mod quota;
mod refusal;
mod signatures;
mod told;

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    path::Path,
    sync::Arc,
    thread,
    time::Duration,
};

use kernel::{
    StoreError,
    id::{NodeId, WorkspaceId},
};
use runs::{
    queue::{ClaimedRun, FinishedRun},
    webhooks::{Acceptance, RefusedDelivery, Verdict},
};
use sea_orm::DatabaseConnection;
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc, oneshot},
};

use self::{
    accept::Accepted,
    claim::Claim,
    finish::Finished,
    own::OwnLane,
    pooled::PooledLane,
    promises::{Disk, Promise},
    signatures::Signatures,
};
use crate::{events::Bells, sql::Db, store::Turns};

/// How many operations share one transaction at most.
const MAX_BATCH: usize = 128;
/// How long a lane that sleeps for company does so at a time: less than a timer of the runtime can.
const NAP: Duration = Duration::from_micros(60);
/// How many operations may wait in a lane before senders do.
const LANE_DEPTH: usize = 1024;
/// Lanes of one process on PostgreSQL.
pub(crate) const POSTGRES_LANES: usize = 4;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// One operation of the hot path, and where its answer goes.
pub(crate) enum Op {
    Accept(Acceptance, Reply<Verdict>),
    Refuse(RefusedDelivery, Reply<()>),
    Finish(NodeId, Box<FinishedRun>, Reply<bool>),
    Claim(Claim, Reply<Vec<ClaimedRun>>),
}

impl Op {
    fn fail(self, error: StoreError) {
        // Whoever asked may have gone away meanwhile.
        match self {
            Self::Accept(_, reply) => drop(reply.send(Err(error))),
            Self::Refuse(_, reply) => drop(reply.send(Err(error))),
            Self::Finish(_, _, reply) => drop(reply.send(Err(error))),
            Self::Claim(_, reply) => drop(reply.send(Err(error))),
        }
    }
}

/// The lanes.
pub(crate) struct Hot {
    lanes: Vec<mpsc::Sender<Op>>,
    /// Whose word it is that the disk keeps what is written, where that is not the database's.
    disk: Disk,
}

impl Hot {
    /// One lane on a thread, for SQLite.
    pub(crate) fn on_sqlite(
        path: &Path,
        turns: Turns,
        work: Arc<Notify>,
        bells: Arc<Bells>,
    ) -> Result<Self, StoreError> {
        let lane = OwnLane::open(path, turns)?;
        let disk = lane.disk();
        let (sender, receiver) = mpsc::channel(LANE_DEPTH);
        let runtime = Handle::current();
        thread::Builder::new()
            .name("hot-path".to_owned())
            .spawn(move || runtime.block_on(run_lane(lane, work, bells, receiver)))
            .map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok(Self { lanes: vec![sender], disk })
    }

    /// Lanes as tasks over the pool's connections.
    pub(crate) fn on_pool(
        db: &DatabaseConnection,
        lanes: usize,
        work: &Arc<Notify>,
        bells: &Arc<Bells>,
    ) -> Self {
        let start_lane = |_| {
            let (sender, receiver) = mpsc::channel(LANE_DEPTH);
            let lane = PooledLane(db.clone());
            tokio::spawn(run_lane(lane, Arc::clone(work), Arc::clone(bells), receiver));
            sender
        };
        Self { lanes: (0..lanes).map(start_lane).collect(), disk: Disk::default() }
    }

    /// An error once nothing can be promised any more.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.disk.check()
    }

    /// Hands an operation to its workspace's lane and waits for the answer.
    async fn submit<T>(
        &self,
        workspace: WorkspaceId,
        op: impl FnOnce(Reply<T>) -> Op,
    ) -> Result<T, StoreError> {
        self.submit_by(workspace, op).await
    }

    /// Hands an operation to the lane that `key` always uses and waits for the answer.
    async fn submit_by<T>(&self, key: impl Hash, op: impl FnOnce(Reply<T>) -> Op) -> Result<T, StoreError> {
        let stopped = || StoreError::Unavailable("the store is stopping".into());
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let lane = (hasher.finish() % self.lanes.len() as u64) as usize;
        let (reply, answer) = oneshot::channel();
        self.lanes[lane].send(op(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

/// Where the batches of a lane are written.
trait Lane {
    /// How many naps it takes for company. None, unless it has its thread for itself.
    const NAPS: u32;

    /// Does all of a batch in one transaction, or nothing of it.
    async fn write(&mut self, batch: &Batch<'_>) -> Result<Written, StoreError>;

    /// Keeps `promise` once everything that was written until now survives a loss of power.
    fn once_durable(&self, promise: Promise);
}

async fn run_lane<L: Lane>(mut lane: L, work: Arc<Notify>, bells: Arc<Bells>, mut ops: mpsc::Receiver<Op>) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    let mut usual = 1;
    while ops.recv_many(&mut batch, MAX_BATCH).await > 0 {
        gather::<L>(&mut ops, &mut batch, usual);
        usual = batch.len();
        let error = match lane.write(&Batch::of(&batch)).await {
            Ok(written) => {
                answer(&lane, batch.drain(..), written, (&work, &bells));
                continue;
            }
            Err(error) => error,
        };
        if let [_] = batch[..] {
            batch.drain(..).for_each(|op| op.fail(clone_of(&error)));
            continue;
        }
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            operations = batch.len(),
            "a batch failed; its operations are tried one by one"
        );
        let mut away = None;
        for op in batch.drain(..) {
            // The others would each wait as long for a database that cannot be written to.
            if let Some(error) = &away {
                op.fail(clone_of(error));
                continue;
            }
            match lane.write(&Batch::of(std::slice::from_ref(&op))).await {
                Ok(written) => {
                    answer(&lane, [op], written, (&work, &bells));
                }
                Err(error) => {
                    op.fail(clone_of(&error));
                    away = Some(error).filter(|error| matches!(error, StoreError::Unavailable(_)));
                }
            }
        }
    }
}

/// Waits a moment for as many operations as came the last time. Callers who were just answered ask again at once, and
/// would otherwise each pay for a commit; a caller who is alone waits for nobody.
#[expect(clippy::disallowed_methods, reason = "what it waits for is that nobody comes any more")]
fn gather<L: Lane>(ops: &mut mpsc::Receiver<Op>, batch: &mut Vec<Op>, usual: usize) {
    for _ in 0..L::NAPS {
        if batch.len() >= usual {
            return;
        }
        thread::sleep(NAP);
        while batch.len() < MAX_BATCH
            && let Ok(op) = ops.try_recv()
        {
            batch.push(op);
        }
    }
}

/// An error for each of those who wait: the cause of the first is in the log.
fn clone_of(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(cause.to_string().into()),
        other => StoreError::Failed(other.to_string().into()),
    }
}

/// The operations of a batch, by kind.
#[derive(Default)]
struct Batch<'o> {
    accept: Vec<&'o Acceptance>,
    refuse: Vec<&'o RefusedDelivery>,
    finish: Vec<(NodeId, &'o FinishedRun)>,
    claim: Vec<&'o Claim>,
}

/// What became of the operations of a batch, by kind and in order.
#[derive(Default)]
struct Written {
    verdicts: Vec<Verdict>,
    /// How many of the accepted were claimed at once.
    begun: usize,
    held: Vec<bool>,
    freed_places: bool,
    claimed: Vec<Vec<ClaimedRun>>,
    /// The workspaces whose followers are told.
    told: Vec<WorkspaceId>,
}

impl<'o> Batch<'o> {
    fn of(ops: &'o [Op]) -> Self {
        let mut batch = Self::default();
        for op in ops {
            match op {
                Op::Accept(acceptance, _) => batch.accept.push(acceptance),
                Op::Refuse(refused, _) => batch.refuse.push(refused),
                Op::Finish(node, finished, _) => batch.finish.push((*node, finished)),
                Op::Claim(claim, _) => batch.claim.push(claim),
            }
        }
        batch
    }

    /// What can be answered without a transaction: that there is nothing to claim.
    async fn idle<D: Db>(&self, db: &D) -> Result<Option<Written>, StoreError> {
        if !(self.accept.is_empty() && self.refuse.is_empty() && self.finish.is_empty()) {
            return Ok(None);
        }
        for claim in &self.claim {
            if claim::has_ready_work(db, claim).await? {
                return Ok(None);
            }
        }
        let claimed = self.claim.iter().map(|_| Vec::new()).collect();
        Ok(Some(Written { claimed, ..Written::default() }))
    }

    /// The claim that may take what is accepted now: the first, unless anything has waited for longer.
    async fn claim_of_new<D: Db>(&self, tx: &D) -> Result<Option<&'o Claim>, StoreError> {
        match self.claim.first() {
            Some(claim) if !self.accept.is_empty() && !claim::has_ready_work(tx, claim).await? => {
                Ok(Some(claim))
            }
            _ => Ok(None),
        }
    }

    /// Claims come late: what the batch accepts and what it makes room for can be claimed at once. Events come last.
    async fn perform<D: Db>(&self, tx: &D, signatures: Option<&Signatures>) -> Result<Written, StoreError> {
        let finished = finish::finish(tx, &self.finish).await?;
        let Accepted { verdicts, begun } =
            accept::accept(tx, &self.accept, self.claim_of_new(tx).await?, signatures).await?;
        refusal::insert(tx, &self.refuse).await?;
        let of_accepted =
            self.accept.iter().zip(&verdicts).filter(|(_, verdict)| **verdict == Verdict::Accepted);
        let tests = of_accepted.filter_map(|(call, _)| call.audit.as_ref());
        audit::insert(tx, tests.chain(self.refuse.iter().filter_map(|refused| refused.audit.as_ref())))
            .await?;
        let mut claimed = Vec::with_capacity(self.claim.len());
        let of_new = begun.len();
        claimed.extend(Some(begun).filter(|begun| !begun.is_empty()));
        for claim in &self.claim[claimed.len()..] {
            claimed.push(claim::claim(tx, claim).await?);
        }
        let begun = if of_new > 0 { claimed.first().map_or(&[][..], Vec::as_slice) } else { &[] };
        let told = told::tell(tx, self, &finished, &verdicts, (begun, &claimed)).await?;
        let Finished { held, freed_places, .. } = finished;
        Ok(Written { verdicts, begun: of_new, held, freed_places, claimed, told })
    }
}

/// Answers those who asked: at once what this process goes on with, and once it is durable what is promised to others.
/// What goes on may so be ahead of the disk for a moment; should the power fail in it, it is done again.
fn answer(
    lane: &impl Lane,
    ops: impl IntoIterator<Item = Op>,
    written: Written,
    (work, bells): (&Notify, &Arc<Bells>),
) {
    let accepted = written.verdicts.iter().filter(|verdict| **verdict == Verdict::Accepted).count();
    if written.freed_places || accepted > written.begun {
        work.notify_one();
    }
    let (mut verdicts, mut held) = (written.verdicts.into_iter(), written.held.into_iter());
    let mut claimed = written.claimed.into_iter();
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for op in ops {
        match op {
            Op::Accept(_, reply) => accepted.push((reply, verdicts.next().unwrap_or(Verdict::Stale))),
            Op::Refuse(_, reply) => refused.push(reply),
            Op::Finish(_, _, reply) => drop(reply.send(Ok(held.next().unwrap_or(false)))),
            Op::Claim(_, reply) => drop(reply.send(Ok(claimed.next().unwrap_or_default()))),
        }
    }
    let (told, bells) = (written.told, Arc::clone(bells));
    if told.is_empty() && accepted.is_empty() && refused.is_empty() {
        return;
    }
    lane.once_durable(Box::new(move |durable| {
        bells.ring(&told);
        let durable = || durable.as_ref().map_err(clone_of);
        for (reply, verdict) in accepted {
            drop(reply.send(durable().map(|()| verdict)));
        }
        for reply in refused {
            drop(reply.send(durable().map(|&()| ())));
        }
    }));
}
